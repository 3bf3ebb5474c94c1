"""Columns that bad data reached, and the effect on each: column lineage, followed through the steps of a blast radius.

The nodes of the walk are visits of a column by a fault, because one fault may spread to columns that another fault
doesn't reach. The walk uses the edges of `privacy.graph`. These include edges of earlier plans, whose output may still
exist.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from headwater_analysis.assets import Asset, column_asset, dataset_asset
from headwater_analysis.blast.tainted import Tainted
from headwater_analysis.identity import Identities
from headwater_analysis.incidents.answers import ReachedColumn, UnknownColumns
from headwater_analysis.incidents.fault_effects import (
    EFFECTS,
    OF_ROWS,
    STRONGEST_FIRST,
    ColumnFault,
    ColumnUse,
    FaultEffect,
    fault_of,
    use_of,
)
from headwater_analysis.incidents.origins import Origin
from headwater_analysis.privacy.graph import LeavingEdge, StoredPrivacyGraph
from headwater_analysis.reader import Transaction
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.parts import is_empty
from headwater_analysis.trace.traced_parts import Hop, surest, weakest
from headwater_analysis.walk import Walk, WalkStep, walk
from headwater_graph.incidents import IncidentState
from headwater_graph.keys import dataset_key
from headwater_schemas.events import Certainty, IncidentType

MOST_COLUMNS: Final = 1_000
"""Maximum number of columns in an answer: those with the strongest effect. The search ends at this number, too."""

_Passed: TypeAlias = tuple[str, str, str]
"""Keys of a dataset that a step read, of the step's job, and of a dataset that the step wrote."""


class FaultVisit(NamedTuple):
    """Visit of a column, or of the rows of a dataset, by a fault.

    Attributes:
        node: id of the column or dataset.
        fault: the fault.
        effect: effect of the fault; None: bad data began in this node.
        bound: whether the fault only possibly reaches the node: through a black box, an earlier plan or an unknown
            function.
        whole: whether all columns of the dataset have the fault.
    """

    node: int
    fault: ColumnFault
    effect: FaultEffect | None = None
    bound: bool = False
    whole: bool = False


class _Facts(NamedTuple):
    """Facts of a step of the walk.

    Attributes:
        job: key of the job.
        kind, function: kind of the transformation, and name of its aggregate function.
        use: use of the source column.
        because: reason for the effect, as the second half of a sentence.
        remarks: further sentences of the reason.
    """

    job: str
    kind: str
    function: str | None
    use: ColumnUse
    because: str
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnReach:
    """Columns that bad data reached.

    Attributes:
        columns, all_columns, restricts: as in `IncidentReach`.
        unknown, truncated: as `columns_unknown` and `columns_truncated` of `IncidentReach`.
    """

    columns: tuple[ReachedColumn, ...] = ()
    unknown: tuple[UnknownColumns, ...] = ()
    truncated: bool = False
    all_columns: FaultEffect | None = None
    restricts: bool = False


def reached_columns(
    context: Context,
    state: IncidentState,
    origins: Sequence[Origin],
    hops: Sequence[Hop],
    tainted: Iterable[Tainted],
) -> ColumnReach:
    """Find the columns that a fault reached, of datasets with bad data.

    If no part of the scope names a column, and the fault has the same effect on all columns, the graph isn't asked.

    Args:
        origins: bad data of each part of the scope.
        hops: steps that bad data passed through.
        tainted: datasets that bad data reached, with the bad data that is left.
    """
    restricts = state.type is IncidentType.PRIVACY
    rows_fault = fault_of(state.type, state.cause, of_column=False)
    if rows_fault not in OF_ROWS and all(origin.part.column is None for origin in origins):
        return ColumnReach(all_columns=EFFECTS[rows_fault][ColumnUse.VALUE].effect, restricts=restricts)
    search = _ColumnSearch(context, hops)
    for origin in origins:
        column = origin.part.column
        fault = fault_of(state.type, state.cause, of_column=column is not None)
        for key in _datasets(context, origin):
            search.begin(key, None if fault in OF_ROWS else column, fault)
    held: dict[str, Certainty] = {}
    for each in tainted:
        if each.parts:
            held[each.dataset.key] = surest([each.certainty, held.get(each.dataset.key, Certainty.UNKNOWN)])
    walked = search.walk()
    columns, more = search.columns(walked, held)
    return ColumnReach(
        columns=columns,
        unknown=search.unknown(walked, held),
        truncated=more or search.cut,
        restricts=restricts,
    )


