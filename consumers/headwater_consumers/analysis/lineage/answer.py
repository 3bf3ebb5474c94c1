"""Answers of lineage."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from headwater_consumers.analysis.assets import Asset
from headwater_consumers.analysis.declared import ReadingConsumer
from headwater_consumers.analysis.lineage.question import Influence, LineageDirection
from headwater_consumers.analysis.quality import DatasetQuality
from headwater_schemas.events import TransformationKind, TransformationType

if TYPE_CHECKING:
    from neo4j import Record


@dataclass(frozen=True, slots=True)
class Transformation:
    """What a job does to one column to make another.

    Attributes:
        type: DIRECT, the value goes into it; INDIRECT, it decides which value or row there is. UNKNOWN, a newer
            producer's word, counts as INDIRECT.
        kind: COPY, CAST, AGGREGATE, JOIN_DEPENDENCY … (docs/columns.md).
        subtype: OpenLineage's word for it.
        masking: whether the value can't be read back.
        expression: the text, in terms of the input's fields.
        whole: whether it holds for every column of the output, such as a filter does.
    """

    type: TransformationType
    kind: TransformationKind
    subtype: str | None = None
    masking: bool = False
    expression: str | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class DeclaredPartitions:
    """How partitions of one dataset become partitions of another, as declared.

    Attributes:
        input_field, output_field: their partition columns.
        transform: how the second comes from the first: `month`, `region of`.
    """

    input_field: str
    output_field: str
    transform: str


# As an `Asset`, nothing changes one, nor an item.
@dataclass(slots=True, unsafe_hash=True)
class Via:
    """A job that makes a hop.

    Attributes:
        job: which.
        first_seen: when it was first seen to, by an event's time; of columns, its plan. None of what is only declared.
        last_seen: the latest such time that is known; None where that is after the question's `as_of`: it was going
            on then.
        observed: some run, micro-batch or plan did.
        declared: it is declared now.
        possible: some run or micro-batch possibly did, and nothing better is known: its producer doesn't record which
            inputs went into which output.
        transformations: of columns, what it does.
        incomplete: of columns, why a missing hop of this job proves nothing; None where its lineage is complete.
        partitions: between datasets, which partitions become which, as declared.
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
    """Along a hop between two datasets, one column that makes another, in the direction that data flows.

    Attributes:
        source: field path in the one that data comes from; None for the dataset as a whole, its rows.
        target: field path in the other; None for every column.
        job: key of the job.
        transformation: what it does.
    """

    source: str | None
    target: str | None
    job: str
    transformation: Transformation


@dataclass(slots=True, unsafe_hash=True)
class LineageItem:
    """An asset that was reached, and its last hop on a shortest path.

    Attributes:
        asset: a dataset or a column; among columns, a dataset stands for its rows, which a filter, say, decides.
        hops: from the asset asked of.
        influence: of columns: DIRECT where some path is DIRECT all along, and `hops` is that of the shortest such path.
        parent: key of the asset that the hop leads from (downstream) or to (upstream), one hop nearer. The columns of a
            dataset that was reached as a whole have the dataset, at as many hops as they.
        parent_influence: which of the parent's two places in the answer is meant, where it has two.
        via: jobs that make the hop, the one seen last first; at most 10. None for the columns of a whole dataset.
        via_total: how many there are.
        gone: a column that is in its dataset's schema no more, or a dataset that was dropped.
        columns: if asked for, what the hop does to columns; at most 1,000.
        columns_total: how many there are; None if not asked for.
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
        source: key of the one that data comes from.
        target: key of the one that it goes to.
        via: jobs that make it, the one seen last first; at most 10. None from a whole dataset to its columns.
        via_total: how many there are.
    """

    source: str
    target: str
    via: tuple[Via, ...]
    via_total: int


@dataclass(frozen=True, slots=True)
class Lineage:
    """The answer, one page of it.

    Attributes:
        start: the asset asked of.
        gone: whether the start is a column that is in its dataset's schema no more, or a dataset that was dropped.
        known_as: other names of its dataset, under which the graph has parts of the answer, or a catalog the table.
        direction: as asked.
        depth: as asked; None is all.
        as_of: as asked.
        since: as asked.
        items: this page, the DIRECT before the INDIRECT, then by hops, then by key.
        through: what isn't on this page and yet lies between the start and what is: items that filters leave out, or of
            pages before. With them, every item's parent is known.
        edges: unless not asked for, every hop between the start, `items` and `through`; by the keys of their ends.
        loops: hops from an asset to itself, as a job makes that merges into a table what it reads from it: first the
            start's, then those of `items`.
        total: how many items all pages have.
        direct: of columns, how many of them are DIRECT.
        indirect: of columns, how many are INDIRECT.
        complete: False where column lineage of a job that bears on the answer, next to the start or along a hop of this
            page, is incomplete or isn't known, or (downstream) a job that reads the start has no known output of it:
            there may be more than is listed, `notes` and `via` have the reasons.
        truncated: whether there is more beyond `depth`.
        max_hops: hops to the farthest item.
        next_cursor: leads to the next page; None on the last.
        unknown_until: when the start was first seen, where that was after `as_of`: then it wasn't known, and nothing is
            listed; else None.
        quality: if asked for, what the latest checks found of the start and the items, or their datasets, that were
            checked; `as_of` a time, only runs that were over by then.
        consumers: downstream, who is declared now to read the start or an item of this page; none if asked `as_of` a
            time.
        notes: what else to know: where what is known is incomplete, or what was seen though nothing is listed.
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
    """From the properties of an edge."""
    return Transformation(
        TransformationType(row["type"]),
        TransformationKind(row["kind"]),
        row["subtype"],
        bool(row["masking"]),
        row["expression"],
        whole,
    )
