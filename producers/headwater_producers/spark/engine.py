"""Engine: one application's capture while it runs. `start_engine` wires it."""

from __future__ import annotations

import logging
import os
import time
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.emission.policy import EmissionPolicy
from headwater_producers.spark.events.application import application_ended, application_started
from headwater_producers.spark.events.context import EventContext
from headwater_producers.spark.events.job_names import application_name
from headwater_producers.spark.events.once import Once
from headwater_producers.spark.events.parent import PROPERTY_PREFIX, Orchestration, orchestration
from headwater_producers.spark.jvm.files import JvmFiles
from headwater_producers.spark.kafka_ends import KafkaEnds, own_connection
from headwater_producers.spark.metrics import shared_metrics
from headwater_producers.spark.plan import PlanSettings
from headwater_producers.spark.runtime.dispatch import Dispatch
from headwater_producers.spark.runtime.inbox import Inbox
from headwater_producers.spark.runtime.listener_bus import ListenerBus
from headwater_producers.spark.runtime.signals import Attached, BatchFunctionCalled, QueryStarted, QueryTerminated
from headwater_producers.spark.runtime.worker import Order, Worker
from headwater_producers.spark.spark_properties import properties
from headwater_producers.spark.status import CaptureStatus
from headwater_producers.spark.streaming.catching_up import CatchingUp
from headwater_producers.spark.streaming.coalescing import Coalescing
from headwater_producers.spark.streaming.flow import StreamFlow
from headwater_producers.spark.streaming.sink_offsets import SinkOffsets
from headwater_producers.spark.streaming.telling import Teller
from headwater_producers.spark.versions import capture_version, git_commit
from headwater_schemas.events import EngineRef, Owner, RunEventType, Tag, Versions

if TYPE_CHECKING:
    from headwater_producers.spark.emission import Emission
    from headwater_producers.spark.runtime.signals import Signal
    from headwater_producers.spark.settings import CaptureSettings
    from headwater_producers.spark.sink import EventSink
    from headwater_schemas.events import RunError

logger = logging.getLogger(__name__)


class Engine:
    """Takes signals, and makes events of them on its worker's thread.

    Args:
        context: of the application.
        settings: of the capture.
        inbox: where signals wait.
        worker: who handles them; not started yet.
        streams: the application's streaming queries.
        ends: asks Kafka for the ends of the topics they write.
    """

    def __init__(
        self,
        *,
        context: EventContext,
        settings: CaptureSettings,
        inbox: Inbox[Signal | Order],
        worker: Worker,
        streams: StreamFlow,
        ends: KafkaEnds,
    ) -> None:
        self.context = context
        self.settings = settings
        self._inbox = inbox
        self._worker = worker
        self._streams = streams
        self._ends = ends
        self._started_at = datetime.now(UTC)
        self._told_of_drops = False
        self._end: Order | None = None
        self.emission: Emission | None = None

    def start(self, handler: Dispatch, said: Once) -> None:
        """Starts the worker, whose first act is the START of the application's run."""
        for event in application_started(self.context, self._started_at, said):
            self._worker.emit(event)
        self._worker.start(handler, self._streams)

    def found(self, session: Any) -> None:
        """Has the queries told that run in a session already."""
        self._inbox.put_urgent(Attached(session, datetime.now(UTC)))

    def offer(self, signal: Signal) -> None:
        """Takes a signal, or drops it where too many wait. Never waits.

        The start and end of a query are never dropped: nothing that comes later tells of them. Nor is the call of a
        foreachBatch function: its writes would be taken for those of the micro-batch before.
        """
        if self._inbox.put(signal, always=isinstance(signal, BatchFunctionCalled | QueryStarted | QueryTerminated)):
            return
        shared_metrics().dropped.inc()
        if not self._told_of_drops:
            self._told_of_drops = True
            logger.warning(
                "lineage capture: %d callbacks wait already, so some are dropped: micro-batches, which are told from "
                "the checkpoint later, and writes, which aren't (capture_queue_size, HEADWATER_CAPTURE_QUEUE_SIZE)",
                self.settings.capture_queue_size,
            )

    @property
    def hears_reads(self) -> bool:
        """Whether queries that only read are captured."""
        return self.settings.capture_reads

    def flush(self, timeout_seconds: float | None = None) -> bool:
        """Waits until everything that has happened so far is delivered; False: the time was over first."""
        return self._worker.carry_out(Order(self._deadline(timeout_seconds)))

    def take_in(self, timeout_seconds: float) -> bool:
        """Has everything that has happened so far made into events and published; False: not in time."""
        order = Order(self._deadline(timeout_seconds), delivers=False)
        return self._worker.carry_out(order) and order.taken_in

    def hold(self, frame: Any, query_id: str, batch_id: int) -> None:
        """On the query's thread, before a foreachBatch function is called: waits where the emission policy says so."""
        if self.emission is not None:
            self.emission.hold(frame, query_id, batch_id)

    def finish(self, kind: RunEventType, error: RunError | None = None, *, session_ends: bool) -> bool:
        """Ends the application's run, delivers everything, and ends the worker.

        Args:
            kind: how the run ended.
            error: why, if it failed.
            session_ends: whether the session goes down with it: then queries that still run are aborted.

        Returns:
            Whether everything was delivered.
        """

        def end() -> None:
            now = datetime.now(UTC)
            if session_ends:
                self._streams.abort_all(error, now)
            self._worker.emit(application_ended(self.context, kind, self._started_at, now, error))
            self._ends.close()

        self._end = Order(self._deadline(None), action=end, last=True)
        delivered = self._worker.carry_out(self._end)
        if not delivered:
            logger.warning("lineage capture: not everything could be delivered: %s", self.status(enabled=False))
        return delivered

    def blame(self, query_id: str, error: RunError) -> None:
        """Says why a query is about to be stopped: its run FAILs by that."""
        self._streams.blame(query_id, error)

    @property
    def ending(self) -> bool:
        """Whether `finish` was called."""
        return self._end is not None

    @property
    def ended_in_time(self) -> bool:
        """Whether `finish` could look at everything that had happened."""
        return self._end is not None and self._end.done.is_set() and self._end.taken_in

    def await_end(self) -> None:
        """Waits for a `finish` that is under way.

        For a signal handler that has interrupted it on the same thread: so it takes no lock.
        """
        while (end := self._end) is not None and not end.done.is_set() and end.remaining():
            time.sleep(0.02)

    def status(self, *, enabled: bool) -> CaptureStatus:
        """The counts so far."""
        tally = self._worker.tally
        return CaptureStatus(
            enabled=enabled,
            queued=self._inbox.waiting,
            received=self._inbox.received,
            dropped=self._inbox.dropped,
            failed=tally.failed,
            published=tally.published,
            publish_failed=tally.publish_failed,
            last_error=tally.last_error,
        )

    def _deadline(self, timeout_seconds: float | None) -> float:
        seconds = self.settings.capture_drain_timeout_seconds if timeout_seconds is None else timeout_seconds
        return time.monotonic() + seconds


