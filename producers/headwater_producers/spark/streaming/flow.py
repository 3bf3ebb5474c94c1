"""StreamFlow: the events of streaming queries, and the times of their emission.

A run's START is emitted as soon as its plan can be read, its end when Spark reports it. Between them each committed
micro-batch is an interval. A micro-batch of foreachBatch waits until the writes inside it have been reported. Spark
reports these writes over another queue than the progress. `settle` emits the micro-batch when that queue is empty;
`settle_overdue` emits it after too long a wait. A write that is reported even later is emitted by sending its interval
again: the two events merge. Committed micro-batches that weren't emitted are backfilled from the checkpoint: see
`backfill`.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from headwater_producers.spark.common.run_all import run_all
from headwater_producers.spark.connectors.kafka.observed_topics import ObservedTopics
from headwater_producers.spark.events.batch import hash_of, heartbeat_facet, job_events
from headwater_producers.spark.events.context import Emit, EventContext
from headwater_producers.spark.events.datasets import dataset_bodies
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.events.job_names import streaming_name
from headwater_producers.spark.events.plans import new_plan_event
from headwater_producers.spark.events.writes import Write
from headwater_producers.spark.jvm.files import TextFiles
from headwater_producers.spark.plan import PlanDescription, Upstream
from headwater_producers.spark.streaming.backfill import Backfill
from headwater_producers.spark.streaming.checkpoint import StreamCheckpoint
from headwater_producers.spark.streaming.interval import QueryProgress, SinkCommits, interval_entry, micro_batch_facts
from headwater_producers.spark.streaming.interval_events import (
    Coalescing,
    EmittedChains,
    IntervalBuffer,
    IntervalSender,
    LastEmittedStore,
)
from headwater_producers.spark.streaming.links import MicroBatch
from headwater_producers.spark.streaming.stream_run import (
    UNCOMMITTED_FACET,
    WATERMARK_POLICY,
    RunEnding,
    Runs,
    StreamRun,
    run_facets,
    sink_facet,
    uncommitted_facet,
)
from headwater_schemas.events import (
    EmissionReason,
    JobRef,
    ProcessingType,
    PublicationState,
    RunError,
    RunEvent,
    RunEventType,
)

logger = logging.getLogger(__name__)


class StreamEmitter:
    """Emitter of a streaming run's events. Its intervals are sent by `intervals`.

    Args:
        emit: function that emits an event; returns False if refused.
        dedup: cache of emitted job, dataset and plan events.
        files: reader of checkpoints and sinks' logs.
        topics: the states of the topics that are read and written.
        store: keeps the last emitted micro-batch of each query.
    """

    def __init__(
        self,
        *,
        context: EventContext,
        emit: Emit,
        dedup: DedupCache,
        files: TextFiles,
        topics: ObservedTopics,
        store: LastEmittedStore | None = None,
    ) -> None:
        self.intervals = IntervalSender(context, emit, store or LastEmittedStore())
        self._context = context
        self._emit = emit
        self._dedup = dedup
        self._files = files
        self._topics = topics

    def start(self, run: StreamRun) -> None:
        """Emit START, with the run's plan if readable, and with new job, datasets and lineage."""
        query = run.query
        location = query.checkpoint_location() if query is not None else None
        run.checkpoint = StreamCheckpoint(location, self._files) if location is not None else None
        if query is not None:
            run.description = query.describe()
            run.commits = SinkCommits(query.sink_description(), run.query_id, self._files, query.sink_snapshots())
            run.is_continuous = query.is_continuous()
            run.event_time = query.event_time()
            if "policy" in run.event_time and run.checkpoint is not None:
                # A query keeps the policy of its first start.
                run.event_time["policy"] = run.checkpoint.setting(WATERMARK_POLICY) or run.event_time["policy"]
            link = run.description.streaming
            if link is not None and link.pattern_sources and run.checkpoint is not None:
                run.read_topics(run.checkpoint.topics(len(link.source_descriptions)))
        outputs = run.description.outputs if run.description is not None else ()
        # Topics are observed first: their offsets must be read before the first micro-batch's write begins.
        self._topics.observe((*run.description.inputs, *outputs) if run.description is not None else ())
        sink = query.sink_name() if query is not None else None
        run.job = job = self._context.job(streaming_name(self._context.app_name, run.name, outputs, sink))
        for event in job_events(self._context, job, ProcessingType.STREAMING, "QUERY", run.started_at, self._dedup):
            self._emit(event)
        if run.description is not None:
            run.datasets.add(run.description)
            self._datasets(run, job, run.description, run.started_at)
            run.plan_digest = self._plan(run, job, [run.description], run.started_at)
        about = sink_facet(run.description, sink, self._context.producer)
        self.state(run, RunEventType.START, run.started_at, facets=about)

    def micro_batch(self, run: StreamRun, progress: QueryProgress, at: datetime, *, now: float = 0.0) -> None:
        """Emit a committed micro-batch, perhaps again: of two events the one with the later `at` is the newer one.

        New facts of the micro-batch are emitted first: datasets and column lineage of the writes inside foreachBatch,
        new topics of a subscribed pattern, and, if a dataset is new, RUNNING with all the run's datasets so far.

        Args:
            now: monotonic seconds; the interval's wait in the buffer for further intervals begins here.
        """
        link = run.description.streaming if run.description is not None else None
        if link is not None and link.pattern_sources:
            self._new_topics(run, progress, at)
        batches = run.batches
        writes = batches.writes.get(progress.batch_id, [])
        digest = self.inside(run, writes, at) if writes else run.plan_digest
        commits = run.commits or SinkCommits(progress.sink, run.query_id, self._files)
        facts = micro_batch_facts(progress, run.description, run.checkpoint, writes, digest, commits, self._topics)
        is_called = progress.batch_id in batches.called
        entry = interval_entry(
            progress,
            run.description.inputs if run.description is not None else (),
            facts,
            self._topics,
            read_often=is_called,
            checkpoint=run.checkpoint.root if run.checkpoint is not None else None,
        )
        if progress.batch_id not in batches.emitted:
            ended = progress.started_at + timedelta(milliseconds=progress.duration_ms or 0)
            # The checkpoint doesn't have the writes inside foreachBatch: a killed driver would lose them.
            self.intervals.add(run, entry, ended, now=now, waits=not is_called)
        else:
            self.intervals.add_again(run, entry, at)
        batches.remember(progress)

    def _new_topics(self, run: StreamRun, progress: QueryProgress, at: datetime) -> None:
        """Emit new topics that match a subscribed pattern, and the plan's lineage with them."""
        if not run.read_topics(progress.topics()) or run.description is None:
            return
        job = run.known_job()
        self._datasets(run, job, run.description, at)
        run.plan_digest = self._plan(run, job, [run.description], at)
        if run.datasets.add(run.description):
            self.state(run, RunEventType.RUNNING, at)

    def inside(self, run: StreamRun, writes: Sequence[Write], at: datetime) -> str | None:
        """Emit new datasets and column lineage of writes inside foreachBatch.

        Returns:
            The digest of their column lineage.
        """
        has_new, digest = self._writes(run, writes, at)
        if has_new:
            self.state(run, RunEventType.RUNNING, at)
        return digest

    def end(self, run: StreamRun, ending: RunEnding) -> None:
        """Emit the end of a run, with the writes of its last micro-batch if this micro-batch wasn't committed."""
        facets = {}
        if uncommitted := run.batches.uncommitted(run.chain):
            writes = [write for batch in uncommitted.values() for write in batch]
            _, written = self._writes(run, writes, ending.at)
            run.plan_digest = run.plan_digest or written
            facets[UNCOMMITTED_FACET] = uncommitted_facet(uncommitted, self._context.producer)
        # The writes are committed, though the micro-batch wasn't.
        is_partial = bool(uncommitted) and ending.kind is RunEventType.FAIL
        publication = PublicationState.PARTIAL if is_partial else PublicationState.UNKNOWN
        self.state(run, ending.kind, ending.at, ending.error, facets, publication=publication)

    def heartbeat(self, seconds: float) -> dict[str, str]:
        """Return the facet of a RUNNING, with the seconds until the next heartbeat."""
        return heartbeat_facet(seconds, self._context.producer)

    def state(
        self,
        run: StreamRun,
        kind: RunEventType,
        at: datetime,
        error: RunError | None = None,
        facets: Mapping[str, str] | None = None,
        publication: PublicationState = PublicationState.UNKNOWN,
    ) -> None:
        """Emit a change of the run's state, with its datasets and gaps so far."""
        run.gaps_emitted = len(run.gaps)
        body = RunEvent(
            type=kind,
            processing_type=ProcessingType.STREAMING,
            inputs=run.datasets.inputs(),
            outputs=run.datasets.outputs(),
            started_at=run.started_at,
            ended_at=at if kind.is_terminal else None,
            versions=self._context.versions,
            parent=self._context.parent,
            root=self._context.root,
            error=error,
            publication=publication,
            plan_digest=run.plan_digest,
            query_id=run.query_id,
            checkpoint_location=run.checkpoint.location if run.checkpoint is not None else None,
            run_facets={**(facets or {}), **run_facets(run, self._context.producer)},
        )
        self._emit(self._context.run(body, job=run.known_job(), run_id=run.run_id, at=at))

    def _writes(self, run: StreamRun, writes: Sequence[Write], at: datetime) -> tuple[bool, str | None]:
        """Emit datasets and lineage of writes inside foreachBatch; return True if some are new, and the digest."""
        job = run.known_job()
        for write in writes:
            self._datasets(run, job, write.description, at)
        touched = [run.datasets.add(write.description, inside=True) for write in writes]
        if not writes:
            return False, None
        return any(touched), self._plan(run, job, [write.description for write in writes], at)

    def _plan(self, run: StreamRun, job: JobRef, plans: Sequence[PlanDescription], at: datetime) -> str | None:
        digest, event = new_plan_event(self._context, plans, job=job, run_id=run.run_id, at=at, dedup=self._dedup)
        if event is not None:
            self._emit(event)
        return digest

    def _datasets(self, run: StreamRun, job: JobRef, description: PlanDescription, at: datetime) -> None:
        for body in dataset_bodies(description):
            if self._dedup.add(("dataset", body.dataset, hash_of(body))):
                self._emit(self._context.fact(body, job=job, run_id=run.run_id, at=at))


