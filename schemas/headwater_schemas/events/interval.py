"""IntervalEvent: uses of datasets by one or several consecutive micro-batches of a streaming query."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headwater_schemas.events.common import DatasetRef, Natural, Text, Time, Versions
from headwater_schemas.events.position import DatasetUse


class EmissionReason(StrEnum):
    """Reason for emitting an IntervalEvent at that time."""

    UNKNOWN = "UNKNOWN"
    CHECKPOINT = "CHECKPOINT"
    START = "START"
    SINK_COMMIT = "SINK_COMMIT"
    VERSION_CHANGE = "VERSION_CHANGE"
    QUALITY_CHANGE = "QUALITY_CHANGE"
    STOP = "STOP"
    FAILURE = "FAILURE"


class Provenance(StrEnum):
    """Provenance of an interval: observed while it ran, or reconstructed from the checkpoint. OBSERVED wins a merge."""

    UNKNOWN = "UNKNOWN"
    OBSERVED = "OBSERVED"
    RECONCILED = "RECONCILED"


class QualityResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of one data-quality assertion of a micro-batch or run.

    Attributes:
        assertion: name, unique within the interval; in a run, unique for the dataset, the column and the suite.
        passed: True if the assertion held.
        column: field path, None for the whole dataset.
        value: measured value.
        dataset: dataset that was checked; None: the output of the interval or run.
        rule: kind of assertion: COMPLETENESS, UNIQUENESS, VALIDITY, RANGE, REFERENTIAL, FRESHNESS, VOLUME, SCHEMA,
            DRIFT, PRIVACY, or another word.
        severity: severity of a failure, as its tool names it: `error`, `warn`.
        suite: suite or check of the tool.
    """

    assertion: str
    passed: bool
    column: str | None = None
    value: float | None = None
    dataset: DatasetRef | None = None
    rule: str | None = None
    severity: str | None = None
    suite: str | None = None
    suite_version: str | None = None


class IntervalEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One micro-batch.

    Attributes:
        batch_id: Spark's batch id, from 0.
        processing_time: time at which Spark began the micro-batch (its trigger).
        inputs, outputs: the parts consumed and produced; a source without new data has an empty range.
        watermark_before, watermark_after: event-time watermark of the micro-batch, and the watermark that it set.
        duration_ms: duration of the trigger's execution.
        rows_in, rows_out: sums over all sources and sinks; None if Spark doesn't report them.
        rows_dropped_late: rows behind the watermark.
        state_rows, state_bytes: totals of all stateful operators after the batch.
        quality: results of data-quality assertions.
        plan_digest: digest of the PlanEvent with this batch's column lineage.
    """

    batch_id: Natural
    processing_time: Time | None = None
    inputs: tuple[DatasetUse, ...] = ()
    outputs: tuple[DatasetUse, ...] = ()
    watermark_before: Time | None = None
    watermark_after: Time | None = None
    duration_ms: int | None = None
    rows_in: int | None = None
    rows_out: int | None = None
    rows_dropped_late: int | None = None
    state_rows: int | None = None
    state_bytes: int | None = None
    quality: tuple[QualityResult, ...] = ()
    plan_digest: str | None = None


class IntervalEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One or several consecutive micro-batches of one streaming query.

    Attributes:
        query_id: Spark's query id, the same over restarts from one checkpoint.
        entries: at least one, by ascending, consecutive batch id.
        query_name: name that the job gave the query.
        checkpoint_location: checkpoint of the query, a URI.
        versions: code, configuration and engine of the batches.
        provenance: origin of the report.
    """

    query_id: Text
    entries: tuple[IntervalEntry, ...]
    query_name: str | None = None
    checkpoint_location: str | None = None
    versions: Versions | None = None
    reason: EmissionReason = EmissionReason.UNKNOWN
    provenance: Provenance = Provenance.UNKNOWN
