"""Identity of datasets and columns: several names of one dataset, found by shared aliases and by renames.

A dataset's key is a hash of its namespace and name. So a topic that two jobs reach by different brokers is two nodes,
and so is a table before and after its RENAME. The graph shows which nodes are one dataset:

- Datasets that are KNOWN_AS the same Alias, or whose Alias is another dataset's name, are one. A catalog's name of a
  table (TABLE, VIEW) is the name of one dataset at a time: it joins the only existing dataset with this name and the
  dataset that has it as its own name.
- RENAMED_TO from a dataset that is gone since joins both datasets. If another dataset got the old name later, the two
  stay separate; but facts observed under the old name until the RENAME count for the new name, too.

A column has the names of its dataset and its own names (`column_names`): it was renamed, or a dropped column had the
name before. Columns that differ only by case are one, as engines spell the same column differently: Spark `MyColumn`,
Trino and Hive `mycolumn`, Snowflake `MYCOLUMN`. If a schema of the dataset has two such columns, they are different
columns.

A class, the nodes of one dataset, isn't stored, so two consumers can't build different classes. Each class shows one
dataset: an existing one before a dropped one, then a cluster's declared name before brokers, then the latest name after
renames, then the least name. A column is shown in the spelling of the latest schema.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from headwater_analysis.assets import Asset, column_asset, dataset_asset
from headwater_analysis.column_names import ColumnNameChange, ColumnNames, column_names
from headwater_analysis.hidden import SeenDatasets
from headwater_analysis.moments import moment
from headwater_analysis.reader import Transaction
from headwater_graph.keys import dataset_key
from headwater_schemas.naming import is_declared_cluster, spelling

_CATALOGS = frozenset({"TABLE", "VIEW"})
MOST_NAMES = 1_000
"""Maximum number of datasets in a class, and of datasets with one name, to read."""


class NodeSpan(NamedTuple):
    """Span of time in which facts of a node count for a shown node.

    Attributes:
        node: id of the node that is shown.
        since, until: bounds of the observations that count for the shown node; None: no bound.
    """

    node: int
    since: datetime | None = None
    until: datetime | None = None

    def takes(self, first: datetime | None, last: datetime | None) -> bool:
        """Return whether an observation from `first` to `last` counts; an observation without times does."""
        begins_late = self.until is not None and first is not None and first > self.until
        ended_early = self.since is not None and last is not None and last <= self.since
        return not (begins_late or ended_early)


@dataclass(frozen=True, slots=True)
class DatasetNode:
    """Names and state of a dataset, for choosing the shown one."""

    id: int
    asset: Asset
    dropped: bool


@dataclass(frozen=True, slots=True)
class _Rename:
    before: str
    after: str
    at: datetime


class _Columns(NamedTuple):
    """Columns of a dataset (id and path), and whether a schema of it has two columns that differ only by case."""

    columns: Sequence[tuple[int, str]]
    by_case: bool


def _spellings(columns: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    """Nodes of columns that differ only by case, by path in lower case; columns with one spelling are left out."""
    found: dict[str, list[int]] = defaultdict(list)
    for node, name in columns:
        found[name.lower()].append(node)
    return {path: nodes for path, nodes in found.items() if len(nodes) > 1}


@dataclass(slots=True)
class _Facts:
    """Facts about datasets, and about all datasets that may be identical to them.

    Attributes:
        dropped_at: time of the DROP, by key of a dropped dataset.
        claims: for the key of an alias: key of each dataset that is KNOWN_AS the alias, with the type of the symlink.
        owns: by key of an alias: key of the dataset whose own name equals the alias.
        spelled: spelling of an alias, by its key.
        renames: renames of datasets.
    """

    datasets: dict[str, DatasetNode] = field(default_factory=dict)
    dropped_at: dict[str, datetime] = field(default_factory=dict)
    claims: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    owns: dict[str, str] = field(default_factory=dict)
    spelled: dict[str, str] = field(default_factory=dict)
    renames: set[_Rename] = field(default_factory=set)


@dataclass(slots=True)
class _ColumnFacts:
    """Changes of a dataset's columns, all paths that the columns ever had, and their current paths."""

    changes: list[ColumnNameChange] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)
    current: set[str] = field(default_factory=set)


_NO_NAMES = ColumnNames()


