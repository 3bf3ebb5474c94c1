"""BackfillTask: micro-batches of one run to backfill from its checkpoint, and those that can't be recovered."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime

from headwater_producers.spark.metrics import Emitted
from headwater_producers.spark.reconcile import QueryLog, Rebuilder
from headwater_producers.spark.streaming.gaps import Gap, spans
from headwater_producers.spark.streaming.run import StreamRun
from headwater_schemas.events import EmissionReason, IntervalEntry


@dataclass(slots=True)
class BackfillTask:
    """The backfill of one run.

    Attributes:
        before: those planned later are left out, where that is known: the run emits them itself.
        noted: the last micro-batch that was known to be emitted before.
        gone: those that were purged from the checkpoint.
        plan: the digest of their plan, as far as it is certain; of those that weren't emitted before.
        unrecoverable: those that couldn't be rebuilt.
    """

    run: StreamRun
    rebuilder: Rebuilder
    log: QueryLog
    batches: deque[int]
    reason: EmissionReason
    before: datetime | None
    noted: int | None
    gone: range
    plan: str | None
    entries: list[IntervalEntry] = field(default_factory=list)
    unrecoverable: list[int] = field(default_factory=list)

    def wants(self, planned_at: datetime | None) -> bool:
        """Whether a micro-batch is one of those meant."""
        return planned_at is None or self.before is None or planned_at < self.before

    def missing(self, now: datetime) -> list[Gap]:
        """What is gone or couldn't be rebuilt, unless it was emitted before; to be asked when all were tried."""
        at_start = self.reason is EmissionReason.START
        emitted = self.noted if at_start and self.noted is not None else -1
        found = spans(batch for batch in self.unrecoverable if batch > emitted)
        if self.gone:
            joined = bool(found) and found[0][0] == self.gone.stop
            found[: int(joined)] = [(self.gone.start, found[0][1] if joined else self.gone.stop - 1)]
        # Before a start another process may have emitted it.
        certainty = Emitted.UNKNOWN if at_start and self.noted is None else Emitted.NEVER
        run = self.run
        return [
            Gap(query_id=run.query_id, name=run.name, first=first, last=last, emitted=certainty, noticed_at=now)
            for first, last in found
        ]
