"""Backfill: emits from checkpoints the micro-batches that weren't emitted when they were committed.

    a query starts      the last committed micro-batches: the previous process may have been killed before it emitted
    them
    a batch is skipped  its progress was dropped, because too many callbacks waited
    a query ends        its committed micro-batches that were never emitted
    now and then        with a continuous trigger, which reports no progress: its epochs

Each micro-batch is emitted as RECONCILED, without a run. If the micro-batch was observed, too, the two events merge,
and the observed event wins. Files are read for a few micro-batches at a time, so that the worker can do other work in
between. Micro-batches that the checkpoint no longer has are reported as a gap.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Final

import msgspec

from headwater_producers.spark.common.errors import CheckpointError
from headwater_producers.spark.common.metrics import EarlierEmission
from headwater_producers.spark.common.run_all import run_all
from headwater_producers.spark.events.context import Emit, EventContext
from headwater_producers.spark.events.writes import Write, outputs_inside
from headwater_producers.spark.jvm.files import TextFiles
from headwater_producers.spark.streaming.checkpoint import QueryLog
from headwater_producers.spark.streaming.gaps import Gap, Gaps, spans
from headwater_producers.spark.streaming.interval import rows_of
from headwater_producers.spark.streaming.interval_events import LastEmittedStore
from headwater_producers.spark.streaming.rebuild import QueryIdentity, Rebuilder, interval_events
from headwater_producers.spark.streaming.stream_run import StreamRun
from headwater_schemas.events import EmissionReason, IntervalEntry

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class BackfillTask:
    """Backfill of one run.

    Attributes:
        before: micro-batches planned at this time or later are left out: the run emits them itself.
        noted: id of the last micro-batch that is known to have been emitted before this task.
        gone: batch ids that were purged from the checkpoint.
        plan: digest of the plan of micro-batches that weren't emitted, if certain.
        unrecoverable: batch ids that couldn't be rebuilt.
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
        """Return True if a micro-batch, by its planned time, belongs to this task."""
        return planned_at is None or self.before is None or planned_at < self.before

    def missing(self, now: datetime) -> list[Gap]:
        """List the gaps: batch ids that were purged or couldn't be rebuilt, and weren't emitted before.

        Call this after the last attempt to rebuild micro-batches.
        """
        at_start = self.reason is EmissionReason.START
        emitted = self.noted if at_start and self.noted is not None else -1
        found = spans(batch for batch in self.unrecoverable if batch > emitted)
        if self.gone:
            joined = bool(found) and found[0][0] == self.gone.stop
            found[: int(joined)] = [(self.gone.start, found[0][1] if joined else self.gone.stop - 1)]
        # A process before this start may have emitted the missing micro-batches.
        certainty = EarlierEmission.UNKNOWN if at_start and self.noted is None else EarlierEmission.NEVER
        run = self.run
        return [
            Gap(query_id=run.query_id, name=run.name, first=first, last=last, emitted=certainty, noticed_at=now)
            for first, last in found
        ]


# Maximum number of micro-batches in one step. Each has two to four small files: 10 micro-batches take about 5 ms on a
# local disk, 1 s in an object store.
STEP: Final = 10
# Maximum number of rebuilt micro-batches that wait to be sent.
_MAX_HELD: Final = 50