class Identities:
    """Identity classes of datasets and columns in one question; without aliases and renames every class has one member.

    Attributes:
        as_of: time for the names of columns; None: now. Set it before anything is looked up.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self.as_of: datetime | None = None
        self._looked_at: set[int] = set()
        self._asked: set[str] = set()
        self._facts = _Facts()
        self._shown: dict[str, str] = {}
        self._members: dict[str, list[tuple[str, datetime | None, datetime | None]]] = {}
        # Only nodes with another shown node, or with a shown node for only a span of time.
        self._node_spans: dict[int, tuple[NodeSpan, ...]] = {}
        self._nodes: dict[int, list[int]] = {}
        self._changes: dict[str, _ColumnFacts | None] = {}
        self._column_names: dict[tuple[str, ...], ColumnNames] = {}

    @staticmethod
    def of(tx: Transaction) -> Identities:
        """Return the transaction's classes, which all parts of a question share."""
        return tx.common(Identities)

    @property
    def seen(self) -> SeenDatasets:
        """Datasets that the asker may see."""
        return SeenDatasets.of(self._tx)

    @property
    def any(self) -> bool:
        """True if any looked-up node may be identical to another."""
        return self._tx.several_names or bool(self._node_spans)

    # By key.

    def look_at(self, keys: Iterable[str]) -> None:
        """Look up several datasets at once."""
        self._find(keys)

    def shown(self, key: str) -> str:
        """Key of the dataset that answers show for this dataset."""
        self._find([key])
        return self._shown.get(key, key)

    def members(self, key: str) -> list[str]:
        """Keys of all datasets in the class of this dataset, itself included; the shown dataset is first."""
        return [member for member, since, until in self._of(key) if since is None and until is None] or [key]

    def spans(self, key: str) -> list[tuple[str, datetime | None, datetime | None]]:
        """Keys of `members`, and of datasets that count only for a span of time; each with its span."""
        return self._of(key) or [(key, None, None)]

    def named(self, key: str) -> DatasetNode | None:
        """Names and state of the dataset with this key; None if it has only this name."""
        return self._facts.datasets.get(key)

    def is_dropped(self, key: str) -> bool:
        """Return whether the dataset with this key was dropped, and not written since."""
        if key not in self._facts.datasets:
            self._look_up([key])
            self._sort()
        named = self._facts.datasets.get(key)
        return named is not None and named.dropped

    def known_as(self, key: str) -> tuple[str, ...]:
        """All other names of a dataset: names of its class, and names in catalogs and clusters."""
        members = set(self.members(key))
        names = {self._facts.datasets[each].asset.spelling for each in members if each in self._facts.datasets}
        for alias, claims in self._facts.claims.items():
            if members & claims.keys():
                names.add(self._facts.spelled[alias])
        shown = self._facts.datasets.get(self.shown(key))
        return tuple(sorted(names - ({shown.asset.spelling} if shown is not None else set())))

    # By node.

    def learn(self, nodes: Iterable[int], *, datasets: bool = False) -> None:
        """Look up the classes of these datasets and columns.

        Args:
            nodes: ids of the nodes.
            datasets: whether all nodes are datasets: columns cost one more round trip.
        """
        new = [node for node in dict.fromkeys(nodes) if node not in self._looked_at]
        self._looked_at.update(new)
        if not new:
            return
        for row in () if datasets else self._tx.rows("identity/spellings", nodes=new):
            for same in _spellings(row["columns"]).values():
                self._nodes[same[0]] = same
                self._node_spans |= {node: (NodeSpan(same[0]),) for node in same[1:]}
        if self._tx.several_names:
            self._learn_of_datasets(new)

    def _learn_of_datasets(self, nodes: Sequence[int]) -> None:
        """Look up the classes of datasets with several names."""
        touched = self._tx.one("identity/touched", nodes=nodes)["touched"]
        self._find(key for _, key, _ in touched)
        columns = [(key, path) for _, key, path in touched if path is not None]
        owners = {owner for key, _ in columns for owner, *_ in self._counts(key)}
        self._look_up_changes(member for owner in owners for member in self._under(owner))
        ids = self._columns(columns)
        for node, key, path in touched:
            counts = []
            for owner, since, until in self._counts(key):
                members = self._under(owner)
                names = self._names_of(members) if path is not None else _NO_NAMES
                for shown, begun, ended in names.of(path or ""):
                    paths = [None] if path is None else names.all_of(shown)
                    same = list(dict.fromkeys(found for each in paths for found in self._same(members, each, ids)))
                    if same:
                        counts.append(NodeSpan(same[0], _latest(since, begun), _earliest(until, ended)))
                        self._nodes[same[0]] = same
            if counts and counts != [NodeSpan(node)]:
                self._node_spans[node] = tuple(counts)

    def node_spans(self, node: int) -> tuple[NodeSpan, ...]:
        """Shown nodes of a looked-up node, with their spans of time: mostly only itself."""
        return self._node_spans.get(node) or (NodeSpan(node),)

    def shown_node(self, node: int) -> int:
        """Shown node of a looked-up node."""
        return self.node_spans(node)[-1].node if node in self._node_spans else node

    def taking(self, node: int, first: datetime | None, last: datetime | None) -> list[int]:
        """Shown nodes of a node from `first` to `last`; empty for a column if another column had its name then."""
        return list(dict.fromkeys(span.node for span in self.node_spans(node) if span.takes(first, last)))

    def column_notes(self, column: Asset) -> tuple[str, ...]:
        """Sentences on a column's former names and on a dropped column of the same name; empty for any other asset."""
        if not self.any or column.column is None:
            return ()
        names = self._names_in(column)
        notes = [
            f"The column was called {path} until {_time(until)}: data written and read under that name is included."
            for path in names.all_of(column.column)[1:]
            for shown, _, until in names.of(path)
            if shown == column.column and until is not None
        ]
        if column.column in names.dropped:
            notes.append(
                f"The column was added after another column of this name was dropped, at "
                f"{_time(names.former[column.column])}: data written into the dropped column isn't included."
            )
        return tuple(notes)

    def former_notes(self, nodes: Iterable[int]) -> tuple[str, ...]:
        """Sentences on looked-up columns with a left-out edge: another column had the name then."""
        notes = []
        for row in self._tx.rows("lineage/columns", nodes=list(dict.fromkeys(nodes))):
            column = column_asset(row["dataset"], row["properties"])
            at = self._names_in(column).former.get(str(column.column))
            if at is not None:
                notes.append(
                    f"{column.spelling} was another column until {_time(at)}, which was dropped: "
                    "data written into the dropped column, or read from it, is left out."
                )
        return tuple(sorted(notes))

    def _names_in(self, column: Asset) -> ColumnNames:
        dataset = dataset_key(self._tx.tenant, column.namespace, column.name)
        return self._names_of(self._under(self.shown(dataset)))

    def expanded(self, nodes: Iterable[int]) -> list[int]:
        """Return these shown nodes with the nodes of all their names."""
        out: dict[int, None] = {}
        for node in nodes:
            out.update(dict.fromkeys(self._nodes.get(node, (node,))))
        # Edges of these nodes are read next, and assigned to the shown nodes.
        self.learn(out)
        return list(out)

    @property
    def bounded(self) -> bool:
        """True if a node that was looked up counts only for a span of time."""
        return any(span.since or span.until for spans in self._node_spans.values() for span in spans)

    def hops(
        self, asked: Iterable[int], sources: Sequence[int], targets: Sequence[int], edges: Sequence[int]
    ) -> list[tuple[int, int, int]]:
        """Translate hops between datasets to hops between the shown datasets: index of the edge, source, target."""
        self.learn([*sources, *targets], datasets=True)
        if not self._node_spans:
            return [(n, *ends) for n, ends in enumerate(zip(sources, targets, strict=True))]
        times = self._times(sources, targets, edges) if self.bounded else {}
        wanted = set(asked)
        out = []
        for n, (source, target, edge) in enumerate(zip(sources, targets, edges, strict=True)):
            span = times.get(edge, (None, None))
            for begin in self.node_spans(source):
                if begin.node in wanted and begin.takes(*span):
                    out += [(n, begin.node, end.node) for end in self.node_spans(target) if end.takes(*span)]
        return out

    def _times(
        self, sources: Sequence[int], targets: Sequence[int], edges: Sequence[int]
    ) -> Mapping[int, tuple[datetime | None, datetime | None]]:
        doubtful = [
            edge
            for source, target, edge in zip(sources, targets, edges, strict=True)
            if source in self._node_spans or target in self._node_spans
        ]
        rows = self._tx.rows("identity/times", edges=list(dict.fromkeys(doubtful)))
        return {row["edge"]: (moment(row["first"]), moment(row["last"])) for row in rows}

    def _same(self, members: Iterable[str], path: str | None, columns: Mapping[str, _Columns]) -> list[int]:
        """Nodes of datasets, or of their columns with a path; case matters only if a schema has two such columns."""
        if path is None:
            return [named.id for member in members if (named := self._facts.datasets.get(member)) is not None]
        known = [columns[member] for member in members if member in columns]
        is_exact = any(each.by_case for each in known)
        return [
            node
            for each in known
            for node, name in each.columns
            if name == path or (not is_exact and name.lower() == path.lower())
        ]

    def _columns(self, columns: Iterable[tuple[str, str]]) -> dict[str, _Columns]:
        """Columns that may be identical to others, by dataset."""
        paths: dict[str, set[str]] = defaultdict(set)
        for key, path in columns:
            for owner, *_ in self._counts(key):
                members = self._under(owner)
                names = self._names_of(members)
                every = {each.lower() for named in names.of(path) for each in names.all_of(named.shown)}
                for member in members:
                    paths[member] |= every
        wanted = [[key, sorted(those)] for key, those in sorted(paths.items())]
        rows = self._tx.rows("identity/columns", wanted=wanted) if wanted else []
        return {row["dataset"]: _Columns(row["columns"], row["by_case"]) for row in rows}

    def _counts(self, key: str) -> list[tuple[str, datetime | None, datetime | None]]:
        """Shown datasets that had this dataset's name at some time; its own class comes last."""
        own = self._shown.get(key, key)
        found = [
            (shown, since, until)
            for shown, members in self._members.items()
            for member, since, until in members
            if member == key
        ]
        return sorted(found, key=lambda each: each[0] == own)

    def _under(self, shown: str) -> list[str]:
        """Keys of all datasets whose facts count for a shown dataset, at least for a span of time."""
        return [member for member, *_ in self._of(shown)] or [shown]

    def _look_up_changes(self, keys: Iterable[str]) -> None:
        new = [key for key in dict.fromkeys(keys) if key not in self._changes]
        if not new:
            return
        self._changes |= dict.fromkeys(new)
        for row in self._tx.rows("identity/column_changes", keys=new):
            facts = _ColumnFacts()
            for path, renamed_to, *seen in row["changes"]:
                # Only the first and the last time are known. All counted observations are before `as_of`.
                for at in {moment(each) for each in seen}:
                    if at is not None and (self.as_of is None or at <= self.as_of):
                        facts.changes.append(ColumnNameChange(at, path, renamed_to))
            for path, first, last, is_current in row["columns"]:
                facts.paths.add(path)
                if is_current if self.as_of is None else _is_there(moment(first), moment(last), self.as_of):
                    facts.current.add(path)
            self._changes[row["key"]] = facts

    def _names_of(self, members: Sequence[str]) -> ColumnNames:
        """Names of a dataset's columns under all its names, the shown one first."""
        self._look_up_changes(members)
        found = [facts for member in members if (facts := self._changes[member]) is not None]
        if not found:
            return _NO_NAMES
        key = tuple(members)
        if key not in self._column_names:
            changes = [change for facts in found for change in facts.changes]
            paths = {path for facts in found for path in facts.paths}
            self._column_names[key] = column_names(changes, paths, found[0].current)
        return self._column_names[key]

    # Classes.

    def _of(self, key: str) -> list[tuple[str, datetime | None, datetime | None]]:
        self._find([key])
        return self._members.get(self._shown.get(key, key), [])

    def _find(self, keys: Iterable[str]) -> None:
        if self.any and (new := [key for key in dict.fromkeys(keys) if key not in self._asked]):
            self._look_up(new)
            self._sort()

    def _look_up(self, keys: Iterable[str]) -> None:
        """Look up everything that may be identical to these datasets, transitively."""
        facts = self._facts
        new = list(dict.fromkeys(keys))
        while new and len(self._asked) < MOST_NAMES * 100:
            self._asked.update(new)
            near: dict[str, None] = {}
            for row in self._tx.rows("identity/around", keys=new, most=MOST_NAMES):
                properties: Mapping[str, Any] = row["properties"]
                key = properties["key"]
                dropped = bool(properties["dropped"]) and not row["revived"]
                facts.datasets[key] = DatasetNode(row["id"], dataset_asset(properties), dropped)
                if dropped and (at := moment(row["dropped_at"])) is not None:
                    facts.dropped_at[key] = at
                for alias, owned_by, claimant, type_, namespace, name in row["claims"]:
                    facts.claims[alias][claimant] = type_
                    facts.owns[alias] = owned_by
                    facts.spelled[alias] = spelling(namespace, name)
                    near |= {claimant: None, owned_by: None}
                for before, after, at_ in row["renames"]:
                    if (time := moment(at_)) is not None:
                        facts.renames.add(_Rename(before, after, time))
                    near |= {before: None, after: None}
            new = [key for key in near if key not in self._asked]

    def _sort(self) -> None:
        """Build classes from all looked-up facts."""
        facts = self._facts
        parents: dict[str, str] = {}

        def top(key: str) -> str:
            while (up := parents.get(key, key)) != key:
                key = up
            return key

        by_name: dict[str, list[_Rename]] = defaultdict(list)
        for rename in sorted(facts.renames, key=lambda each: (each.at, each.after, each.before)):
            by_name[rename.before].append(rename)
        for equal in _equal(facts, by_name):
            first, *others = dict.fromkeys(top(key) for key in equal if key in facts.datasets) or [""]
            parents.update(dict.fromkeys(others, first))
        classes: dict[str, list[str]] = defaultdict(list)
        for key in facts.datasets:
            classes[top(key)].append(key)
        claimants = {key for claims in facts.claims.values() for key in claims}
        self._shown, self._members = {}, {}
        for keys in classes.values():
            keys.sort(key=lambda key: _rank(facts, key, by_name, claimants))
            self._shown |= dict.fromkeys(keys, keys[0])
            self._members[keys[0]] = [(key, None, None) for key in keys]
        for key, renames in by_name.items():
            self._add_renamed(key, renames)

    def _add_renamed(self, key: str, renames: Iterable[_Rename]) -> None:
        """Add the spans of time in which a name belonged to an earlier dataset, if another dataset has it now."""
        since = None
        for rename in renames:
            shown = self._shown.get(rename.after)
            if shown is not None and key in self._shown and shown != self._shown[key]:
                self._members[shown].append((key, since, rename.at))
            since = rename.at


