"""CatchingUp: telling from checkpoints what wasn't told when it happened.

    a query starts      what the process before may have been killed with: the last committed micro-batches
    a batch is skipped  its progress was dropped, because too many callbacks waited
    a query ends        whatever of it was committed and never told
    now and then        with a continuous trigger, which reports no progress: its epochs

Each is told as RECONCILED, without a run. It merges with what was observed, which wins. Files are read a few
micro-batches at a time, so that the worker gets to do other things in between.
"""

from __future__ import annotations

import logging
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from headwater_producers.spark.reconcile import CheckpointError, QueryLog, Rebuilder, Whose, interval_events
from headwater_producers.spark.streaming.run import StreamRun
from headwater_schemas.events import EmissionReason, IntervalEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from headwater_producers.spark.events.context import EventContext
    from headwater_producers.spark.streaming.spark_log import TextFiles
    from headwater_schemas.events import LineageEvent

logger = logging.getLogger(__name__)

# A micro-batch takes two to four small files: 10 of them some 5 ms on a local disk, a second in an object store.
STEP: Final = 10
_PER_EVENT: Final = 50


@dataclass(slots=True)
class _Work:
    """Micro-batches to rebuild, but only those planned before `before` and from `since` on, where times are known."""

    run: StreamRun
    rebuilder: Rebuilder
    log: QueryLog
    batches: deque[int]
    reason: EmissionReason
    before: datetime | None
    since: datetime | None
    entries: list[IntervalEntry]

    def wants(self, planned_at: datetime | None) -> bool:
        """Whether a micro-batch is one of those meant."""
        if planned_at is None:
            return True
        return not (self.before and planned_at >= self.before) and not (self.since and planned_at < self.since)


class CatchingUp:
    """What is to be told from checkpoints, of all runs. The worker's alone.

    Args:
        context: of the application.
        emit: takes each event.
        files: to read checkpoints with.
        max_batches: how many of the last micro-batches are told at a query's start; 0: nothing is ever told from a
            checkpoint.
    """

    def __init__(
        self, *, context: EventContext, emit: Callable[[LineageEvent], None], files: TextFiles, max_batches: int
    ) -> None:
        self._context = context
        self._emit = emit
        self._files = files
        self._max_batches = max_batches
        self._work: deque[_Work] = deque()

    def __bool__(self) -> bool:
        return bool(self._work)

    def started(self, run: StreamRun) -> None:
        """A query goes on from its checkpoint."""
        self._guarded(run, self._started)

    def skipped(self, run: StreamRun, batches: Iterable[int]) -> None:
        """Micro-batches of which no progress came, though a later one's did."""
        self._guarded(run, lambda run, log: self._add(run, log, batches, EmissionReason.CHECKPOINT))

    def committed(self, run: StreamRun, reason: EmissionReason) -> None:
        """What a query has committed since the last that was told."""
        self._guarded(run, lambda run, log: self._untold(run, log, reason))

    def ended(self, run: StreamRun) -> None:
        """A query has ended: the same, at once."""
        self.committed(run, EmissionReason.STOP)
        while any(work.run is run for work in self._work):
            self.step()

    def _started(self, run: StreamRun, log: QueryLog) -> None:
        committed = log.committed()
        if committed and committed[0] > 0 and run.chain.last is None:
            logger.info(
                "lineage capture: query %s: its checkpoint has micro-batches from %d on; earlier ones that were never "
                "captured are a gap",
                run.query_id,
                committed[0],
            )
        untold = [batch for batch in committed[-self._max_batches :] if not run.chain.has(batch)]
        # What this run has committed meanwhile it tells itself.
        self._add(run, log, untold, EmissionReason.START, before=run.started_at)

    def _untold(self, run: StreamRun, log: QueryLog, reason: EmissionReason) -> None:
        last = run.chain.last if run.chain.last is not None else -1
        untold = [batch for batch in log.committed() if batch > last]
        self._add(run, log, untold, reason, since=run.started_at)
        for batch in untold:
            run.chain.add(batch)

    def step(self) -> None:
        """Rebuilds the next few micro-batches; an event goes out when it is full, or nothing more comes."""
        if not self._work:
            return
        work = self._work[0]
        for _ in range(min(STEP, len(work.batches))):
            self._rebuild(work, work.batches.popleft())
        if not work.batches:
            self._work.popleft()
        if not work.batches or len(work.entries) + STEP > _PER_EVENT:
            self._send(work)

    def _rebuild(self, work: _Work, batch_id: int) -> None:
        try:
            entry = work.rebuilder.entry(batch_id)
        except CheckpointError as reason:
            logger.info("lineage capture: query %s: not reconciled: %s", work.run.query_id, reason)
            return
        except Exception as error:
            # An object store that fails, a file cut short: the next one may be readable.
            logger.warning(
                "lineage capture: query %s: micro-batch %d not reconciled: %s",
                work.run.query_id,
                batch_id,
                type(error).__name__,
            )
            return
        if work.wants(entry.processing_time):
            work.entries.append(entry)

    def _send(self, work: _Work) -> None:
        run, entries = work.run, work.entries
        work.entries = []
        if run.job is None:
            return
        whose = Whose(
            tenant=self._context.tenant,
            job=run.job,
            query_id=run.query_id,
            producer=self._context.producer,
            query_name=run.name,
            checkpoint_location=work.log.location,
            reason=work.reason,
        )
        for event in interval_events(whose, entries, per_event=_PER_EVENT, now=datetime.now(UTC)):
            self._emit(event)

    def _guarded(self, run: StreamRun, look: Callable[[StreamRun, QueryLog], None]) -> None:
        """Looks into a run's checkpoint; that it can't be read must not keep what was observed from being told."""
        if not self._max_batches or run.checkpoint is None or run.description is None:
            return
        try:
            look(run, QueryLog(run.checkpoint.location, self._files))
        except Exception as error:
            logger.warning(
                "lineage capture: query %s: its checkpoint can't be read (%s), so what wasn't told stays a gap",
                run.query_id,
                type(error).__name__,
            )

    def _add(
        self,
        run: StreamRun,
        log: QueryLog,
        batches: Iterable[int],
        reason: EmissionReason,
        *,
        before: datetime | None = None,
        since: datetime | None = None,
    ) -> None:
        waiting = deque(batches)
        link = run.description.streaming if run.description is not None else None
        if not waiting or run.description is None:
            return
        rebuilder = Rebuilder(
            log,
            self._files,
            inputs=run.description.inputs,
            # A continuous query's plan doesn't name them.
            sources=len(link.source_descriptions) if link is not None else None,
            outputs=run.description.outputs,
            commits=run.commits,
        )
        self._work.append(_Work(run, rebuilder, log, waiting, reason, before, since, []))