def start_engine(spark: Any, settings: CaptureSettings, sink: EventSink) -> Engine:
    """Wires and starts an engine: signals ─▶ inbox ─▶ worker ─▶ dispatch ─▶ (streams) ─▶ sink."""
    context = event_context(
        settings,
        app_name=spark.sparkContext.appName,
        spark_version=spark.version,
        started_by=orchestration(properties(spark.sparkContext, PROPERTY_PREFIX), os.environ),
    )
    plan_settings = PlanSettings(
        max_plan_bytes=settings.capture_max_plan_bytes,
        kafka_cluster_names={"*": settings.kafka_cluster_name} if settings.kafka_cluster_name else {},
    )
    said = Once()
    inbox: Inbox[Signal | Order] = Inbox(settings.capture_queue_size)
    shared_metrics().watch(inbox)
    worker = Worker(inbox, sink, ListenerBus(spark.sparkContext))
    ends = KafkaEnds(own_connection(settings))
    files = JvmFiles(spark.sparkContext)
    streams = StreamFlow(
        Teller(context=context, emit=worker.emit, said=said, files=files, sinks=SinkOffsets(ends)),
        wait_seconds=settings.capture_foreach_batch_wait_seconds,
        catching_up=CatchingUp(
            context=context, emit=worker.emit, files=files, max_batches=settings.reconcile_max_batches
        ),
        coalescing=Coalescing(
            # Nothing may wait where the next micro-batch waits for it.
            1 if settings.emission_policy is EmissionPolicy.FAIL_CLOSED else settings.coalesce_max_batches,
            settings.coalesce_max_seconds,
        ),
    )
    dispatch = Dispatch(
        spark=spark,
        context=context,
        streams=streams,
        emit=worker.emit,
        failed=worker.failed,
        said=said,
        settings=plan_settings,
    )
    engine = Engine(context=context, settings=settings, inbox=inbox, worker=worker, streams=streams, ends=ends)
    engine.start(dispatch, said)
    return engine


def event_context(
    settings: CaptureSettings, *, app_name: str, spark_version: str, started_by: Orchestration
) -> EventContext:
    """What the settings say of an application, under a run id of its own."""
    return EventContext(
        tenant=settings.tenant,
        namespace=settings.job_namespace,
        app_name=application_name(settings.job_name, app_name),
        app_run_id=str(uuid.uuid4()),
        producer=f"https://headwater/spark/{capture_version()}",
        versions=Versions(
            code=settings.job_code_version or git_commit(),
            config=settings.job_config_version,
            engine=EngineRef("spark", spark_version),
            capture=capture_version(),
        ),
        started_by=started_by,
        criticality=settings.job_criticality,
        owners=(Owner(settings.job_owner),) if settings.job_owner else None,
        tags=tuple(Tag(key=key, value=value) for key, value in settings.tags) or None,
    )
