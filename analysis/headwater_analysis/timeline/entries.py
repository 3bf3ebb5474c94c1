"""Answers of a timeline."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from headwater_analysis.assets import Asset
from headwater_analysis.runs.records import Joint
from headwater_analysis.texts import TEXT
from headwater_analysis.trace.traced_parts import OffsetSpan
from headwater_graph.derive import Because
from headwater_schemas.events import Certainty


@dataclass(frozen=True, slots=True)
class TimelineQuery:
    """A streaming query, the same over its restarts.

    Attributes:
        key: key of the node.
        query_id: Spark's id.
        name: name in the job, if any.
        checkpoint_location: location of its checkpoint.
        first_batch: lowest known batch id.
        last_batch: highest known batch id.
    """

    key: str
    query_id: str
    name: str | None
    checkpoint_location: Annotated[str | None, TEXT]
    first_batch: int | None
    last_batch: int | None


@dataclass(frozen=True, slots=True)
class TimelinePart:
    """Summary of a part of a dataset that was read or written.

    Attributes:
        dataset: the dataset.
        position: `kafka`, `files`, `table_snapshot`, `table_range`, `cdc`, `api_cursor`, `time_range`, `opaque`; None
            where unknown.
        certainty: certainty of the position.
        rows: number of rows, where known.
        ranges: offset ranges of `kafka`.
        summary: description of any other position.
    """

    dataset: Asset
    position: str | None
    certainty: Certainty
    rows: int | None
    ranges: tuple[OffsetSpan, ...]
    summary: Annotated[str | None, TEXT]


@dataclass(frozen=True, slots=True)
class Break(Joint):
    """Offsets that neither of two neighbouring micro-batches read (a gap), or that both read (an overlap)."""


@dataclass(frozen=True, slots=True)
class TimelineInterval:
    """A micro-batch.

    Attributes:
        key: key of the node.
        query: key of its query.
        query_id: Spark's id of the query.
        batch_id: Spark's batch id.
        run_id: run (start of the query) in which it ran; None if it was only reconstructed.
        provenance: OBSERVED, or RECONCILED from the checkpoint.
        processing_time: start of the micro-batch; None if it was only reconstructed.
        duration_ms: duration of the micro-batch.
        rows_in: rows read.
        rows_out: rows written, where the sink reports them.
        rows_dropped_late: rows behind the watermark.
        watermark_after: watermark of the next micro-batch.
        code_version: code version of the job.
        consumed: parts of datasets that it read.
        produced: parts of datasets that it wrote.
        missing_before: number of unknown micro-batches between the previous one and this one.
        gaps: offsets that neither this micro-batch nor the previous one read.
        overlaps: offsets that both micro-batches read.
        conflicts: number of conflicting reports of the micro-batch, with other offsets.
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
    consumed: tuple[TimelinePart, ...]
    produced: tuple[TimelinePart, ...]
    missing_before: int
    gaps: tuple[Break, ...]
    overlaps: tuple[Break, ...]
    conflicts: int


@dataclass(frozen=True, slots=True)
class TimelineRun:
    """A run: of a batch job, or one start of a streaming query.

    Attributes:
        key: key of the node.
        run_id: id of the run.
        state: START, RUNNING, COMPLETE, FAIL, ABORT, OTHER or UNKNOWN.
        processing_type: BATCH or STREAMING.
        started_at: start of the run.
        ended_at: end of the run, if any; for an inferred end, the time when it was last seen.
        code_version: code version of the job.
        error_message: message of a run that failed.
        inferred_because: reason why its end, ABORT, is inferred; None if its end was reported, or if it has no end.
    """

    key: str
    run_id: str
    state: str
    processing_type: str | None
    started_at: datetime | None
    ended_at: datetime | None
    code_version: str | None
    error_message: Annotated[str | None, TEXT]
    inferred_because: Because | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """Page of the latest micro-batches and runs.

    Attributes:
        asset: the job or dataset.
        job: the asset, if it is a job.
        queries: all its streaming queries.
        intervals: micro-batches of this page, by query and batch id; later pages go back in time.
        runs: latest runs, the latest first; only on the first page.
        total: number of micro-batches on all pages.
        next_cursor: cursor of the page further back in time; None at the beginning.
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
    """Consecutive micro-batches of a query, counted: one or several whole segments of the graph.

    Attributes:
        query: key of the query.
        segments: number of segments; 0 for summarized days.
        batches: number of micro-batches.
        summarized: number of micro-batches that are only in daily summaries; of faults, only missing batches are known.
        first_batch: lowest batch id.
        last_batch: highest batch id.
        first_time: lowest processing time; None if none is known.
        last_time: highest processing time, when the last micro-batch began.
        broken: number of micro-batches that don't continue the previous one: some are missing in between, or offsets
            were skipped or read twice.
        missing: number of missing micro-batches in between.
        gaps: number of times that offsets of a partition were skipped.
        overlaps: number of times that offsets of a partition were read twice.
        rewinds: number of micro-batches whose offsets go back behind the offsets of the previous micro-batch.
        conflicts: number of conflicting reports of these micro-batches, with other offsets.
        failed: number of micro-batches with a failed assertion.
        reconciled: number of micro-batches that were recovered from the checkpoint after a crash.
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
    """Micro-batches of a span of time, counted in bars.

    Attributes:
        asset: the job or dataset.
        job: the asset, if it is a job.
        queries: all its streaming queries.
        bars: bars in order of query and batch id. Segments at the ends of the span may reach beyond it.
        batches: number of micro-batches in the bars.
        truncated: whether the span has more than was read: earlier segments, or queries that ended earlier.
    """

    asset: Asset
    job: Asset | None
    queries: tuple[TimelineQuery, ...]
    bars: tuple[OverviewBar, ...]
    batches: int
    truncated: bool
