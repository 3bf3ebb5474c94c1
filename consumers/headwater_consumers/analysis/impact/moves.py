"""The steps that leave assets, before the policy judges them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from headwater_consumers.analysis.impact.change import SchemaChange
from headwater_consumers.analysis.impact.graph import AssetFacts, Feed, ImpactGraph
from headwater_consumers.analysis.impact.steps import Cause

_JOIN = "JOIN_DEPENDENCY"
_BLACK_BOXES = ("EXTERNAL", "UNKNOWN")
_GONE = (SchemaChange.REMOVED, SchemaChange.RENAMED)


@dataclass(frozen=True, slots=True)
class ChangeStart:
    """Where a change begins.

    Attributes:
        nodes: ids of the columns, nested ones too; or of the dataset.
        wholes: ids of columns that those are part of; never among what is hit. Without nodes, the graph doesn't have
            what changes, and whoever takes these as a whole takes that too.
        dataset: id of the dataset.
        type: of the dataset.
        within: ids of the only datasets that can be hit; None: any.
    """

    nodes: tuple[int, ...]
    wholes: tuple[int, ...]
    dataset: int
    type: str | None
    within: frozenset[int] | None = None


class Move(NamedTuple):
    """A step before it is judged; `direct`: whether it is one by itself."""

    source: int
    target: int
    edge: int
    job: str
    cause: Cause
    kind: str | None = None
    direct: bool = False
    masking: bool = False


class Moves:
    """Where a change can go from assets that it hit. One dataset's readers are looked at once.

    Args:
        graph: to ask.
        start: where it begins.
        schema: what happens to the column, if it is a schema change.
        fails: whether a job that names a column that is gone can't run.
        known: facts of every asset that was reached so far; kept up to date by the caller.
    """

    def __init__(
        self,
        graph: ImpactGraph,
        start: ChangeStart,
        schema: SchemaChange | None,
        *,
        fails: bool,
        known: Mapping[int, AssetFacts],
    ) -> None:
        self._graph = graph
        self._schema = schema
        self._fails = fails and schema in _GONE
        self._known = known
        self._starts = {*start.nodes, *start.wholes}
        self._wholes = set(start.wholes)
        self._read: set[int] = set()

    def leaving(self, nodes: Sequence[int], *, first: bool) -> list[Move]:
        """Every step that leaves these, but back to the start.

        Args:
            nodes: ids.
            first: whether they are where the change begins.
        """
        columns = [node for node in nodes if self._known[node].dataset != node]
        return [move for move in self._from_columns(columns, first=first) if move.target not in self._starts]

    def _from_columns(self, nodes: list[int], *, first: bool) -> Iterable[Move]:
        if not nodes:
            return
        failing: set[str] = set()
        asked = set(nodes)
        # What leaves a relative that is asked about itself counts for that alone.
        edges = [edge for edge in self._graph.column_edges(nodes) if edge.by is None or edge.by not in asked]
        looked_up = self._graph.lookups([edge.edge for edge in edges if edge.whole and edge.kind == _JOIN])
        for edge in edges:
            for target in looked_up.get(edge.edge, ()):
                yield Move(edge.source, target, edge.edge, edge.job, Cause.LOOKUP, _JOIN)
            cause = Cause.VALUE if edge.direct else Cause.ROWS if edge.whole else Cause.CHOICE
            kind = edge.kind
            if self._schema is not None and (edge.by is not None or self._is_parted(edge.source)):
                # The job takes the whole, and that column may be nothing to it.
                cause, kind = (Cause.VALUE if edge.direct else Cause.UNSEEN), "UNKNOWN"
            elif first:
                failing.add(edge.job)
            yield Move(edge.source, edge.target, edge.edge, edge.job, cause, kind, edge.direct, edge.masking)
        yield from self._from_readers(nodes, failing)

    def _is_parted(self, node: int) -> bool:
        """Whether what is hit is but a part of this column."""
        return node in self._wholes or (node not in self._starts and self._known[node].parted)

    def _from_readers(self, nodes: list[int], failing: set[str]) -> Iterable[Move]:
        """Jobs that read datasets of these columns: those that fail, and those that nothing is known of."""
        by_dataset: dict[int, int] = {}
        for node in sorted(nodes, key=lambda node: self._known[node].key):
            by_dataset.setdefault(self._known[node].dataset, node)
        datasets = [dataset for dataset in by_dataset if dataset not in self._read]
        self._read |= by_dataset.keys()
        for black in self._graph.column_edges(datasets):
            if black.kind in _BLACK_BOXES:
                # It takes the dataset as a whole, this column perhaps; `count(*)` takes its rows alone.
                node = by_dataset[black.source]
                yield Move(node, black.target, black.edge, black.job, Cause.UNSEEN, black.kind)
        feeds = list(self._graph.feeds(datasets))
        unseen = self._graph.unseen({(job, target) for _, target, _, job in feeds})
        for source, target, edge, job in feeds:
            node = by_dataset[source]
            if self._fails and job in failing:
                yield Move(node, target, edge, job, Cause.JOB)
            elif (job, target) in unseen:
                yield Move(node, target, edge, job, Cause.UNSEEN, "UNKNOWN")

    def flows(self, nodes: Iterable[int]) -> list[Feed]:
        """What those of these that are datasets feed: moves by FLOW, in a form that is quicker to go through."""
        datasets = [node for node in nodes if self._known[node].dataset == node]
        return [feed for feed in self._graph.feeds(datasets) if feed[1] not in self._starts] if datasets else []