END: Final = -1
"""Key of a run's end, among the ids of micro-batches."""
# Time between reads of a continuous query's checkpoint. Spark keeps the last 100 epochs, by default one per second.
_LOOK_SECONDS: Final = 10.0


class StreamFlow:
    """Flow of all streaming runs of an application. Not thread-safe: only for the worker's thread.

    Args:
        emitter: makes and emits the events.
        wait_seconds: maximum time that an interval waits for the writes inside foreachBatch.
        clock: monotonic seconds.
        backfill: recovery of committed micro-batches that weren't emitted; None: no recovery.
        coalescing: limits of buffering intervals for one event.
        store: stored last emitted micro-batch of each query, also of earlier processes.
        stop_reasons: for each query id, the reason why capture stopped the query. Any thread may write it. The run of
            such a query ends with FAIL and this error.
    """

    def __init__(
        self,
        emitter: StreamEmitter,
        *,
        wait_seconds: float,
        clock: Callable[[], float] = time.monotonic,
        backfill: Backfill | None = None,
        coalescing: Coalescing | None = None,
        store: LastEmittedStore | None = None,
        stop_reasons: MutableMapping[str, RunError] | None = None,
    ) -> None:
        self._emitter = emitter
        self._backfill = backfill
        self._coalescing = coalescing or Coalescing()
        self._look_at = 0.0
        self._chains = EmittedChains(store or LastEmittedStore())
        self._wait_seconds = wait_seconds
        self._clock = clock
        self._runs = Runs()
        self._stop_reasons = stop_reasons if stop_reasons is not None else {}

    # Callbacks, in the order in which they may come.

    def started(self, run: StreamRun) -> None:
        """Track a query that starts, or was found running. Its START follows when its plan is known."""
        if run.run_id in self._runs:
            return
        run.buffer = IntervalBuffer(self._coalescing)
        run.chain = self._chains.of(run.query_id)
        self._runs[run.run_id] = run

    def knows(self, run_id: str) -> bool:
        """Return True if `started` was called for this run, and it hasn't ended."""
        return run_id in self._runs

    def newly_described(self, run_id: str) -> PlanDescription | None:
        """Return the plan of a run, only once, as soon as the plan is known; else None."""
        run = self._runs.get(run_id)
        if run is None or run.description is None or run.is_taken:
            return None
        run.is_taken = True
        return run.description

    def runs(self) -> tuple[StreamRun, ...]:
        """Return the runs that haven't ended; from any thread."""
        return tuple(self._runs.values())

    @property
    def running(self) -> int:
        """Number of known runs that haven't ended."""
        return len(self._runs)

    def latest_run(self, query_id: str) -> str | None:
        """Return the id of a query's last start that hasn't ended; None if none was observed."""
        run = self._runs.latest_of(query_id)
        return run.run_id if run is not None else None

    @property
    def hands_over(self) -> bool:
        """True if some running query hands its micro-batches to a foreachBatch function."""
        return any(run.batches.called for run in self._runs.values())

    def upstream(self, batch: MicroBatch) -> Upstream | None:
        """Return the lineage of a micro-batch's rows, for the plans of the writes inside its foreachBatch function."""
        run = self._runs.executing(batch)
        if run is None:
            return None
        description = self._announce(run)
        return description.upstream if description is not None else None

    def called(self, batch: MicroBatch) -> None:
        """Record the call of a foreachBatch function."""
        if (run := self._runs.executing(batch)) is not None:
            run.batches.called.add(batch.batch_id)

    def wrote(self, batch: MicroBatch, write: Write, at: datetime) -> bool:
        """Record a successful write inside foreachBatch; False if its query is unknown."""
        run = self._runs.executing(batch)
        if run is None:
            return False
        self._announce(run)
        run.batches.writes.setdefault(batch.batch_id, []).append(write)
        if (progress := run.batches.emitted.get(batch.batch_id)) is not None:
            self._emit_micro_batch(run, progress, at)
        return True

    def progressed(self, progress: QueryProgress, at: datetime) -> None:
        """Record the progress of a trigger. If the trigger executed a micro-batch, this micro-batch is committed."""
        run = self._runs.get(progress.run_id)
        if run is None or not progress.executed:
            return
        self._announce(run)
        if progress.batch_id in run.batches.called:
            run.batches.pending[progress.batch_id] = (progress, self._clock() + self._wait_seconds)
        else:
            self._emit_micro_batch(run, progress, at)

    def terminated(self, run_id: str, error: RunError | None, at: datetime) -> None:
        """Record the end of a query: normal or stopped, or with an error.

        If the query has called a foreachBatch function, reports of its last micro-batch's writes may still come.
        """
        run = self._runs.get(run_id)
        if run is None:
            return
        if error is None:
            error = self._stop_reasons.pop(run.query_id, None)
        run.ending = RunEnding(
            RunEventType.COMPLETE if error is None else RunEventType.FAIL,
            error,
            at,
            self._clock() + self._wait_seconds,
        )
        if not run.batches.called:
            self._end(run, run.ending)

    # Work that becomes due as time passes.

    def announce_planned(self) -> None:
        """Emit the START of each run whose plan has become readable."""
        for run in list(self._runs.values()):
            if run.job is None and run.query is not None and run.query.is_planned():
                self._announce(run)

    def beat(self, at: datetime, seconds: float) -> None:
        """Emit RUNNING of each announced run.

        Args:
            seconds: seconds until the next heartbeat.
        """
        facet = self._emitter.heartbeat(seconds)
        for run in list(self._runs.values()):
            if run.job is not None:
                self._emitter.state(run, RunEventType.RUNNING, at, facets=facet)

    @property
    def unannounced(self) -> bool:
        """True while some START waits for its plan."""
        return any(run.job is None for run in self._runs.values())

    @property
    def pending(self) -> frozenset[tuple[str, int]]:
        """Pairs of run id and batch id (`END`: the run's end) that wait for writes to be reported."""
        batches = {(run.run_id, batch) for run in self._runs.values() for batch in run.batches.pending}
        return frozenset(batches | {(run.run_id, END) for run in self._runs.values() if run.ending is not None})

    def settle(self, batches: Iterable[tuple[str, int]], at: datetime) -> None:
        """Emit these micro-batches and ends of runs: all their writes have been reported."""
        run_all(partial(self._settle, run_id, batch, at) for run_id, batch in sorted(batches))

    def settle_overdue(self, at: datetime) -> None:
        """Emit the micro-batches and ends that have waited long enough for their writes."""
        now = self._clock()
        overdue = [
            (run.run_id, batch)
            for run in self._runs.values()
            for batch, (_, deadline) in run.batches.pending.items()
            if deadline <= now
        ]
        overdue += [(run.run_id, END) for run in self._runs.values() if run.ending and run.ending.deadline <= now]
        self.settle(overdue, at)

    def overdue_in(self) -> float:
        """Return the seconds until a buffered interval is due; infinite if none is buffered."""
        now = self._clock()
        return min((run.buffer.overdue_in(now) for run in self._runs.values()), default=math.inf)

    def send_overdue(self) -> None:
        """Send the buffered intervals that are due."""
        now = self._clock()
        for run in self._runs.values():
            self._emitter.intervals.send(run, run.buffer.overdue(now))

    def send_all(self, reason: EmissionReason) -> None:
        """Send all buffered intervals."""
        for run in self._runs.values():
            self._emitter.intervals.send(run, run.buffer.take(reason))

    @property
    def behind(self) -> bool:
        """True while something waits to be backfilled from a checkpoint."""
        return bool(self._backfill)

    def backfill_next(self) -> None:
        """Backfill the next few micro-batches from a checkpoint."""
        if self._backfill is None:
            return
        if (now := self._clock()) >= self._look_at:
            self._look_at = now + _LOOK_SECONDS
            for run in self._runs.values():
                if run.is_continuous:
                    self._backfill.committed(run, EmissionReason.CHECKPOINT)
        self._backfill.step()
        for run in self._runs.values():
            if len(run.gaps) > run.gaps_emitted:
                self._emitter.state(run, RunEventType.RUNNING, run.gaps[-1].noticed_at)

    def abort_all(self, error: RunError | None, at: datetime) -> None:
        """Emit ABORT of the queries that still run when the application ends."""
        now = self._clock()
        run_all(
            partial(self._end, run, run.ending or RunEnding(RunEventType.ABORT, error, at, now))
            for run in list(self._runs.values())
        )

    def _settle(self, run_id: str, batch: int, at: datetime) -> None:
        run = self._runs.get(run_id)
        if run is None:
            return
        if batch == END and run.ending is not None:
            self._end(run, run.ending)
        elif batch in run.batches.pending:
            progress, _ = run.batches.pending.pop(batch)
            self._emit_micro_batch(run, progress, at)

    def _announce(self, run: StreamRun) -> PlanDescription | None:
        if run.job is None:
            try:
                self._emitter.start(run)
            except Exception as error:
                if run.query is None:
                    raise
                # A custom sink can't be inspected; the facts that Spark's listener reported are still emitted.
                logger.warning(
                    "lineage capture: query %s can't be inspected (%s); only its progress is recorded",
                    run.query_id,
                    type(error).__name__,
                )
                run.query = None
                self._emitter.start(run)
            if self._backfill is not None:
                self._backfill.started(run)
        return run.description

    def _emit_micro_batch(self, run: StreamRun, progress: QueryProgress, at: datetime) -> None:
        is_new = progress.batch_id not in run.batches.emitted
        try:
            self._emitter.micro_batch(run, progress, at, now=self._clock())
        except Exception:
            # A file of the query's checkpoint may be unreadable just now. This micro-batch is then backfilled with the
            # next micro-batch, or at the end of the run.
            if is_new:
                run.batches.left_out.append(progress.batch_id)
            raise
        if not is_new:
            return
        left_out = run.batches.take_left_out(run.chain, before=progress.batch_id)
        missed = [*left_out, *(batch for batch in run.chain.add(progress.batch_id) if batch not in left_out)]
        if missed and self._backfill is not None:
            self._backfill.skipped(run, missed)

    def _end(self, run: StreamRun, ending: RunEnding) -> None:
        run.ending = None
        reason = EmissionReason.FAILURE if ending.kind is RunEventType.FAIL else EmissionReason.STOP
        backfill = self._backfill
        run_all(
            (
                lambda: self._announce(run),
                lambda: self.settle([(run.run_id, batch) for batch in run.batches.pending], ending.at),
                lambda: self._emitter.intervals.send(run, run.buffer.take(reason)),
                lambda: backfill.ended(run, reason) if backfill is not None else None,
                lambda: self._emitter.end(run, ending),
                lambda: self._runs.pop(run.run_id),
            )
        )
