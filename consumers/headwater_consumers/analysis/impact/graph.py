"""The graph as an impact spreads in it: small facts, a level at a time. What things are called is looked up later."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from headwater_consumers.analysis.lineage.plans import Plans

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from headwater_consumers.analysis.reader import Transaction


class ColumnEdge(NamedTuple):
    """From a column, or from a dataset's rows, to a column or a whole dataset.

    Attributes:
        source, target: ids of nodes.
        edge: id of the relationship.
        whole: whether it holds for every column of the target, a dataset.
        direct: whether the value goes into it.
        kind: of transformation.
        masking: whether the value can't be read back.
        job: key.
    """

    source: int
    target: int
    edge: int
    whole: bool
    direct: bool
    kind: str
    masking: bool
    job: str


Feed: TypeAlias = tuple[int, int, int, str]
"""From a dataset to one that a job makes of it: source, target, edge and the job's key. There may be tens of thousands:
a class of them would take longer to make than they take to travel."""


class Facts(NamedTuple):
    """Of a node.

    Attributes:
        key: its key.
        dataset: id of the dataset that it is, or that has the column.
        type, criticality: of that dataset; `''`: not known.
        parted: whether it is a column that has fields of its own, which are columns too: a struct, a topic's payload.
    """

    key: str
    dataset: int
    type: str
    criticality: str
    parted: bool = False


class Graph(Protocol):
    """What `spread` asks."""

    def column_edges(self, nodes: Sequence[int], /) -> Iterable[ColumnEdge]:
        """Edges that leave these columns and hold now."""

    def lookups(self, edges: Sequence[int], /) -> Mapping[int, Sequence[int]]:
        """Of these edges, from join keys: ids of the columns whose values are looked up by the key, by edge."""

    def feeds(self, nodes: Sequence[int], /) -> Iterable[Feed]:
        """What these datasets feed."""

    def unseen(self, jobs: Iterable[str], /) -> set[str]:
        """Those of these jobs whose column lineage is missing or incomplete, so that a missing edge proves nothing."""

    def facts(self, nodes: Sequence[int], /) -> Mapping[int, Facts]:
        """Facts of these nodes."""


class StoredGraph:
    """The one in Neo4j, asked within one transaction."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._plans = Plans(tx)
        self._unseen: dict[str, bool] = {}
        # Those of a level come with what feeds them: a round trip less for each.
        self._facts: dict[int, Facts] = {}

    def column_edges(self, nodes: Sequence[int], /) -> list[ColumnEdge]:
        """See `Graph`."""
        row = self._tx.row("impact/column_edges", nodes=nodes) if nodes else None
        if row is None:
            return []
        sources, targets, edges, whole, direct, kinds, masking, plans = row.values()
        holding = self._plans.holding(plans, targets)
        jobs = (self._plans[plan].job for plan in plans)
        found = map(ColumnEdge, sources, targets, edges, whole, direct, kinds, masking, jobs)
        return [edge for edge, holds in zip(found, holding, strict=True) if holds]

    def lookups(self, edges: Sequence[int], /) -> dict[int, list[int]]:
        """See `Graph`."""
        rows = self._tx.rows("impact/lookups", edges=edges) if edges else []
        return {row["edge"]: row["targets"] for row in rows}

    def feeds(self, nodes: Sequence[int], /) -> list[Feed]:
        """See `Graph`."""
        if not nodes:
            return []
        sources, targets, edges, jobs, *fed = self._tx.one("impact/feeds", nodes=nodes).values()
        for node, key, type_, criticality in zip(*fed, strict=True):
            if node not in self._facts:
                self._facts[node] = Facts(key, node, type_, criticality)
        return list(zip(sources, targets, edges, jobs, strict=True))

    def unseen(self, jobs: Iterable[str], /) -> set[str]:
        """See `Graph`."""
        asked = set(jobs)
        if new := sorted(asked - self._unseen.keys()):
            row = self._tx.row("impact/unseen_jobs", jobs=new)
            unseen = set(row["jobs"]) if row is not None else set()
            self._unseen |= {job: job in unseen for job in new}
        return {job for job in asked if self._unseen[job]}

    def facts(self, nodes: Sequence[int], /) -> dict[int, Facts]:
        """See `Graph`."""
        if new := [node for node in nodes if node not in self._facts]:
            ids, *facts = self._tx.one("impact/facts", nodes=new).values()
            self._facts |= zip(ids, map(Facts, *facts), strict=True)
        return {node: self._facts[node] for node in nodes}
