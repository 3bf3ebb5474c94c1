"""Answer of a drawing: nodes, edges, metadata."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headwater_analysis.assets import Asset
from headwater_analysis.dataset_status import DatasetStatus
from headwater_analysis.lineage.hops import ColumnMapping, Via


class Reach(StrEnum):
    """Direction of the search from the start."""

    UPSTREAM = "UPSTREAM"
    DOWNSTREAM = "DOWNSTREAM"
    BOTH = "BOTH"


class ColumnScope(StrEnum):
    """Datasets whose columns are drawn: none, only the start, or all; with all, transformations are drawn, too."""

    NONE = "NONE"
    START = "START"
    ALL = "ALL"


@dataclass(frozen=True, slots=True)
class DrawnColumn:
    """A column in its dataset's schema: the current schema, or the one at the time of the question.

    Attributes:
        key: key of the node.
        name: field path.
        type: data type, where known.
    """

    key: str
    name: str
    type: str | None


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A dataset of the drawing.

    Attributes:
        asset: the dataset.
        hops: signed hops from the start on the shortest path: negative upstream, positive downstream, 0 the start
            itself. A dataset beyond the depth, added by an opened side, has the hops of the dataset whose side was
            opened, plus or minus 1, which may be 0.
        gone: whether it was dropped.
        owners: owners declared under any of its names, else the owners that events report.
        tags: tags of the dataset and its columns, as `key` or `key=value`: reported by events, then declared.
        criticality, classification: reported by events, else declared.
        owners_of_jobs: owners of the jobs that write it, at most 20; `impact` names them if the dataset has no owners.
        more_upstream: number of datasets that feed it and aren't drawn.
        more_downstream: number of datasets that it feeds and that aren't drawn.
        columns: if requested, columns in the order of the schema; at most 1,000.
        columns_total: number of columns; None if not requested.
        upstream_total: number of datasets that feed it, itself left out.
        downstream_total: number of datasets that it feeds, itself left out.
        status: its last run and the results of its latest checks now; None with `as_of`.
        sensitivity: greatest declared sensitivity of the dataset and its columns.
        contact: declared person or channel for messages, else the declared channel of the people on call.
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
    upstream_total: int
    downstream_total: int
    status: DatasetStatus | None
    sensitivity: str | None = None
    contact: str | None = None


@dataclass(frozen=True, slots=True)
class DrawnEdge:
    """Flow of data from one dataset to another, or to itself.

    Attributes:
        key: id of the edge: the keys of source and target with `>` between them.
        source: key of the dataset that is read.
        target: key of the dataset that is written.
        via: jobs that write the target from the source, the latest seen first; at most 10.
        via_total: number of all jobs that write the target from the source.
        columns: if requested, the jobs' transformations of columns; at most 1,000.
        columns_total: number of all these transformations; None if not requested.
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
    """Parameters of the question and totals of the answer.

    Attributes:
        depth: maximum number of hops in the question; None: all.
        direction: direction of the question.
        as_of: time of the question: only hops that had been seen by then; None: now.
        columns: datasets whose columns the question asks for.
        nodes_total: number of datasets, drawn or not, within the depth or on the paths between two datasets, including
            the start; plus further datasets that an opened side added.
        edges_total: number of edges between the answer's nodes.
        truncated: whether the depth, the width or the maximum number of nodes left datasets out.
        max_hops: hops to the farthest node of the answer.
    """

    depth: int | None
    direction: Reach
    as_of: datetime | None
    columns: ColumnScope
    nodes_total: int
    edges_total: int
    truncated: bool
    max_hops: int


@dataclass(frozen=True, slots=True)
class Drawing:
    """Answer: the graph around a dataset.

    Attributes:
        start: dataset of the question.
        nodes: the start, then the other datasets by distance, then in order of key.
        edges: all edges between the nodes.
        metadata: parameters of the question and totals of the answer.
    """

    start: Asset
    nodes: tuple[DrawnNode, ...]
    edges: tuple[DrawnEdge, ...]
    metadata: DrawingMetadata
