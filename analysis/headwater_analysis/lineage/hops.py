"""Answers of lineage."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from headwater_analysis.assets import Asset
from headwater_analysis.declared import ReadingConsumer
from headwater_analysis.lineage.scope import Influence, LineageDirection
from headwater_analysis.quality import DatasetQuality
from headwater_analysis.texts import TEXT
from headwater_schemas.events import TransformationKind, TransformationType

if TYPE_CHECKING:
    from neo4j import Record


@dataclass(frozen=True, slots=True)
class Transformation:
    """Transformation of one column to another by a job.

    Attributes:
        type: DIRECT: the value goes into the target; INDIRECT: the value decides which values or rows the target has.
            UNKNOWN, a type of a newer producer, counts as INDIRECT.
        kind: COPY, CAST, AGGREGATE, JOIN_DEPENDENCY … (docs/columns.md).
        subtype: OpenLineage's subtype.
        masking: whether the original value can't be recovered.
        expression: text of the expression, in terms of the input's fields.
        whole: whether it holds for every column of the output, as a filter does.
    """

    type: TransformationType
    kind: TransformationKind
    subtype: str | None = None
    masking: bool = False
    expression: Annotated[str | None, TEXT] = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class DeclaredPartitions:
    """Declared mapping from partitions of one dataset to partitions of another.

    Attributes:
        input_field, output_field: partition columns of the two datasets.
        transform: function from the first to the second: `month`, `region of`.
    """

    input_field: str
    output_field: str
    transform: str


# Treated as immutable, like `Asset` and `LineageItem`.
@dataclass(slots=True, unsafe_hash=True)
class Via:
    """A job that makes a hop.

    Attributes:
        job: the job.
        first_seen: first observation of the hop (for columns: of its plan), by an event's time. None if only declared.
        last_seen: latest known observation; None if it was after the question's `as_of`: the hop was current then.
        observed: whether some run, micro-batch or plan made the hop.
        declared: whether the hop is declared now.
        possible: whether the hop is only possible: the producer doesn't record which inputs went into which output.
        transformations: transformations of the job, for columns.
        incomplete: for columns, why the job's column lineage is incomplete, so that a missing hop proves nothing; None
            if it is complete.
        partitions: between datasets, declared mappings of partitions.
    """

    job: Asset
    first_seen: datetime | None
    last_seen: datetime | None
    observed: bool
    declared: bool
    transformations: tuple[Transformation, ...] = ()
    incomplete: str | None = None
    possible: bool = False
    partitions: tuple[DeclaredPartitions, ...] = ()


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """A column that is derived from another, along a hop between two datasets, in the direction that data flows.

    Attributes:
        source: field path in the dataset that is read; None: the dataset as a whole, that is, its rows.
        target: field path in the other dataset; None for every column.
        job: key of the job.
        transformation: transformation by the job.
    """

    source: str | None
    target: str | None
    job: str
    transformation: Transformation


@dataclass(slots=True, unsafe_hash=True)
class LineageItem:
    """An asset that was reached, and its last hop on a shortest path.

    Attributes:
        asset: a dataset or a column. Among columns, a dataset means its rows, which a filter may decide.
        hops: number of hops from the start.
        influence: for columns: DIRECT if some path has only DIRECT hops; `hops` is then the length of the shortest such
            path.
        parent: key of the asset one hop nearer: the hop leads from it (downstream) or to it (upstream). The columns of
            a dataset that was reached as a whole have this dataset as their parent, with the same `hops`.
        parent_influence: influence of the parent's item, if the answer has two items of the parent.
        via: jobs of the hop, the latest seen first; at most 10. Empty for the columns of a whole dataset.
        via_total: number of jobs that make the hop.
        gone: whether the column has left its dataset's schema, or the dataset was dropped.
        columns: if the question asks, column mappings along the hop; at most 1,000.
        columns_total: number of these mappings; None if the question doesn't ask.
    """

    asset: Asset
    hops: int
    influence: Influence | None
    parent: str
    parent_influence: Influence | None
    via: tuple[Via, ...]
    via_total: int
    gone: bool = False
    columns: tuple[ColumnMapping, ...] = ()
    columns_total: int | None = None


@dataclass(frozen=True, slots=True)
class LineageEdge:
    """A hop between two assets of a page, in the direction that data flows.

    Attributes:
        source: key of the asset that is read.
        target: key of the asset that is written.
        via: jobs of the hop, the latest seen first; at most 10. Empty for a hop from a whole dataset to its columns.
        via_total: number of jobs that make the hop.
    """

    source: str
    target: str
    via: tuple[Via, ...]
    via_total: int


@dataclass(frozen=True, slots=True)
class Lineage:
    """Page of the answer to a lineage question.

    Attributes:
        start: asset of the question.
        gone: whether the start is a column that has left its dataset's schema, or a dataset that was dropped.
        known_as: other names of the start's dataset in the graph or a catalog.
        direction: direction of the question.
        depth: maximum number of hops in the question; None: all.
        as_of: time of the question; None: now.
        since: earliest activity that counts, from the question.
        items: items of this page, by influence (DIRECT first), hops and key.
        through: assets between the start and the items that aren't on this page: filtered out, or on earlier pages.
            Together with `items`, they include every item's parent.
        edges: if the question asks, every hop between the start, `items` and `through`; by the keys of their ends.
        loops: hops from an asset to itself, for example of a job that merges rows into a table that it reads; of the
            start first, then of `items`.
        total: number of items on all pages.
        direct: for columns, number of DIRECT items.
        indirect: for columns, number of INDIRECT items.
        complete: False if there may be more assets than listed: column lineage of a job next to the start or along a
            hop of this page is incomplete or unknown; or, downstream, a job that reads the start has no known output
            from it. `notes` and `via` have the reasons.
        truncated: whether there is more beyond `depth`.
        max_hops: hops to the farthest item.
        next_cursor: cursor of the next page; None on the last page.
        unknown_until: first observation of the start, if it was after `as_of`: the start was unknown then, and nothing
            is listed; else None.
        quality: if requested, results of the latest checks of the start and the items, or of their datasets; with
            `as_of`, only of runs that had ended at that time.
        consumers: downstream, declared consumers of the start or of an item of this page; none with `as_of`.
        notes: sentences on gaps in the lineage, or on observations though nothing is listed.
    """

    start: Asset
    direction: LineageDirection
    depth: int | None
    as_of: datetime | None
    since: datetime | None
    items: tuple[LineageItem, ...]
    through: tuple[LineageItem, ...]
    total: int
    direct: int | None
    indirect: int | None
    complete: bool
    truncated: bool
    max_hops: int
    next_cursor: str | None
    edges: tuple[LineageEdge, ...] = ()
    loops: tuple[LineageEdge, ...] = ()
    gone: bool = False
    known_as: tuple[str, ...] = ()
    unknown_until: datetime | None = None
    notes: tuple[str, ...] = ()
    quality: tuple[DatasetQuality, ...] = ()
    consumers: tuple[ReadingConsumer, ...] = ()


def transformation(row: Record, *, whole: bool) -> Transformation:
    """Build a transformation from the properties of an edge."""
    return Transformation(
        TransformationType(row["type"]),
        TransformationKind(row["kind"]),
        row["subtype"],
        bool(row["masking"]),
        row["expression"],
        whole,
    )