def _datasets(context: Context, origin: Origin) -> list[str]:
    """Keys of the shown datasets in which the bad data of an origin began."""
    if (ref := origin.part.dataset) is not None:
        return [context.datasets.shown_key(dataset_key(context.tx.tenant, ref.namespace, ref.name))]
    written = (part for hop in origin.hops for part in hop.outputs if not is_empty(part))
    return sorted({context.datasets.shown_key(part.dataset.key) for part in written})


class _ColumnSearch:
    """Search for the columns that bad data of one incident reached.

    Attributes:
        cut: whether the limit ended the search.
    """

    def __init__(self, context: Context, hops: Sequence[Hop]) -> None:
        self._context = context
        self._tx: Transaction = context.tx
        self._graph = StoredPrivacyGraph(context.tx)
        self._hops = hops
        self._jobs = {hop.step.job.key: hop.step.job for hop in hops if hop.step.job is not None}
        self._passed: set[_Passed] = {
            (read.dataset.key, hop.step.job.key, written.dataset.key)
            for hop in hops
            if hop.step.job is not None
            for read in hop.inputs
            for written in hop.outputs
        }
        self._begun: dict[tuple[str, str | None], ColumnFault] = {}
        self._starts: set[int] = set()
        self._whys: dict[str, str] = {}
        self._nodes: dict[str, int] = {}
        self._keys: dict[int, str] = {}
        self._listed: set[int] = set()
        self.cut = False

    def begin(self, dataset: str, column: str | None, fault: ColumnFault) -> None:
        """Add a start of the walk: a column of a dataset, or all columns and the rows (None).

        Args:
            dataset: key of the dataset.
        """
        self._begun[dataset, column] = fault

    def walk(self) -> Walk[FaultVisit]:
        """Follow the faults from their starts."""
        datasets = {key for key, _ in self._begun}
        datasets |= {part.dataset.key for hop in self._hops for part in (*hop.inputs, *hop.outputs)}
        self._learn(datasets)
        starts = list(dict.fromkeys(self._start_visits()))
        self._starts = {visit.node for visit in starts}
        return walk(starts, self._expand, depth=None)

    def _learn(self, datasets: Iterable[str]) -> None:
        row = self._tx.row("impact/dataset_ids", keys=sorted(datasets))
        facts = self._graph.facts(row["ids"] if row is not None else ())
        self._nodes = {each.key: node for node, each in facts.items()}
        self._keys = {node: each.key for node, each in facts.items()}

    def _start_visits(self) -> Iterator[FaultVisit]:
        begun = {key for key, _ in self._begun if key in self._nodes}
        columns: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for row in self._graph.columns_of(sorted(self._nodes[key] for key in begun)) if begun else ():
            columns[row["dataset"]].append((row["id"], row["name"]))
        found = {
            (key, column): [
                node
                for node, name in columns[self._nodes[key]]
                if column is None or f"{name}.".startswith(f"{column}.")
            ]
            for key, column in self._begun
            if key in self._nodes
        }
        seen = self._seen({node for nodes in found.values() for node in nodes})
        for (key, column), nodes in found.items():
            fault = self._begun[key, column]
            yield from (FaultVisit(node, fault) for node in nodes)
            if column is None:
                yield FaultVisit(self._nodes[key], fault)
            if seen.isdisjoint(nodes):
                missing = "no column of it is known" if column is None else f"the graph has no column {column} of it"
                self._whys[key] = f"Bad data began in this dataset, and {missing}."

    def _seen(self, columns: Iterable[int]) -> set[int]:
        """Filter columns to those that a schema or a plan has, under any name of their dataset."""
        identities = Identities.of(self._tx)
        row = self._tx.one("incidents/seen_columns", nodes=identities.expanded(sorted(columns)))
        return {identities.shown_node(node) for node in row["nodes"]}

    def _expand(self, frontier: Sequence[FaultVisit]) -> Iterator[WalkStep[FaultVisit]]:
        if len(self._listed) > MOST_COLUMNS:
            self.cut = True
            return
        visits: dict[int, list[FaultVisit]] = defaultdict(list)
        for visit in frontier:
            visits[visit.node].append(visit)
        wholes = sorted({visit.node for visit in frontier if visit.whole})
        parts = self._graph.columns(wholes) if wholes else {}
        datasets = sorted(visits.keys() & self._keys.keys())
        # Look up columns and datasets separately: together, an edge that leaves a dataset would count for its columns,
        # too.
        edges = [
            *self._graph.leaving(sorted(visits.keys() - self._keys.keys())),
            *(self._graph.leaving(datasets) if datasets else ()),
        ]
        facts = self._graph.facts(node for each in edges for node in (each.source, each.stored.target))
        dataset_of = {node: each.dataset for node, each in facts.items()}
        edges = [each for each in edges if self._is_passed(each, dataset_of)]
        grouping = {
            (each.stored.job, dataset_of[each.stored.target])
            for each in edges
            if each.stored.kind == "GROUP_DEPENDENCY"
        }
        edges.sort(
            key=lambda each: (facts[each.stored.target].key, each.stored.job, each.stored.kind, each.stored.edge)
        )
        for visit in frontier:
            if visit.whole:
                for column in parts.get(visit.node, ()):
                    self._count(column)
                    yield WalkStep(visit, visit._replace(node=column, whole=False), -1, 0)
        for edge in edges:
            dataset = dataset_of[edge.stored.target]
            for visit in visits[edge.source]:
                yield from self._steps(visit, edge, dataset, grouped=(edge.stored.job, dataset) in grouping)

    def _is_passed(self, edge: LeavingEdge, dataset_of: Mapping[int, int]) -> bool:
        read, written = (self._keys.get(dataset_of[node]) for node in (edge.source, edge.stored.target))
        return read is not None and written is not None and (read, edge.stored.job, written) in self._passed

    def _count(self, column: int) -> None:
        if column not in self._keys:
            self._listed.add(column)

    def _steps(
        self, visit: FaultVisit, edge: LeavingEdge, dataset: int, *, grouped: bool
    ) -> Iterator[WalkStep[FaultVisit]]:
        stored = edge.stored
        known = use_of(stored.kind, edge.text, edge.field, grouped=grouped)
        if (found := EFFECTS[visit.fault].get(known.use)) is None:
            return
        remarks = []
        if not known.is_known:
            remarks.append("The aggregate's function isn't known, so the stronger effect counts.")
        if edge.former:
            remarks.append("By an earlier plan of the job.")
        if known.use is ColumnUse.BLACK_BOX:
            remarks.append("Column lineage can't look into that code: perhaps it doesn't use the column.")
        facts = _Facts(stored.job, stored.kind, known.function, known.use, found.because, tuple(remarks))
        bound = visit.bound or bool(remarks)
        target = FaultVisit(stored.target, found.then, found.effect, bound, stored.whole)
        self._count(stored.target)
        yield WalkStep(visit, target, stored.edge, facts=facts)
        if found.then in OF_ROWS and not stored.whole:
            yield WalkStep(visit, target._replace(node=dataset), stored.edge, facts=facts)

    def columns(
        self, walked: Walk[FaultVisit], held: Mapping[str, Certainty]
    ) -> tuple[tuple[ReachedColumn, ...], bool]:
        """Columns with bad data, the strongest effect first; and whether there are more than `MOST_COLUMNS`.

        Args:
            walked: the finished walk.
            held: for each dataset with bad data, by key: certainty of the bad data.
        """
        worst: dict[int, FaultVisit] = {}
        for visit, found in walked.found.items():
            if visit.node not in self._keys and visit.node not in self._starts:
                known = worst.setdefault(visit.node, visit)
                if _order(visit, found.hops) < _order(known, walked.found[known].hops):
                    worst[visit.node] = visit
        facts = self._graph.facts(worst)
        dataset_of = {node: self._keys.get(each.dataset, "") for node, each in facts.items()}
        listed = [node for node in worst if dataset_of[node] in held]
        listed.sort(key=lambda node: (*_order(worst[node], walked.found[worst[node]].hops), facts[node].key))
        shown = listed[:MOST_COLUMNS]
        paths = {node: [step for step in walked.path(worst[node]) if step.hops] for node in shown}
        named = {*shown, *(path[-1].source.node for path in paths.values())}
        assets = (
            {row["node"]: row for row in self._tx.one("impact/assets", nodes=sorted(named))["assets"]} if named else {}
        )
        columns = [self._column(worst[node], paths[node], assets, held[dataset_of[node]]) for node in shown]
        ordered = sorted(
            columns,
            key=lambda each: (
                STRONGEST_FIRST.index(each.effect),
                each.depth,
                each.dataset.namespace,
                each.dataset.name,
                each.column,
            ),
        )
        return tuple(ordered), len(listed) > len(shown)

    def _column(
        self,
        visit: FaultVisit,
        path: Sequence[WalkStep[FaultVisit]],
        assets: Mapping[int, Mapping[str, Any]],
        certainty: Certainty,
    ) -> ReachedColumn:
        row, last = assets[visit.node], _Facts(*path[-1].facts)
        if visit.effect is None:
            raise RuntimeError("a column that was reached has an effect")
        source = assets[path[-1].source.node]
        rows = f"rows of {dataset_asset(source['dataset']).spelling}"
        name = rows if source["column"] is None else column_asset(source["dataset"], source["column"]).spelling
        remarks = dict.fromkeys(remark for step in path for remark in _Facts(*step.facts).remarks)
        return ReachedColumn(
            dataset=dataset_asset(row["dataset"]),
            column=row["column"]["name"],
            effect=visit.effect,
            certainty=weakest(certainty, Certainty.UPPER_BOUND) if visit.bound else certainty,
            depth=len(path),
            via=tuple(self._via_text(_Facts(*step.facts)) for step in path),
            why=" ".join([f"{_USE_WORDS[last.use]} {name}: {last.because}.", *remarks]),
        )

    def _via_text(self, facts: _Facts) -> str:
        kind = facts.kind if facts.function is None else f"{facts.kind} {facts.function}"
        return f"{self._jobs[facts.job].name}: {kind}"

    def unknown(self, walked: Walk[FaultVisit], held: Mapping[str, Certainty]) -> tuple[UnknownColumns, ...]:
        """Datasets with bad data in which further columns may be affected, by name."""
        facts = self._graph.facts([*self._starts, *(visit.node for visit in walked.found)])
        met = {self._keys.get(each.dataset) for each in facts.values()}
        pairs = {(job, self._nodes[written]) for _, job, written in self._passed if written in self._nodes}
        unseen = self._graph.unseen(pairs) | self._graph.ever_incomplete(pairs) if pairs else set()
        whys = self._whys
        for hop in self._hops:
            for part in hop.outputs if hop.step.job is None else ():
                whys.setdefault(part.dataset.key, "The job that wrote the dataset isn't known.")
        is_new = True
        while is_new:
            is_new = False
            for read, job, written in sorted(self._passed):
                if written in whys or not (read in met or read in whys):
                    continue
                if (job, self._nodes.get(written)) in unseen:
                    whys[written] = (
                        f"The column lineage of {self._jobs[job].name} to this dataset is missing or incomplete."
                    )
                elif read in whys:
                    name = self._context.datasets[read].spelling
                    whys[written] = f"The dataset is derived from {name}, where other columns may be bad."
                else:
                    continue
                is_new = True
        assets: dict[str, Asset] = {key: self._context.datasets[key] for key in whys if key in held}
        listed = sorted(assets, key=lambda key: (assets[key].namespace, assets[key].name))
        return tuple(UnknownColumns(dataset=assets[key], why=whys[key]) for key in listed)


_USE_WORDS: Final = {
    ColumnUse.VALUE: "Made row by row from",
    ColumnUse.GROUPED: "Made row by row from",
    ColumnUse.AGGREGATE: "Aggregated from",
    ColumnUse.IDEMPOTENT: "Aggregated from",
    ColumnUse.JOIN: "Joined on",
    ColumnUse.FILTER: "Filtered by",
    ColumnUse.GROUP: "Grouped by",
    ColumnUse.ORDER: "Sorted or windowed by",
    ColumnUse.CONDITION: "Decided by",
    ColumnUse.BLACK_BOX: "Perhaps made from",
}


def _order(visit: FaultVisit, hops: int) -> tuple[int, bool, int]:
    effect = len(STRONGEST_FIRST) if visit.effect is None else STRONGEST_FIRST.index(visit.effect)
    return effect, visit.bound, hops
