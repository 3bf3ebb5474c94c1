"""Review of a dataset's new schema: every difference, with everything downstream in the graph."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from headwater_analysis.assets import Asset, job_asset
from headwater_analysis.declared import ReadingConsumer, consumers_of
from headwater_analysis.errors import QuestionError
from headwater_analysis.identity import Identities, notice
from headwater_analysis.impact import (
    ChangeType,
    ImpactedJob,
    ImpactItem,
    Policy,
    SchemaChange,
    Severity,
    SeverityTotal,
    default_policy,
)
from headwater_analysis.impact.analyze import ImpactDetails
from headwater_analysis.impact.graph import AssetFacts, Feed, ImpactGraph, StoredColumnEdge, StoredGraph
from headwater_analysis.impact.moves import ChangeStart
from headwater_analysis.impact.policy import SEVERITIES
from headwater_analysis.impact.policy_inputs import Cause, InputGroup, JobInput, SeverityInputs
from headwater_analysis.impact.spread import ImpactSpread, spread
from headwater_analysis.impact.start import Beginning, columns_of
from headwater_analysis.impact.verdict import unknown_users
from headwater_analysis.impact.wording import short
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_dataset
from headwater_review.compare import DifferenceKind, Retyping, SchemaDifference, compare
from headwater_review.schema import Schema, Steps, steps_of
from headwater_review.starts import OF_ALL_COLUMNS, OF_DATASET, StartColumns, impact_of
from headwater_review.stored import stored_schema
from headwater_review.wording import OVERWRITES_MORE, constraint_of, privacy_of, suggestion_of, text_of


@dataclass(frozen=True, slots=True)
class Question:
    """Question of a review.

    Attributes:
        dataset: name, as `resolve_dataset` understands it.
        new: new schema.
        old: current schema; None: the schema in the graph.
        renames: old path to new path of columns that are renamed.
        at: path of the column that the schemas describe; None: a topic's `value`, or the whole dataset of any other
            type.
        differences: differences of a job's two versions, reviewed instead of differences of the schemas; None without a
            job.
    """

    dataset: str
    new: Schema
    old: Schema | None = None
    renames: Mapping[str, str] = field(default_factory=dict)
    at: str | None = None
    differences: tuple[SchemaDifference, ...] | None = None


@dataclass(frozen=True, slots=True)
class ReviewedDifference:
    """A difference and its impact.

    Attributes:
        difference: the difference.
        text: difference as a sentence, without a full stop.
        severity: worst severity of the items and `reasons`.
        reasons: further reasons for the severity, as sentences, besides the items.
        items: assets that are hit, the worst first; at most 10.
        total: number of assets that are hit.
        totals: number of these assets by severity, the worst first.
        jobs: jobs on the paths, failing ones first; at most 10.
        jobs_total: number of these jobs.
        consumers: names of the declared consumers of the changed column or dataset.
    """

    difference: SchemaDifference
    text: str
    severity: Severity
    reasons: tuple[str, ...]
    items: tuple[ImpactItem, ...]
    total: int
    totals: tuple[SeverityTotal, ...]
    jobs: tuple[ImpactedJob, ...]
    jobs_total: int
    consumers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """Answer of a review.

    Attributes:
        dataset: dataset whose schema changes.
        old, new: origin of each schema: a file, or `the graph`.
        severity: verdict: worst severity of all differences; NONE if the schemas are equal or nobody is affected.
        differences: the worst first, then in the order of `compare`.
        totals: number of differences by severity, the worst first.
        columns: number of columns in the new schema.
        jobs_total: number of jobs that any difference hits.
        datasets_total: number of datasets that any difference hits.
        consumers: declared consumers to notify: of differing columns and of hit assets.
        writers: jobs that write the dataset, and have to follow the change.
        unseen: names of downstream jobs with missing or incomplete column lineage: the verdict may miss their uses of a
            column. At most 20.
        unseen_total: number of these jobs.
        notes: sentences on the verdict's basis and open points.
    """

    dataset: Asset
    old: str
    new: str
    severity: Severity
    differences: tuple[ReviewedDifference, ...]
    totals: tuple[SeverityTotal, ...]
    columns: int
    jobs_total: int
    datasets_total: int
    consumers: tuple[ReadingConsumer, ...]
    writers: tuple[Asset, ...]
    unseen: tuple[str, ...]
    unseen_total: int
    notes: tuple[str, ...]


MOST_DIFFERENCES = 1_000
MOST_ITEMS = 10
MOST_JOBS = 10
MOST_UNSEEN = 20
_MOST_WRITERS = 100
_MOST_TEXT = 2_000
_GONE = (DifferenceKind.REMOVED, DifferenceKind.RENAMED)
_OTHER_VALUES = (DifferenceKind.UNIT, DifferenceKind.MEANING)


def review(reader: Reader, question: Question, policy: Policy | None = None) -> Review:
    """Return all differences between two schemas of a dataset, with the downstream impact of each.

    Args:
        policy: severity policy; None: Headwater's default policy.

    Raises:
        QuestionError: a rename or `at` names a column that doesn't exist; the graph has no schema of the dataset.
        NotFoundError: no such dataset; with the nearest names.
        AmbiguousError: several datasets have this name.
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read`.
    """
    return reader.read(lambda tx: _Reviewing(tx, question, policy or default_policy()).answer())


class _Spread(NamedTuple):
    """A difference with its impact in the graph."""

    beginning: Beginning
    hit: ImpactSpread
    details: ImpactDetails


class _Reviewing:
    def __init__(self, tx: Transaction, question: Question, policy: Policy) -> None:
        self._tx, self._question, self._policy = tx, question, policy
        self._dataset = resolve_dataset(tx, question.dataset)
        self._graph = SharedGraph(StoredGraph(tx))
        self._hits: dict[tuple[ChangeStart, tuple[ChangeType, SchemaChange]], ImpactSpread] = {}
        self._starts = StartColumns(tx.tenant, self._dataset, columns_of(tx, self._dataset))
        self._notes = list(notice(tx, self._dataset.asset))
        self._at = self._part()
        self._writers = self._look_for_writers()
        self._unseen_readers = self._look_for_unseen_readers()

    def answer(self) -> Review:
        old, new = self._schemas()
        given = self._question.differences
        differences = compare(old, new, self._renames()) if given is None else given
        changes = [impact_of(difference) for difference in differences]
        spreads = self._spreads(differences, changes)
        ImpactDetails.look_up(self._tx, [each.details for each in spreads.values()])
        consumers = self._consumers_of_columns(spreads)
        reviewed = [
            self._reviewed(difference, change, spreads.get(number), consumers.get(number, {}))
            for number, (difference, change) in enumerate(zip(differences, changes, strict=True))
        ]
        reviewed.sort(key=lambda each: each.severity.rank)
        hits = list({id(each.hit): each.hit for each in spreads.values()}.values())
        touched = {node for each in spreads.values() for node in each.beginning.start.nodes}
        touched |= {node for hit in hits for node in hit.worst}
        unseen = {
            key for hit in hits for key, job in hit.jobs.items() if Cause.UNSEEN in job.causes
        } | self._unseen_readers
        names = self._job_names(unseen)
        if len(reviewed) > MOST_DIFFERENCES:
            self._notes.append(f"{MOST_DIFFERENCES:,} of {len(reviewed):,} differences are listed, the worst ones.")
        counts = Counter(each.severity for each in reviewed)
        return Review(
            dataset=self._dataset.asset,
            old=old.source,
            new=new.source,
            severity=min((each.severity for each in reviewed), key=lambda each: each.rank, default=Severity.NONE),
            differences=tuple(reviewed[:MOST_DIFFERENCES]),
            totals=tuple(SeverityTotal(severity, counts[severity]) for severity in SEVERITIES if severity in counts),
            columns=len(new.columns),
            jobs_total=len({key for hit in hits for key in hit.jobs}),
            datasets_total=len({hit.facts[node].dataset for hit in hits for node in hit.worst}),
            consumers=consumers_of(self._tx, {self._dataset.id, *touched}) if differences else (),
            writers=tuple(self._writers),
            unseen=tuple(names[:MOST_UNSEEN]),
            unseen_total=len(unseen),
            notes=tuple(self._notes),
        )

    def _schemas(self) -> tuple[Schema, Schema]:
        """Old and new schema, translated to the same part of the dataset."""
        new = self._question.new.within(self._at)
        if self._question.old is not None:
            return self._question.old.within(self._at), new
        old, notes = stored_schema(self._tx, self._dataset.asset, self._at)
        self._notes += notes
        return old, new

    def _part(self) -> Steps:
        """Steps of the column that the schemas describe; empty: the dataset."""
        at, dataset = self._question.at, self._dataset.asset
        if at:
            if self._starts.named(at) is None:
                raise QuestionError(f"{dataset.spelling} has no column {at!r} in the graph.", field="at")
            return steps_of(at)
        if self._question.differences is not None:
            return ()
        if at is not None or (dataset.type or "").upper() != "TOPIC" or ("value",) in self._question.new.columns:
            return ()
        self._notes.append("The schema is taken as that of the topic's `value`; --at names another column.")
        return ("value",)

    def _renames(self) -> dict[str, str]:
        """Renames, with whole paths."""
        above = self._above
        return {f"{above}{before}": f"{above}{after}" for before, after in self._question.renames.items()}

    @property
    def _above(self) -> str:
        """Prefix in the graph for paths of the files, such as `value.`."""
        return "".join(f"{step}." for step in self._at)

    def _spreads(
        self, differences: Sequence[SchemaDifference], changes: Sequence[tuple[ChangeType, SchemaChange] | None]
    ) -> dict[int, _Spread]:
        """Impact of each difference by its index; differences whose column the graph lacks are left out."""
        begun: dict[int, Beginning] = {}
        for number, (difference, change) in enumerate(zip(differences, changes, strict=True)):
            beginning = None if change is None else self._starts.beginning(difference, change[0])
            if beginning is not None:
                begun[number] = beginning
        starts_by_change: dict[tuple[ChangeType, SchemaChange], list[ChangeStart]] = defaultdict(list)
        for number, beginning in begun.items():
            starts_by_change[_required_change(changes[number])].append(beginning.start)
        # Differences with the same change first spread through the graph together; each then finds its nodes cached.
        for change, starts in starts_by_change.items():
            self._spread(_together(starts), change)
        found: dict[int, _Spread] = {}
        listed: dict[int, list[int]] = {}
        for number, beginning in begun.items():
            hit = self._spread(beginning.start, _required_change(changes[number]))
            if id(hit) not in listed:
                listed[id(hit)] = [node for *_, node in hit.ordered()[:MOST_ITEMS]]
            details = ImpactDetails(hit, listed[id(hit)], self._policy, beginning, MOST_JOBS)
            found[number] = _Spread(beginning, hit, details)
        return found

    def _spread(self, start: ChangeStart, change: tuple[ChangeType, SchemaChange]) -> ImpactSpread:
        """Impact of a change at a start. Thousands of added columns share one start: the dataset."""
        if (known := self._hits.get((start, change))) is None:
            graph: ImpactGraph = self._graph
            known = self._hits[start, change] = spread(graph, start, *change, self._policy, depth=None)
        return known

    def _reviewed(
        self,
        difference: SchemaDifference,
        change: tuple[ChangeType, SchemaChange] | None,
        impact: _Spread | None,
        consumers: Mapping[str, bool],
    ) -> ReviewedDifference:
        ranks = [] if impact is None else [impact.hit.rank(node) for node in impact.hit.worst]
        reasons = list(self._reasons(difference, consumers))
        if difference.kind is DifferenceKind.DESCRIPTION:
            reasons.append((Severity.COSMETIC, "Nothing is computed from a description."))
        elif difference.exposed is not None:
            reasons.append(privacy_of(difference.exposed))
        elif change is None:
            reasons.append((Severity.NONE, "Its effects on rows and columns are listed as separate differences."))
        elif impact is None:
            reasons.append(self._missing_column())
        if difference.overwrites_more:
            # The rows are lost, whether or not anybody reads the dataset.
            reasons.append((Severity.DEGRADED, OVERWRITES_MORE))
        if difference.similar is not None:
            reasons.append((Severity.NONE, suggestion_of(difference.column, difference.similar, self._above)))
        counts = Counter(ranks)
        severities = [*(SEVERITIES[rank] for rank in ranks), *(severity for severity, _ in reasons)]
        worst = min(severities, key=lambda severity: severity.rank, default=Severity.NONE)
        if worst is Severity.NONE and change is not None and self._unknown:
            worst = Severity.UNKNOWN
            reasons.append((worst, f"Not known is {' and '.join(self._unknown)}."))
        binds_late = impact is not None and self._policy.binds_late(impact.beginning.start.type)
        return ReviewedDifference(
            difference=replace(difference, before=_cut(difference.before), after=_cut(difference.after)),
            text=text_of(difference),
            severity=worst,
            reasons=tuple(text for _, text in reasons),
            items=() if impact is None else impact.details.items(),
            total=len(ranks),
            totals=tuple(SeverityTotal(SEVERITIES[rank], counts[rank]) for rank in sorted(counts)),
            jobs=() if impact is None or change is None else impact.details.jobs(change[1], late=binds_late),
            jobs_total=0 if impact is None else len(impact.hit.jobs),
            consumers=tuple(sorted(consumers)),
        )

    def _reasons(self, difference: SchemaDifference, consumers: Mapping[str, bool]) -> Iterator[tuple[Severity, str]]:
        """Reasons for the severity besides the hit assets: declared consumers, and jobs that write the dataset."""
        for name, names_it in sorted(consumers.items()):
            severity = _for_consumer(difference, names_it=names_it)
            if severity is not Severity.NONE:
                reads = "reads this column" if names_it else "reads the dataset as a whole"
                if difference.kind in OF_DATASET:
                    reads = "reads the dataset"
                yield severity, f"Consumer {short(name)} {reads}."
        if self._writers and (constraint := constraint_of(difference)):
            others = f" and {len(self._writers) - 1:,} more" if len(self._writers) > 1 else ""
            yield (
                Severity.DEGRADED,
                f"{short(self._writers[0].name)}{others} writes the dataset, and has to {constraint}.",
            )

    @cached_property
    def _unknown(self) -> list[str]:
        """Sentences on jobs that may use the dataset without known lineage."""
        asset = self._dataset.asset
        return list(unknown_users(self._tx, asset.key, asset))

    def _missing_column(self) -> tuple[Severity, str]:
        """Severity and reason for a changed column that the graph lacks."""
        if self._unseen_readers:
            return (
                Severity.DEGRADED,
                "The graph doesn't have this column, and the lineage of jobs that read the dataset is incomplete.",
            )
        return Severity.NONE, "The graph doesn't have this column: no job with known lineage names it."

    def _look_for_unseen_readers(self) -> set[str]:
        """Keys of jobs that read the dataset and have missing or incomplete column lineage."""
        feeds = {(job, target) for _, target, _, job in self._graph.feeds([self._dataset.id])}
        return {job for job, _ in self._graph.unseen(feeds)}

    def _look_for_writers(self) -> list[Asset]:
        keys = Identities.of(self._tx).members(self._dataset.asset.key)
        rows = self._tx.rows("known/jobs_of_dataset", keys=keys, link="WRITES", most=_MOST_WRITERS)
        return [job_asset(row["job"]) for row in rows]

    def _consumers_of_columns(self, spreads: Mapping[int, _Spread]) -> dict[int, dict[str, bool]]:
        """Consumers of the changed asset, and whether each names the column; by index of the difference."""
        if not self._tx.consumers:
            return {}
        numbers_by_node: dict[int, list[int]] = defaultdict(list)
        out: dict[int, dict[str, bool]] = defaultdict(dict)
        for number, each in spreads.items():
            start = each.beginning.start
            if each.beginning.asset.column is None:
                out[number] = dict.fromkeys(self._readers, False)
            for node in (start.nodes or start.wholes) if each.beginning.asset.column is not None else ():
                numbers_by_node[node].append(number)
        for row in self._tx.rows("declared/readers", nodes=sorted(numbers_by_node)):
            for number in numbers_by_node[row["node"]]:
                for _, name, names_it in row["consumers"]:
                    out[number][name] = out[number].get(name, False) or names_it
        return out

    @cached_property
    def _readers(self) -> list[str]:
        """Names of declared consumers of the dataset or of one of its columns."""
        return [each.name for each in consumers_of(self._tx, [self._dataset.id, *self._starts.nodes])]

    def _job_names(self, keys: Iterable[str]) -> list[str]:
        rows = self._tx.one("impact/jobs", keys=sorted(keys))["jobs"]
        return sorted(row["properties"]["name"] for row in rows)


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= _MOST_TEXT else short(text, _MOST_TEXT)


def _required_change(change: tuple[ChangeType, SchemaChange] | None) -> tuple[ChangeType, SchemaChange]:
    if change is None:
        raise ValueError("a difference without an impact has no start")
    return change


def _together(starts: Sequence[ChangeStart]) -> ChangeStart:
    """Merge these starts into one."""
    nodes = dict.fromkeys(node for start in starts for node in start.nodes)
    wholes = dict.fromkeys(node for start in starts for node in start.wholes if node not in nodes)
    return replace(starts[0], nodes=tuple(nodes), wholes=tuple(wholes))


def _for_consumer(difference: SchemaDifference, *, names_it: bool) -> Severity:
    """Severity of a difference for a declared consumer of the column, or of the dataset as a whole."""
    if difference.kind in OF_ALL_COLUMNS:
        return Severity.BREAKING
    if difference.kind in OF_DATASET:
        return Severity.DEGRADED
    if difference.kind in _GONE:
        return Severity.BREAKING if names_it else Severity.DEGRADED
    if difference.kind in _OTHER_VALUES or (
        difference.kind is DifferenceKind.RETYPED and difference.retyping is not Retyping.WIDER
    ):
        return Severity.DEGRADED
    may_surprise = difference.after == "nullable" or difference.kind is DifferenceKind.ENUM
    return Severity.DEGRADED if names_it and may_surprise else Severity.NONE


class SharedGraph:
    """`ImpactGraph` that caches its answers.

    Args:
        graph: graph to read if nodes aren't cached.
    """

    def __init__(self, graph: ImpactGraph) -> None:
        self._graph = graph
        self._edges: dict[int, list[StoredColumnEdge]] = {}
        self._lookups: dict[int, Sequence[int]] = {}
        self._feeds: dict[int, list[Feed]] = {}

    def column_edges(self, nodes: Sequence[int], /) -> list[StoredColumnEdge]:
        """See `ImpactGraph`."""
        if new := [node for node in nodes if node not in self._edges]:
            found: dict[int, list[StoredColumnEdge]] = defaultdict(list)
            for edge in self._graph.column_edges(new):
                found[edge.source].append(edge)
            self._edges |= {node: found[node] for node in new}
        return [edge for node in nodes for edge in self._edges[node]]

    def lookups(self, edges: Sequence[int], /) -> Mapping[int, Sequence[int]]:
        """See `ImpactGraph`."""
        if new := [edge for edge in edges if edge not in self._lookups]:
            found = self._graph.lookups(new)
            self._lookups |= {edge: found.get(edge, ()) for edge in new}
        return {edge: self._lookups[edge] for edge in edges}

    def feeds(self, nodes: Sequence[int], /) -> list[Feed]:
        """See `ImpactGraph`."""
        if new := [node for node in nodes if node not in self._feeds]:
            found: dict[int, list[Feed]] = defaultdict(list)
            for feed in self._graph.feeds(new):
                found[feed[0]].append(feed)
            self._feeds |= {node: found[node] for node in new}
        return [feed for node in nodes for feed in self._feeds[node]]

    def unseen(self, made: Iterable[tuple[str, int]], /) -> set[tuple[str, int]]:
        """See `ImpactGraph`; the wrapped graph has its own cache."""
        return self._graph.unseen(made)

    def facts(self, nodes: Sequence[int], /) -> Mapping[int, AssetFacts]:
        """See `ImpactGraph`; the wrapped graph has its own cache."""
        return self._graph.facts(nodes)

    def inputs(self, nodes: Sequence[int], groups: Iterable[InputGroup], /) -> Mapping[int, SeverityInputs]:
        """See `ImpactGraph`; the wrapped graph has its own cache."""
        return self._graph.inputs(nodes, groups)

    def critical_jobs(self, jobs: Iterable[str], /) -> Mapping[str, JobInput]:
        """See `ImpactGraph`; the wrapped graph has its own cache."""
        return self._graph.critical_jobs(jobs)
