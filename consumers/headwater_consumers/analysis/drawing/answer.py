"""What a drawing is made of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from headwater_consumers.analysis.assets import Asset
from headwater_consumers.analysis.lineage.answer import ColumnMapping, Via


class Reach(StrEnum):
    """Which way to look from the start."""

    UPSTREAM = "UPSTREAM"
    DOWNSTREAM = "DOWNSTREAM"
    BOTH = "BOTH"


@dataclass(frozen=True, slots=True)
class DrawnColumn:
    """A column in its dataset's schema now.

    Attributes:
        key: of the node.
        name: its field path.
        type: its data type, where known.
    """

    key: str
    name: str
    type: str | None


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A dataset.

    Attributes:
        asset: which.
        hops: from the start, the nearer way: negative upstream, positive downstream, 0 the start itself.
        gone: it was dropped.
        owners: those that are declared under any of its names, else those that events report.
        tags: `key`, or `key=value`: those of events, then declared ones, also of its columns.
        criticality, classification: as events report them, else as declared.
        owners_of_jobs: of the jobs that write it, whom `impact` names where it has no owners itself; at most 20.
        more_upstream: how many datasets that feed it aren't in the answer.
        more_downstream: how many that it feeds aren't.
        columns: if asked for, in the order of the schema; at most 1,000.
        columns_total: how many there are; None if not asked for.
        sensitivity: the greatest that is declared of it or of one of its columns.
    """

    asset: Asset
    hops: int
    gone: bool
    owners: tuple[str, ...]
    tags: tuple[str, ...]
    criticality: str | None
    classification: str | None
    owners_of_jobs: tuple[str, ...]
    more_upstream: int
    more_downstream: int
    columns: tuple[DrawnColumn, ...]
    columns_total: int | None
    sensitivity: str | None = None


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """Data flows from one dataset to another, or to itself.

    Attributes:
        key: names the edge: the two keys with `>` between.
        source: key of the dataset that data comes from.
        target: key of the one that it goes to.
        via: jobs that make it flow, the one seen last first; at most 10.
        via_total: how many there are.
        columns: if asked for, what the jobs do to columns; at most 1,000.
        columns_total: how many there are; None if not asked for.
    """

    key: str
    source: str
    target: str
    via: tuple[Via, ...]
    via_total: int
    columns: tuple[ColumnMapping, ...]
    columns_total: int | None


@dataclass(frozen=True, slots=True)
class DrawingMetadata:
    """What was asked, and how much there is.

    Attributes:
        depth: as asked; None is all.
        direction: as asked.
        include_columns: as asked.
        nodes_total: datasets within the depth, the start included.
        edges_total: edges between those of the answer.
        truncated: whether there is more beyond the depth, or beyond the most nodes.
        max_hops: hops to the farthest node of the answer.
    """

    depth: int | None
    direction: Reach
    include_columns: bool
    nodes_total: int
    edges_total: int
    truncated: bool
    max_hops: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """The graph around a dataset.

    Attributes:
        start: the dataset asked of.
        nodes: the nearest first, the start itself in front.
        edges: all there are between the nodes.
        metadata: what was asked, and how much there is.
    """

    start: Asset
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    metadata: DrawingMetadata