def _is_there(first: datetime | None, last: datetime | None, at: datetime) -> bool:
    return (first is None or first <= at) and (last is None or last >= at)


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _latest(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((each for each in (one, other) if each is not None), default=None)


def _earliest(one: datetime | None, other: datetime | None) -> datetime | None:
    return min((each for each in (one, other) if each is not None), default=None)


def _equal(facts: _Facts, by_name: Mapping[str, Sequence[_Rename]]) -> Iterator[list[str]]:
    """Groups of keys of identical datasets."""
    for alias, claims in facts.claims.items():
        equal = [key for key, type_ in claims.items() if type_ not in _CATALOGS]
        yield [*equal, *_table_of_catalog(facts, claims), facts.owns[alias]]
    for key, renames in by_name.items():
        at = facts.dropped_at.get(key)
        if at is not None and at <= renames[-1].at:
            yield [key, renames[-1].after]


def _table_of_catalog(facts: _Facts, claims: Mapping[str, str]) -> list[str]:
    """The only dataset with a catalog's name; empty if several datasets may have it."""
    claimants = [key for key, type_ in claims.items() if type_ in _CATALOGS and key in facts.datasets]
    live = [key for key in claimants if not facts.datasets[key].dropped]
    return live if len(live) == 1 else claimants if not live and len(claimants) == 1 else []


def _rank(
    facts: _Facts, key: str, renamed: Mapping[str, object], claimants: Collection[str]
) -> tuple[bool, bool, bool, bool, str, str]:
    named = facts.datasets[key]
    return (
        named.dropped,
        not is_declared_cluster(named.asset.namespace),
        named.dropped and key in renamed,
        key not in claimants,
        named.asset.namespace,
        named.asset.name,
    )


def several_names(tx: Transaction) -> dict[str, list[str]]:
    """Keys of all names of each dataset with several names, by key; the shown name is first.

    Datasets that had a name before it was reused are left out (`Identities.spans`).
    """
    if not tx.several_names:
        return {}
    identities, keys = Identities.of(tx), tx.one("identity/several")["keys"]
    identities.look_at(keys)
    return {key: members for key in keys if len(members := identities.members(key)) > 1}


def known_as(tx: Transaction, asset: Asset) -> tuple[str, ...]:
    """Other names of a dataset, or of the dataset of a column, in order."""
    return Identities.of(tx).known_as(dataset_key(tx.tenant, asset.namespace, asset.name))


def notice(tx: Transaction, asset: Asset) -> tuple[str, ...]:
    """Sentence on a dataset that the graph has under several names; empty for any other dataset."""
    identities = Identities.of(tx)
    others = (identities.named(key) for key in identities.members(dataset_key(tx.tenant, asset.namespace, asset.name)))
    names = sorted(named.asset.spelling for named in others if named is not None)
    return (f"{' and '.join(names)} are names of one dataset.",) if len(names) > 1 else ()
