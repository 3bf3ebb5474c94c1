"""CaptureStatus: counters of capture so far."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_producers.outbox import OutboxFigures
from headwater_producers.spark.streaming.gaps import Gap


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureStatus:
    """Snapshot of one application's capture.

    Attributes:
        enabled: True while callbacks are being taken.
        queued: callbacks that wait for the worker.
        queued_bytes: estimated size of the JVM objects that waiting callbacks keep alive.
        received: callbacks taken since `attach`.
        dropped: callbacks rejected because the queue was full. A dropped micro-batch is backfilled later.
        failed: callbacks whose events could not be built, at least in part; the first error of each kind is logged.
        published: events that the sink accepted.
        publish_failed: events that the sink refused.
        last_error: the last failure, redacted.
        lost: events that the sink accepted and later dropped: too large for Kafka, or removed from a full outbox.
        gaps: micro-batches that were purged from the checkpoint and never emitted, as far as this process knows: the
            latest thousand.
        outbox: state and counters of the outbox; None without an outbox.
    """

    enabled: bool
    queued: int = 0
    received: int = 0
    dropped: int = 0
    failed: int = 0
    published: int = 0
    publish_failed: int = 0
    last_error: str | None = None
    queued_bytes: int = 0
    lost: int = 0
    gaps: tuple[Gap, ...] = ()
    outbox: OutboxFigures | None = None
