"""What is said of micro-batches, and of the parts of datasets that they and runs use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater_consumers.analysis.assets import Asset
from headwater_consumers.analysis.trace.answer import OffsetSpan
from headwater_schemas.events import Certainty, Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """The part of a dataset that a run or micro-batch read or wrote.

    Attributes:
        dataset: which.
        ordinal: 0, or how many times it used the dataset before.
        position: `kafka`, `files`, `table_snapshot` … (docs/graph.md); None where the part isn't known.
        certainty: of the position.
        offsets: of `kafka`, by partition, ascending.
        topic_id: Kafka's id of the topic's incarnation.
        format: of a table.
        version: snapshot id, last version of a range, or digest of a manifest.
        from_version: of a range of a table's versions, the one before the first.
        partitions: of a table.
        paths: of files, those that were listed.
        text: any other position, in words.
        rows, bytes, files: how much, where known.
    """

    dataset: Asset
    ordinal: int = 0
    position: str | None = None
    certainty: Certainty | None = None
    offsets: tuple[OffsetSpan, ...] = ()
    topic_id: str | None = None
    format: str | None = None
    version: str | None = None
    from_version: str | None = None
    partitions: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    text: str | None = None
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None


@dataclass(frozen=True, slots=True)
class Joint:
    """Offsets that neither of two neighbouring micro-batches read, or both.

    Attributes:
        dataset: key of the topic's node.
        partition: of the topic.
        start, end: offsets, half-open.
    """

    dataset: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Quality:
    """An assertion on what a micro-batch wrote.

    Attributes:
        assertion: its name.
        passed: whether it held.
        column: field path; None of the whole.
        value: what was measured; None where it isn't known.
    """

    assertion: str
    passed: bool
    column: str | None
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalItem:
    """One micro-batch, and how it joins the one before.

    Attributes:
        key: of the node.
        query_id: of the streaming query.
        batch_id: Spark's.
        provenance: OBSERVED, or RECONCILED from the checkpoint.
        run_id: of the run that it was observed in.
        processing_time: when it ran.
        duration_ms: how long.
        rows_in, rows_out, rows_dropped_late, state_rows: how many, where known.
        watermark_before, watermark_after: event time.
        code_version, plan_digest: what it ran.
        inputs, outputs: the parts of datasets.
        quality: assertions on it.
        missing: batches right before it that aren't known; of a query's first one, those since batch 0.
        gaps: offsets between the one before and this that neither read.
        overlaps: offsets that both read.
        rewinds: whether positions go back here.
        conflicts: other reports of the same batch.
    """

    key: str
    query_id: str
    batch_id: int
    provenance: Provenance
    run_id: str | None
    processing_time: datetime | None
    duration_ms: int | None
    rows_in: int | None
    rows_out: int | None
    rows_dropped_late: int | None
    state_rows: int | None
    watermark_before: datetime | None
    watermark_after: datetime | None
    code_version: str | None
    plan_digest: str | None
    inputs: tuple[Use, ...]
    outputs: tuple[Use, ...]
    quality: tuple[Quality, ...]
    missing: int
    gaps: tuple[Joint, ...]
    overlaps: tuple[Joint, ...]
    rewinds: bool
    conflicts: int

    @property
    def is_sound(self) -> bool:
        """Whether it follows the one before without fault, and was reported in one way alone."""
        return not (self.missing or self.gaps or self.overlaps or self.conflicts)


@dataclass(frozen=True, slots=True)
class IntervalPage:
    """Micro-batches in batch order; of a job with several streaming queries, one query after the other.

    Attributes:
        items: of this page.
        total: how many there are.
        next_cursor: where the next page begins; None on the last.
    """

    items: tuple[IntervalItem, ...]
    total: int
    next_cursor: str | None
