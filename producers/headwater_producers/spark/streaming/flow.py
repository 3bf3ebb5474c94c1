"""StreamFlow: what is told of streaming queries, and when.

A run's START is told as soon as its plan can be read, its end when Spark reports it. Between them each committed
micro-batch is an interval. A micro-batch of foreachBatch waits until the writes inside it have been reported: they come
over another queue of Spark's than its progress, so `settle` tells it when that queue is known to be empty, and
`settle_overdue` when that took too long. A write that comes later still is told by sending its interval again: it is
the same fact, and the two merge.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING

from headwater_producers.spark.events.batch import hash_of, job_events
from headwater_producers.spark.events.datasets import dataset_bodies
from headwater_producers.spark.events.job_names import streaming_name
from headwater_producers.spark.events.lineage import join_lineages, says_anything
from headwater_producers.spark.streaming.checkpoint import Checkpoint
from headwater_producers.spark.streaming.entry import interval_entry
from headwater_producers.spark.streaming.micro_batch import micro_batch_facts
from headwater_schemas.events import (
    EmissionReason,
    IntervalEvent,
    ProcessingType,
    Provenance,
    RunEvent,
    RunEventType,
)
from headwater_schemas.identity import plan_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from headwater_producers.spark.events.context import EventContext
    from headwater_producers.spark.events.once import Once
    from headwater_producers.spark.events.writes import Write
    from headwater_producers.spark.plan import PlanDescription, Upstream
    from headwater_producers.spark.streaming.links import MicroBatch
    from headwater_producers.spark.streaming.progress import Progress
    from headwater_producers.spark.streaming.run import StreamRun
    from headwater_producers.spark.streaming.spark_log import TextFiles
    from headwater_schemas.events import ColumnLineage, IntervalEntry, JobRef, LineageEvent, RunError


class StreamFlow:
    """All streaming runs of an application. Not thread-safe: the worker's alone.

    Args:
        context: of the application.
        emit: takes each event.
        said: what was said already.
        files: to read checkpoints with.
        wait_seconds: how long an interval waits for the writes inside foreachBatch.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        *,
        context: EventContext,
        emit: Callable[[LineageEvent], None],
        said: Once,
        files: TextFiles,
        wait_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._context = context
        self._emit = emit
        self._said = said
        self._files = files
        self._wait_seconds = wait_seconds
        self._clock = clock
        self._runs: dict[str, StreamRun] = {}

    # What happens, in the order in which it may.

    def started(self, run: StreamRun) -> None:
        """A query starts. Its START follows when its plan is known."""
        self._runs[run.run_id] = run

    def knows(self, run_id: str) -> bool:
        """Whether `started` was called for this run, and it hasn't ended."""
        return run_id in self._runs

    def upstream(self, query_id: str) -> Upstream | None:
        """Where the rows of a query come from, for the plans of the writes inside its foreachBatch function."""
        run = self._run_of(query_id)
        if run is None:
            return None
        description = self._announce(run)
        return description.upstream if description is not None else None

    def called(self, batch: MicroBatch) -> None:
        """A foreachBatch function is called."""
        if (run := self._run_of(batch.query_id)) is not None:
            run.called.add(batch.batch_id)

    def wrote(self, batch: MicroBatch, write: Write, at: datetime) -> bool:
        """A write inside foreachBatch has succeeded; False where its query isn't known."""
        run = self._run_of(batch.query_id)
        if run is None:
            return False
        self._announce(run)
        run.writes.setdefault(batch.batch_id, []).append(write)
        if (progress := run.told.get(batch.batch_id)) is not None:
            self._tell(run, progress, at)
        return True

    def progressed(self, progress: Progress, at: datetime) -> None:
        """A trigger has ended; a micro-batch has been committed if it was executed."""
        run = self._runs.get(progress.run_id)
        if run is None or not progress.executed:
            return
        self._announce(run)
        if progress.batch_id in run.called:
            run.pending[progress.batch_id] = (progress, self._clock() + self._wait_seconds)
        else:
            self._tell(run, progress, at)

    def terminated(self, run_id: str, error: RunError | None, at: datetime) -> None:
        """A query has ended: by itself or by being stopped, or with an error."""
        self._end(run_id, RunEventType.COMPLETE if error is None else RunEventType.FAIL, error, at)

    # Time passes.

    def announce_planned(self) -> None:
        """Tells the START of each run whose plan can be read by now."""
        for run in list(self._runs.values()):
            if run.job is None and run.query is not None and run.query.is_planned():
                self._announce(run)

    @property
    def unannounced(self) -> bool:
        """Whether some START waits for its plan."""
        return any(run.job is None for run in self._runs.values())

    @property
    def pending(self) -> frozenset[tuple[str, int]]:
        """The micro-batches that wait for their writes, by run and batch id."""
        return frozenset((run.run_id, batch) for run in self._runs.values() for batch in run.pending)

    def settle(self, batches: Iterable[tuple[str, int]], at: datetime) -> None:
        """Tells these micro-batches: all their writes have been reported."""
        for run_id, batch in sorted(batches):
            run = self._runs.get(run_id)
            if run is not None and batch in run.pending:
                progress, _ = run.pending.pop(batch)
                self._tell(run, progress, at)

    def settle_overdue(self, at: datetime) -> None:
        """Tells the micro-batches that have waited long enough."""
        now = self._clock()
        overdue = [
            (run.run_id, batch)
            for run in self._runs.values()
            for batch, (_, deadline) in run.pending.items()
            if deadline <= now
        ]
        self.settle(overdue, at)

    def abort_all(self, error: RunError | None, at: datetime) -> None:
        """The application ends, and with it the queries that still run."""
        for run_id in list(self._runs):
            self._end(run_id, RunEventType.ABORT, error, at)

    # Telling.

    def _run_of(self, query_id: str) -> StreamRun | None:
        """The latest run of a query; only one can be active at a time."""
        runs = [run for run in self._runs.values() if run.query_id == query_id]
        return runs[-1] if runs else None

    def _announce(self, run: StreamRun) -> PlanDescription | None:
        if run.job is None:
            description = run.query.describe() if run.query is not None else None
            self._emit_start(run, description)
        return run.description

    def _emit_start(self, run: StreamRun, description: PlanDescription | None) -> None:
        location = run.query.checkpoint_location() if run.query is not None else None
        run.description = description
        run.checkpoint = Checkpoint(location, self._files) if location is not None else None
        outputs = description.outputs if description is not None else ()
        sink = run.query.sink_name() if run.query is not None else None
        run.job = self._context.job(streaming_name(self._context.app_name, run.name, outputs, sink))
        for event in job_events(self._context, run.job, ProcessingType.STREAMING, "QUERY", run.started_at, self._said):
            self._emit(event)
        if description is not None:
            run.touch(description)
            self._emit_datasets(run, run.job, description, run.started_at)
            self._emit_plan(run, run.job, description.lineage, run.started_at)
        self._emit_run(run, RunEventType.START, run.started_at)

    def _tell(self, run: StreamRun, progress: Progress, at: datetime) -> None:
        """Tells one committed micro-batch, again where it was told before."""
        job = run.job
        if job is None:
            raise RuntimeError(f"run {run.run_id}: its START must be told before its micro-batches")
        writes = run.writes.get(progress.batch_id, [])
        digest = None
        for write in writes:
            self._emit_datasets(run, job, write.description, at)
        news = [run.touch(write.description) for write in writes]
        if any(news):
            self._emit_run(run, RunEventType.RUNNING, at)
        if writes:
            digest = self._emit_plan(run, job, join_lineages([write.description.lineage for write in writes]), at)
        elif run.description is not None:
            digest = self._emit_plan(run, job, run.description.lineage, at)
        facts = micro_batch_facts(progress, run.description, run.checkpoint, writes, digest, self._files)
        entry = interval_entry(
            progress,
            run.description.inputs if run.description is not None else (),
            facts,
            read_often=progress.batch_id in run.called,
        )
        again = progress.batch_id in run.told
        run.remember(progress)
        ended = progress.started_at + timedelta(milliseconds=progress.duration_ms or 0)
        self._emit_interval(run, job, [entry], at if again else ended)

    def _emit_interval(self, run: StreamRun, job: JobRef, entries: Sequence[IntervalEntry], at: datetime) -> None:
        body = IntervalEvent(
            query_id=run.query_id,
            entries=tuple(entries),
            query_name=run.name,
            checkpoint_location=run.checkpoint.location if run.checkpoint is not None else None,
            versions=self._context.versions,
            reason=EmissionReason.CHECKPOINT,
            provenance=Provenance.OBSERVED,
        )
        self._emit(self._context.interval(body, job=job, run_id=run.run_id, at=at))

    def _emit_plan(self, run: StreamRun, job: JobRef, lineage: ColumnLineage, at: datetime) -> str | None:
        if not says_anything(lineage):
            return None
        digest = plan_digest(lineage)
        if self._said.first(("plan", job, digest)):
            self._emit(self._context.plan(lineage, job=job, run_id=run.run_id, at=at))
        return digest

    def _emit_datasets(self, run: StreamRun, job: JobRef, description: PlanDescription, at: datetime) -> None:
        for body in dataset_bodies(description):
            if self._said.first(("dataset", body.dataset, hash_of(body))):
                self._emit(self._context.dataset(body, job=job, run_id=run.run_id, at=at))

    def _emit_run(self, run: StreamRun, kind: RunEventType, at: datetime, error: RunError | None = None) -> None:
        if run.job is None:
            raise RuntimeError(f"run {run.run_id}: its job isn't known yet")
        body = RunEvent(
            type=kind,
            processing_type=ProcessingType.STREAMING,
            inputs=run.inputs(),
            outputs=run.outputs(),
            started_at=run.started_at,
            ended_at=at if kind.is_terminal else None,
            versions=self._context.versions,
            parent=self._context.parent,
            root=self._context.parent,
            error=error,
            query_id=run.query_id,
            checkpoint_location=run.checkpoint.location if run.checkpoint is not None else None,
        )
        self._emit(self._context.run(body, job=run.job, run_id=run.run_id, at=at))

    def _end(self, run_id: str, kind: RunEventType, error: RunError | None, at: datetime) -> None:
        run = self._runs.get(run_id)
        if run is None:
            return
        self._announce(run)
        self.settle([(run_id, batch) for batch in run.pending], at)
        self._emit_run(run, kind, at, error)
        del self._runs[run_id]
