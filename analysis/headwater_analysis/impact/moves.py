"""Moves of a change from asset to asset, before the policy judges them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from headwater_analysis.impact.change import SchemaChange
from headwater_analysis.impact.graph import AssetFacts, Feed, ImpactGraph
from headwater_analysis.impact.policy_inputs import Cause

_JOIN = "JOIN_DEPENDENCY"
_BLACK_BOXES = ("EXTERNAL", "UNKNOWN")
_GONE = (SchemaChange.REMOVED, SchemaChange.RENAMED)


@dataclass(frozen=True, slots=True)
class ChangeStart:
    """Start of a change in the graph.

    Attributes:
        nodes: ids of the changed columns, including nested columns, or of the dataset.
        wholes: ids of columns that contain the changed columns: structs, payloads. They are never hit themselves. If
            `nodes` is empty, the graph lacks the changed column; a job that reads such a column as a whole also reads
            the changed column.
        dataset: id of the dataset.
        within: ids of the datasets that can be hit; None: all.
    """

    nodes: tuple[int, ...]
    wholes: tuple[int, ...]
    dataset: int
    type: str | None
    within: frozenset[int] | None = None


class Move(NamedTuple):
    """A step that isn't judged yet; `direct` is about this step only, not about the steps before."""

    source: int
    target: int
    edge: int
    job: str
    cause: Cause
    kind: str | None = None
    direct: bool = False
    masking: bool = False


class Moves:
    """Moves of a change from the assets that it hit. The readers of each dataset are looked up only once.

    Args:
        fails: whether a job that names a removed column can't run.
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
        """Every move from these nodes, except back to the start.

        Args:
            nodes: ids.
            first: whether the change starts at these nodes.
        """
        columns = [node for node in nodes if self._known[node].dataset != node]
        return [move for move in self._from_columns(columns, first=first) if move.target not in self._starts]

    def _from_columns(self, nodes: list[int], *, first: bool) -> Iterable[Move]:
        if not nodes:
            return
        failing: set[str] = set()
        asked = set(nodes)
        # If a parent or field is changed itself, its edge counts only for itself.
        edges = [edge for edge in self._graph.column_edges(nodes) if edge.by is None or edge.by not in asked]
        looked_up = self._graph.lookups([edge.edge for edge in edges if edge.whole and edge.kind == _JOIN])
        for edge in edges:
            for target in looked_up.get(edge.edge, ()):
                yield Move(edge.source, target, edge.edge, edge.job, Cause.LOOKUP, _JOIN)
            cause = Cause.VALUE if edge.direct else Cause.ROWS if edge.whole else Cause.CHOICE
            kind = edge.kind
            if self._schema is not None and not edge.copied and (edge.by is not None or self._is_parted(edge.source)):
                # The job reads the column as a whole, and may not use the changed part.
                cause, kind = (Cause.VALUE if edge.direct else Cause.UNSEEN), "UNKNOWN"
            elif first and edge.by is None:
                failing.add(edge.job)
            yield Move(edge.source, edge.target, edge.edge, edge.job, cause, kind, edge.direct, edge.masking)
        yield from self._from_readers(nodes, failing)

    def _is_parted(self, node: int) -> bool:
        """Return whether the change hits only a part of this column."""
        return node in self._wholes or (node not in self._starts and self._known[node].parted)

    def _from_readers(self, nodes: list[int], failing: set[str]) -> Iterable[Move]:
        """Moves by jobs that read datasets of these columns: jobs that fail, and jobs without known column lineage."""
        by_dataset: dict[int, int] = {}
        for node in sorted(nodes, key=lambda node: self._known[node].key):
            by_dataset.setdefault(self._known[node].dataset, node)
        datasets = [dataset for dataset in by_dataset if dataset not in self._read]
        self._read |= by_dataset.keys()
        for opaque in self._graph.column_edges(datasets):
            if opaque.kind in _BLACK_BOXES:
                # The job reads the whole dataset, so perhaps this column. (`count(*)` reads only the rows.)
                node = by_dataset[opaque.source]
                yield Move(node, opaque.target, opaque.edge, opaque.job, Cause.UNSEEN, opaque.kind)
        feeds = list(self._graph.feeds(datasets))
        unseen = self._graph.unseen({(job, target) for _, target, _, job in feeds})
        for source, target, edge, job in feeds:
            node = by_dataset[source]
            if self._fails and job in failing:
                yield Move(node, target, edge, job, Cause.JOB)
            elif (job, target) in unseen:
                yield Move(node, target, edge, job, Cause.UNSEEN, "UNKNOWN")

    def flows(self, nodes: Iterable[int]) -> list[Feed]:
        """Moves by FLOW: FEEDS edges of the datasets among these nodes.

        To save time, they aren't converted to `Move`.
        """
        datasets = [node for node in nodes if self._known[node].dataset == node]
        return [feed for feed in self._graph.feeds(datasets) if feed[1] not in self._starts] if datasets else []
