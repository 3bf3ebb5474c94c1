"""Dispatch: builds events from signals, which hold JVM references, on the worker's thread."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from headwater_producers.spark.connectors.kafka.observed_topics import ObservedTopics
from headwater_producers.spark.driver.attribution import Attributor
from headwater_producers.spark.driver.batch_topics import BatchTopics
from headwater_producers.spark.driver.listeners import COMMANDS
from headwater_producers.spark.driver.procedures import Procedures
from headwater_producers.spark.driver.program_reads import ProgramReads
from headwater_producers.spark.driver.rdd_actions import RddDispatch
from headwater_producers.spark.driver.reported_quality import QualityReported, quality_events
from headwater_producers.spark.driver.running_writes import RunningWrites
from headwater_producers.spark.driver.sessions import ActiveSession, UntrackedQueries
from headwater_producers.spark.driver.signals import (
    Attached,
    BatchFunctionCalled,
    CommandEnded,
    FrameKept,
    QueryProgressed,
    QueryStarted,
    QueryTerminated,
    RddActed,
    RddRead,
    Signal,
    TopicWriteBegins,
)
from headwater_producers.spark.driver.wrapped_writes import WrappedWrites
from headwater_producers.spark.events.application import UncheckedWrites, application_running
from headwater_producers.spark.events.batch import BatchRun, batch_events, corrected_events
from headwater_producers.spark.events.context import EventContext
from headwater_producers.spark.events.datasets import KnownTables, change_body
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.events.run_error import first_line, from_java_text
from headwater_producers.spark.execution.describe import read_by
from headwater_producers.spark.execution.executions import (
    execution_times,
    executions_of,
    observed_metrics,
    plan_key,
    rows_rejected,
    statement_of,
)
from headwater_producers.spark.execution.query import JvmQuery
from headwater_producers.spark.execution.writes import StagedWrite, executed_read, executed_write, wrote_nothing
from headwater_producers.spark.jvm.listener_bus import ListenerBus
from headwater_producers.spark.jvm.versions import WRAPPING_COMMANDS
from headwater_producers.spark.left_writes.left_tables import KeptWrites
from headwater_producers.spark.plan import KnownFrames, PlanDescription, PlanSettings
from headwater_producers.spark.streaming.flow import StreamFlow
from headwater_producers.spark.streaming.interval import observed_quality, parse_progress
from headwater_producers.spark.streaming.links import BatchLinks, MicroBatch
from headwater_producers.spark.streaming.stream_run import StreamRun
from headwater_schemas.events import LineageEvent, RunError
from headwater_schemas.redaction import redact

logger = logging.getLogger(__name__)

_MAX_ERROR_CHARS: Final = 300


class Dispatch:
    """Handler of signals. It may raise any py4j error; the worker counts the error and continues.

    Args:
        failed: takes a sentence about each part of a plan that couldn't be read; the event is emitted without the part.
        dedup: cache of emitted job, dataset and plan events.
        heartbeat_seconds: time between heartbeats; 0: no heartbeats.
        statements: True if runs have the text of their SQL statement.
        topics: observed states of Kafka topics.
        kept: store of running writes, with which the next process ends the runs of a killed driver.
        unchecked: writes of the application without a check of their inputs.
        marked: True if the application's commits name its run.
        reads_are_runs: True if a query that only reads is a run.

    Attributes:
        frames: frames that became RDDs.
    """

    def __init__(
        self,
        *,
        spark: Any,
        context: EventContext,
        streams: StreamFlow,
        emit: Callable[[LineageEvent], object],
        failed: Callable[[str], None],
        dedup: DedupCache,
        settings: PlanSettings,
        heartbeat_seconds: float,
        statements: bool,
        kept: KeptWrites,
        topics: ObservedTopics,
        unchecked: UncheckedWrites,
        marked: bool = False,
        reads_are_runs: bool = False,
    ) -> None:
        self._spark = spark
        self._context = context
        self._streams = streams
        self._emit = emit
        self._failed = failed
        self._dedup = dedup
        self._settings = settings
        self._links = BatchLinks()
        self.frames = KnownFrames()
        self._attributor = Attributor(self._links, streams, self.frames, settings, ListenerBus(spark.sparkContext))
        self._rdds = RddDispatch(spark, self._attributor, self._links, self.frames)
        self._wrapped = WrappedWrites()
        self._tables = KnownTables()
        self._active = ActiveSession()
        self._untracked = UntrackedQueries(spark, streams)
        self._procedures = Procedures(spark, settings)
        self._running = RunningWrites(spark, self._attributor, context, emit, dedup, kept, marked=marked)
        self._unchecked = unchecked
        self._topics = BatchTopics(topics, settings)
        self._heartbeat_seconds = heartbeat_seconds
        self._statements = statements
        self._reads_are_runs = reads_are_runs
        self._program = ProgramReads()
        self._beat_at = time.monotonic() + heartbeat_seconds

    def look_around(self, *, at_once: bool = False) -> None:
        """Do the work that no signal starts: find untracked queries, announce running writes, emit heartbeats.

        Args:
            at_once: False: do what is due. True: find untracked queries and runs of Iceberg procedures now; no other
                work is done.
        """
        for session in self._untracked.sessions(at_once=at_once):
            self._attached(Attached(session, datetime.now(UTC)))
        if at_once:
            self._called(self._procedures.left())
        else:
            self._running.look_back()
            self._running.look()
            self._beat()

    def close(self) -> None:
        """Close after the last signal."""
        self._running.close()

    def _beat(self) -> None:
        """Emit heartbeats of the application, its queries and its writes, when they are due."""
        if not self._heartbeat_seconds or time.monotonic() < self._beat_at:
            return
        self._beat_at = time.monotonic() + self._heartbeat_seconds
        now, seconds = datetime.now(UTC), self._heartbeat_seconds
        self._emit(application_running(self._context, now, seconds, self._unchecked))
        self._running.beat(now, seconds)
        self._streams.beat(now, seconds)

    def handle(self, signal: Signal) -> None:
        """Build and emit the events of a signal."""
        match signal:
            case CommandEnded():
                self._ended(signal)
            case QueryStarted():
                self._started(signal)
            case Attached():
                self._attached(signal)
            case QueryProgressed():
                self._progressed(signal)
            case QueryTerminated():
                self._terminated(signal)
            case BatchFunctionCalled():
                batch = MicroBatch(signal.query_id, signal.batch_id, self._streams.latest_run(signal.query_id))
                self._links.called(plan_key(signal.frame.queryExecution()), batch)
                self._streams.called(batch)
            case FrameKept() | RddRead() | RddActed():
                self._rdd(signal)
            case TopicWriteBegins():
                self._topics.begins(signal)
            case QualityReported():
                self._emit_all(quality_events(self._context, signal, self._dedup))

    def _rdd(self, signal: FrameKept | RddRead | RddActed) -> None:
        match signal:
            case FrameKept():
                self._rdds.kept(signal)
            case RddRead():
                self._program.add(self._rdds.read(signal.rdd))
            case RddActed():
                run, batch = self._rdds.acted(signal)
                self._ran(replace(run, write=self._program.may_be_in(run.write)), batch, signal.ended_at)

    def _ended(self, signal: CommandEnded) -> None:
        try:
            for execution in executions_of(signal.query_execution, signal.function):
                found = replace(signal, query_execution=execution)
                if signal.function in COMMANDS:
                    self._command(found)
                else:
                    self._read(found)
        except (Py4JError, PySparkException) as error:
            if signal.error is None:
                raise
            # The statement failed before it had a plan: the error is the job's own, and no lineage is lost.
            text = redact(first_line(error), max_chars=_MAX_ERROR_CHARS)
            logger.info("lineage capture: a failed statement is not recorded as a run: %s", text)
        finally:
            if self._running.announced(signal.query_execution) is not None:
                self._running.unreadable(signal.query_execution, self._error(signal), signal.at)

    def _command(self, signal: CommandEnded) -> None:
        execution = signal.query_execution
        self._active.become(signal.session)
        known = self._running.announced(execution)
        earlier = known.write.description if known is not None else None
        attribution, description = self._attributor.described(execution, signal.session, earlier)
        if description.is_streaming or description.command in WRAPPING_COMMANDS:
            return
        # A failed statement's plan is often unreadable, which isn't a failure of capture: no lineage is lost.
        for failure in description.failures if signal.error is None else ():
            self._failed(failure)
        self._tables.see(description)
        if attribution.batch is None:
            self._called(self._procedures.of_plan(execution.analyzed(), description))
        started_at, ended_at = execution_times(execution, signal.duration_ns, signal.at)
        if signal.error is None:
            self._changes(description, signal.at)
        if description.outputs or description.writes_unknown:
            self._executed(signal, description, attribution.batch, started_at, ended_at)

    def _read(self, signal: CommandEnded) -> None:
        """Handle the end of a query that only reads."""
        execution = signal.query_execution
        self._active.become(signal.session)
        if signal.error is None:
            self._program.add(read_by(execution, session=signal.session, frames=self.frames, settings=self._settings))
        if not self._reads_are_runs:
            return
        attribution, description = self._attributor.described(execution, signal.session)
        # A read inside a foreachBatch function is no run.
        if description.is_streaming or not description.inputs or attribution.batch is not None:
            return
        for failure in description.failures if signal.error is None else ():
            self._failed(failure)
        self._tables.see(description)
        started_at, ended_at = execution_times(execution, signal.duration_ns, signal.at)
        read = executed_read(execution, replace(description, command=signal.function))
        run = BatchRun(write=read, started_at=started_at, ended_at=ended_at, error=self._error(signal))
        self._ran(run, None, signal.at)

    def _executed(
        self,
        signal: CommandEnded,
        description: PlanDescription,
        batch: MicroBatch | None,
        started_at: datetime,
        ended_at: datetime,
    ) -> None:
        """Handle the end of a command that writes."""
        execution = signal.query_execution
        staged = self._wrapped.rows_of(description, started_at, ended_at)
        write = executed_write(
            execution,
            description,
            signal.session,
            started_at=started_at,
            ended_at=ended_at,
            settings=self._settings,
            failed=signal.error is not None,
            staged=staged,
        )
        if signal.error is None:
            self._used_by_code(write.description, signal.at)
            write = self._program.may_be_in(write)
        if description.staged:
            self._wrapped.stage(description, StagedWrite(write.written, write.scans, started_at))
            return
        if signal.error is None and wrote_nothing(write, staged):
            self._running.wrote_nothing(execution, "the command found nothing to write", ended_at)
            return
        observed = observed_metrics(execution) if signal.error is None else {}
        run = BatchRun(
            write=write,
            started_at=started_at,
            ended_at=ended_at,
            error=self._error(signal),
            statement=statement_of(execution, literals=self._settings.literals) if self._statements else None,
            rows_rejected=rows_rejected(observed),
            quality=tuple(observed_quality(observed, write.only_output)),
        )
        if (known := self._running.announced(execution)) is not None:
            run = replace(run, run_id=known.run_id, started_at=known.started_at, is_announced=True)
        if (inner := self._wrapped.inside(run)) is not None:
            self._running.reported_inside(execution, inner, run.error, ended_at)
            if batch is None:
                self._correct(run)
            return
        self._ran(run, batch, signal.at)
        self._running.wrote(run)
        self._running.ended(execution)

    def _used_by_code(self, description: PlanDescription, at: datetime) -> None:
        """Emit a run of earlier reads whose rows a plan's functions may use, unless each read is a run of its own."""
        read = None if self._reads_are_runs else self._program.used_by_code(description)
        if read is not None:
            self._ran(BatchRun(write=read, started_at=at, ended_at=at), None, at)

    def _error(self, signal: CommandEnded) -> RunError | None:
        if signal.error is None:
            return None
        return from_java_text(str(self._spark._jvm.org.apache.spark.util.Utils.exceptionString(signal.error)))

    def _called(self, procedures: Iterable[BatchRun]) -> None:
        for run in procedures:
            self._ran(run, None, run.ended_at)

    def _correct(self, wrapper: BatchRun) -> None:
        """Emit events that correct an emitted write with details of the command that wraps it."""
        if (inner := self._wrapped.corrected(wrapper)) is not None:
            self._emit_all(corrected_events(self._context, inner, self._dedup))

    def _ran(self, run: BatchRun, batch: MicroBatch | None, at: datetime) -> None:
        # A failed write inside foreachBatch fails its query, and the query's run records the failure.
        if batch is not None and (run.error is not None or self._streams.wrote(batch, run.write, at)):
            return
        if run.error is None:
            run = self._topics.bounded(run)
        self._emit_all(batch_events(self._context, run, self._dedup))

    def _emit_all(self, events: Iterable[LineageEvent]) -> None:
        for event in events:
            self._emit(event)

    def _changes(self, description: PlanDescription, at: datetime) -> None:
        """Emit DDL changes as changes by the application: DDL is no run of its own."""
        for change in description.changes:
            if (known := self._tables.resolved(change)) is None:
                continue
            body, context = change_body(known), self._context
            self._emit(context.fact(body, job=context.app_job, run_id=context.app_run_id, at=at))

    def _started(self, signal: QueryStarted) -> None:
        self._track(signal.event, signal.query, signal.session, _time(signal.event.timestamp()) or signal.at)

    def _attached(self, signal: Attached) -> None:
        """Track the session's running queries; they count as started when capture attached."""
        for query in signal.session._jsparkSession.streams().active():
            if not self._streams.knows(str(query.runId().toString())):
                self._track(query, query, signal.session, signal.at)

    def _track(self, named: Any, query: Any, session: Any, started_at: datetime) -> None:
        """Track a run; `named` is the query or the event of its start: each has the run's ids and name."""
        name = named.name()
        self._streams.started(
            StreamRun(
                query_id=str(named.id().toString()),
                run_id=str(named.runId().toString()),
                name=None if name is None else str(name),
                started_at=started_at,
                query=self._query(query, session),
            )
        )

    def _progressed(self, signal: QueryProgressed) -> None:
        progress = parse_progress(str(signal.event.json()))
        if not self._streams.knows(progress.run_id):
            # The query's start was dropped, or the query was starting while capture was attached.
            query = signal.session._jsparkSession.streams().get(progress.query_id)
            if query is not None and str(query.runId().toString()) != progress.run_id:
                query = None  # restarted meanwhile, perhaps with another plan
            self._streams.started(
                StreamRun(
                    query_id=progress.query_id,
                    run_id=progress.run_id,
                    name=progress.name,
                    started_at=progress.started_at,
                    query=self._query(query, signal.session),
                )
            )
        self._streams.progressed(progress, signal.at)
        if (description := self._streams.newly_described(progress.run_id)) is not None:
            self._used_by_code(description, signal.at)

    def _terminated(self, signal: QueryTerminated) -> None:
        exception = signal.event.exception()
        error = from_java_text(str(exception.get())) if exception.isDefined() else None
        self._streams.terminated(str(signal.event.runId().toString()), error, signal.at)

    def _query(self, query: Any, session: Any) -> JvmQuery | None:
        return JvmQuery(query, session, self._settings) if query is not None else None


def _time(text: Any) -> datetime | None:
    """Parse Spark's ISO 8601 time in UTC."""
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC)
    except ValueError:
        return None