class Backfill:
    """Backfill tasks of all runs. Only for the worker's thread.

    Args:
        emit: function that emits an event; returns False if refused.
        max_batches: number of latest micro-batches to backfill at a query's start; 0: none.
        gaps: receiver of micro-batches that can no longer be recovered.
        store: keeps the last emitted micro-batch of each query.
        per_event: maximum number of consecutive micro-batches in an event; with 1, each event has the same id as the
            event of the observed micro-batch.
        inside: emits the datasets and the column lineage of writes inside foreachBatch; returns the lineage's digest.
    """

    def __init__(
        self,
        *,
        context: EventContext,
        emit: Emit,
        files: TextFiles,
        max_batches: int,
        gaps: Gaps | None = None,
        store: LastEmittedStore | None = None,
        per_event: int = 1,
        inside: Callable[[StreamRun, Sequence[Write], datetime], str | None] | None = None,
    ) -> None:
        self._context = context
        self._emit = emit
        self._files = files
        self._max_batches = max_batches
        self._gaps = gaps or Gaps()
        self._store = store or LastEmittedStore()
        self._per_event = per_event
        self._inside = inside
        self._work: deque[BackfillTask] = deque()

    def __bool__(self) -> bool:
        return bool(self._work)

    def started(self, run: StreamRun) -> None:
        """Enqueue the backfill of a query that continues from its checkpoint."""
        self._guarded(run, self._started)

    def skipped(self, run: StreamRun, batches: Iterable[int]) -> None:
        """Enqueue micro-batches whose progress was never received, although a later progress was."""
        self._guarded(run, lambda run, log: self._add(run, log, batches, EmissionReason.CHECKPOINT))

    def committed(self, run: StreamRun, reason: EmissionReason) -> None:
        """Enqueue the micro-batches that a query has committed since its last emitted micro-batch."""
        self._guarded(run, lambda run, log: self._unemitted(run, log, reason))

    def ended(self, run: StreamRun, reason: EmissionReason) -> None:
        """Backfill the unemitted micro-batches of an ended query at once."""
        self.committed(run, reason)
        run_all(self._steps(run))

    def _started(self, run: StreamRun, log: QueryLog) -> None:
        committed = log.committed()
        newest = committed[-1] if committed else -1
        if run.chain.emitted_until is not None and run.chain.emitted_until > newest:
            run.chain.set_back(newest)
        emitted = run.chain.emitted_until
        # Earlier micro-batches were reported as a gap already.
        gone = range(0 if emitted is None else emitted + 1, committed[0] if committed else 0)
        unemitted = [batch for batch in committed[-self._max_batches :] if not run.chain.has(batch)]
        # This run emits its own later commits itself.
        self._add(run, log, unemitted, EmissionReason.START, before=run.started_at, gone=gone)

    def _unemitted(self, run: StreamRun, log: QueryLog, reason: EmissionReason) -> None:
        emitted = run.chain.emitted_until
        left_out = set(run.batches.take_left_out(run.chain))
        unemitted = [batch for batch in log.committed() if emitted is None or batch > emitted or batch in left_out]
        self._add(run, log, unemitted, reason)
        for batch in unemitted:
            run.chain.add(batch)

    def step(self) -> None:
        """Rebuild the next few micro-batches; emit an event when it is full or complete.

        Raises:
            OSError, Py4JError: a micro-batch's file couldn't be read just now. The other micro-batches were emitted;
                `headwater reconcile` recovers this micro-batch.
        """
        if not self._work:
            return
        work = self._work[0]
        batches = [work.batches.popleft() for _ in range(min(STEP, len(work.batches)))]
        run_all([*(partial(self._rebuild, work, batch) for batch in batches), partial(self._stepped, work)])

    def _steps(self, run: StreamRun) -> Iterator[Callable[[], None]]:
        while any(work.run is run for work in self._work):
            yield self.step

    def _stepped(self, work: BackfillTask) -> None:
        if not work.batches:
            self._work.popleft()
            self._miss(work)
        if not work.batches or len(work.entries) + STEP > _MAX_HELD:
            self._send(work)

    def _rebuild(self, work: BackfillTask, batch_id: int) -> None:
        try:
            entry = work.rebuilder.entry(batch_id)
        except CheckpointError as reason:
            logger.info("lineage capture: query %s: micro-batch not backfilled: %s", work.run.query_id, reason)
            work.unrecoverable.append(batch_id)
            return
        except Exception as error:
            # The object store failed, or a file is truncated: the next micro-batch may be readable.
            logger.warning(
                "lineage capture: query %s: micro-batch %d not backfilled: %s",
                work.run.query_id,
                batch_id,
                type(error).__name__,
            )
            raise
        if work.wants(entry.processing_time):
            is_new = work.reason is not EmissionReason.START or (work.noted is not None and batch_id > work.noted)
            known = msgspec.structs.replace(entry, plan_digest=work.plan if is_new else None)
            work.entries.append(self._with_writes(work, known, datetime.now(UTC)))
        else:
            work.run.batches.left_out.append(batch_id)

    def _with_writes(self, work: BackfillTask, entry: IntervalEntry, at: datetime) -> IntervalEntry:
        """Add the observed writes of a foreachBatch call to an entry: the checkpoint doesn't have their outputs.

        The micro-batch in which the run failed gets no writes: another start may have committed it, with its own
        writes.
        """
        run, batch_id = work.run, entry.batch_id
        if work.reason is EmissionReason.FAILURE and batch_id == max(run.batches.called, default=None):
            return entry
        writes = run.batches.writes.pop(batch_id, []) if work.reason is not EmissionReason.START else []
        if not writes:
            return entry
        outputs = outputs_inside(writes)
        digest = self._inside(run, writes, at) if self._inside is not None else None
        return msgspec.structs.replace(entry, outputs=outputs, rows_out=rows_of(outputs), plan_digest=digest)

    def _send(self, work: BackfillTask) -> None:
        run, entries = work.run, work.entries
        work.entries = []
        if run.job is None:
            return
        query = QueryIdentity(
            tenant=self._context.tenant,
            job=run.job,
            query_id=run.query_id,
            producer=self._context.producer,
            query_name=run.name,
            checkpoint_location=work.log.location,
            reason=work.reason,
        )
        events = interval_events(query, entries, per_event=self._per_event, now=datetime.now(UTC))
        taken = [event.interval_event for event in events if self._emit(event) is not False]
        last = max((body.entries[-1].batch_id for body in taken if body is not None), default=None)
        if last is not None:
            self._store.write(run.query_id, run.chain.sent(last))

    def _miss(self, work: BackfillTask) -> None:
        """Record a gap for each range of micro-batches that can't be recovered."""
        for gap in work.missing(datetime.now(UTC)):
            work.run.gaps.append(gap)
            self._gaps.add(gap)

    def _guarded(self, run: StreamRun, look: Callable[[StreamRun, QueryLog], None]) -> None:
        """Call `look` with the log in a run's checkpoint; log any error, so that observed lineage is still emitted."""
        if not self._max_batches or run.checkpoint is None or run.description is None:
            return
        try:
            look(run, QueryLog(run.checkpoint.location, self._files))
        except Exception as error:
            logger.warning(
                "lineage capture: query %s: checkpoint unreadable (%s); micro-batches not emitted yet stay a gap",
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
        gone: range = range(0),
    ) -> None:
        waiting = deque(batches)
        link = run.description.streaming if run.description is not None else None
        if not (waiting or gone) or run.description is None:
            return
        rebuilder = Rebuilder(
            log,
            self._files,
            inputs=run.description.inputs,
            # A continuous query's plan doesn't name its sources.
            sources=len(link.source_descriptions) if link is not None else None,
            outputs=run.description.outputs,
            commits=run.commits,
        )
        noted = run.chain.emitted_until
        # Runs before this start had the same plan only if the last emitted micro-batch had it.
        is_same = reason is not EmissionReason.START or run.chain.plan_digest == run.plan_digest
        plan = run.plan_digest if is_same else None
        self._work.append(BackfillTask(run, rebuilder, log, waiting, reason, before, noted, gone, plan))
