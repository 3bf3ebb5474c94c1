"""What a timeline is made of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater_consumers.analysis.assets import Asset
from headwater_consumers.analysis.trace.answer import OffsetSpan
from headwater_consumers.graph.derive import Because
from headwater_schemas.events import Certainty


@dataclass(frozen=True, slots=True)
class TimelineQuery:
    """A streaming query, the same over its restarts.

    Attributes:
        key: of the node.
        query_id: Spark's.
        name: as the job named it, where it did.
        checkpoint_location: where its checkpoint is.
        first_batch: the lowest batch id that is known.
        last_batch: the highest.
    """

    key: str
    query_id: str
    name: str | None
    checkpoint_location: str | None
    first_batch: int | None
    last_batch: int | None


@dataclass(frozen=True, slots=True)
class Position:
    """Which part of a dataset was read or written, in short.

    Attributes:
        dataset: whose part.
        position: `kafka`, `files`, `table_snapshot`, `table_range`, `cdc`, `api_cursor`, `time_range`, `opaque`; None
            where it isn't known.
        certainty: of it.
        rows: how many, where known.
        ranges: of `kafka`, the offsets.
        summary: of others, in words.
    """

    dataset: Asset
    position: str | None
    certainty: Certainty
    rows: int | None
    ranges: tuple[OffsetSpan, ...]
    summary: str | None


@dataclass(frozen=True, slots=True)
class Break:
    """Offsets that neither of two neighbouring micro-batches read, or that both did.

    Attributes:
        dataset: key of the topic.
        partition: its number.
        start: the first offset.
        end: the offset after the last.
    """

    dataset: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TimelineInterval:
    """A micro-batch.

    Attributes:
        key: of the node.
        query: key of its query.
        query_id: Spark's.
        batch_id: its number in the query.
        run_id: the start of the query that it ran in; None where it was only reconstructed.
        provenance: OBSERVED, or RECONCILED from the checkpoint.
        processing_time: when it began; None where it was only reconstructed.
        duration_ms: how long it took.
        rows_in: rows read.
        rows_out: rows written, where the sink reports them.
        rows_dropped_late: rows behind the watermark.
        watermark_after: the watermark that the next one has.
        code_version: of the job.
        consumed: what it read.
        produced: what it wrote.
        missing_before: how many micro-batches between the one before and this aren't known.
        gaps: offsets that neither the one before nor this read.
        overlaps: offsets that both read.
        conflicts: how many other reports there are of it, with other offsets.
    """

    key: str
    query: str
    query_id: str
    batch_id: int
    run_id: str | None
    provenance: str
    processing_time: datetime | None
    duration_ms: int | None
    rows_in: int | None
    rows_out: int | None
    rows_dropped_late: int | None
    watermark_after: datetime | None
    code_version: str | None
    consumed: tuple[Position, ...]
    produced: tuple[Position, ...]
    missing_before: int
    gaps: tuple[Break, ...]
    overlaps: tuple[Break, ...]
    conflicts: int


@dataclass(frozen=True, slots=True)
class TimelineRun:
    """A run: of a batch job, or one start of a streaming query.

    Attributes:
        key: of the node.
        run_id: its id.
        state: START, RUNNING, COMPLETE, FAIL, ABORT, OTHER or UNKNOWN.
        processing_type: BATCH or STREAMING.
        started_at: when.
        ended_at: when, if it did; of an inferred end, when it was last seen.
        code_version: of the job.
        error_message: of a run that failed.
        inferred_because: why its end, ABORT, is inferred; None where it reported one, or has none.
    """

    key: str
    run_id: str
    state: str
    processing_type: str | None
    started_at: datetime | None
    ended_at: datetime | None
    code_version: str | None
    error_message: str | None
    inferred_because: Because | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The latest of what happened, one page of it.

    Attributes:
        asset: the job or dataset asked of.
        job: that, if it is a job.
        queries: all streaming queries of it.
        intervals: the latest micro-batches before the page before, by query and batch id.
        runs: the latest runs, the latest first; on the first page alone.
        total: how many micro-batches all pages have.
        next_cursor: leads further back in time; None at the beginning.
    """

    asset: Asset
    job: Asset | None
    queries: tuple[TimelineQuery, ...]
    intervals: tuple[TimelineInterval, ...]
    runs: tuple[TimelineRun, ...]
    total: int
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class OverviewBar:
    """Micro-batches of a query that follow on one another, counted: one whole segment of the graph or several.

    Attributes:
        query: key of it.
        segments: how many; of days that are summarized 0.
        batches: how many micro-batches.
        summarized: how many of these aren't kept one by one, but as summaries of days; what was wrong with them but
            missing ones isn't known.
        first_batch: the lowest batch id.
        last_batch: the highest.
        first_time: the lowest processing time; None where none is known.
        last_time: the highest processing time: the last micro-batch began then.
        broken: how many micro-batches don't follow on the one before: some are missing in between, or offsets were
            skipped or read twice.
        missing: how many micro-batches aren't known, in between.
        gaps: how often offsets of a partition were skipped.
        overlaps: how often offsets of a partition were read twice.
        rewinds: how many micro-batches have offsets that go back behind those of the one before.
        conflicts: how many other reports of these micro-batches there are, with other offsets.
        failed: how many micro-batches have an assertion that failed.
        reconciled: how many were read from the checkpoint, after a crash.
    """

    query: str
    segments: int
    batches: int
    summarized: int
    first_batch: int
    last_batch: int
    first_time: datetime | None
    last_time: datetime | None
    broken: int
    missing: int
    gaps: int
    overlaps: int
    rewinds: int
    conflicts: int
    failed: int
    reconciled: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The micro-batches of a span of time, counted in bars.

    Attributes:
        asset: the job or dataset asked of.
        job: that, if it is a job.
        queries: all streaming queries of it.
        bars: by query and batch id. Those at the ends of the span reach beyond it where segments do.
        batches: how many micro-batches the bars have.
        truncated: that there is more in the span than was read: earlier segments, or queries that ended earlier.
    """

    asset: Asset
    job: Asset | None
    queries: tuple[TimelineQuery, ...]
    bars: tuple[OverviewBar, ...]
    batches: int
    truncated: bool
