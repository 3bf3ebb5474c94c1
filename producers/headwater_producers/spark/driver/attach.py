"""Attach: entry point of capture, and the wiring of one application's capture."""

from __future__ import annotations

import logging
import os
import threading
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.common.account import configuration_digest
from headwater_producers.spark.common.errors import CaptureError
from headwater_producers.spark.common.metrics import shared_metrics
from headwater_producers.spark.common.settings import (
    CaptureSettings,
    EmissionPolicy,
    headwater_properties,
    session_properties,
)
from headwater_producers.spark.common.sink import EventSink, SizedSink
from headwater_producers.spark.common.versions import capture_version, running_code
from headwater_producers.spark.connectors.kafka.clusters import KafkaClusters
from headwater_producers.spark.connectors.kafka.observed_topics import ObservedTopics
from headwater_producers.spark.connectors.kafka.topic_states import KafkaTopicStates, own_connection
from headwater_producers.spark.driver import capture as captures
from headwater_producers.spark.driver import hooks, metrics_server, refusal, sessions, shutdown
from headwater_producers.spark.driver.capture import Capture
from headwater_producers.spark.driver.dispatch import Dispatch
from headwater_producers.spark.driver.emission import Durability, Emission, durable_sink
from headwater_producers.spark.driver.engine import DrainRequest, Engine, EventPublisher, Worker
from headwater_producers.spark.driver.gate_client import GateClient
from headwater_producers.spark.driver.input_gate import InputGate
from headwater_producers.spark.driver.listeners import Inbox, SignalTarget
from headwater_producers.spark.driver.overrun import OverrunWatch, RunningQueries
from headwater_producers.spark.driver.sessions import ApplicationListeners
from headwater_producers.spark.driver.signals import Signal
from headwater_producers.spark.events.application import UncheckedWrites
from headwater_producers.spark.events.context import EventContext, period, run_context
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.events.job_names import application_name
from headwater_producers.spark.events.parent import NOBODY, Orchestration, orchestration
from headwater_producers.spark.jvm.files import JvmFiles
from headwater_producers.spark.jvm.listener_bus import ListenerBus
from headwater_producers.spark.jvm.versions import warn_of_unknown
from headwater_producers.spark.left_writes.left_tables import KeptWrites
from headwater_producers.spark.plan import PlanSettings
from headwater_producers.spark.streaming.backfill import Backfill
from headwater_producers.spark.streaming.flow import StreamEmitter, StreamFlow
from headwater_producers.spark.streaming.gaps import Gaps
from headwater_producers.spark.streaming.interval_events import Coalescing, LastEmittedStore
from headwater_producers.spark.streaming.query_metrics import shared_metrics as query_metrics
from headwater_schemas.events import EngineRef, Owner, RunError, Tag, Versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


logger = logging.getLogger(__name__)


_lock = threading.Lock()

CONNECT = (
    "lineage isn't captured: this is a Spark Connect session, whose plans are in another process. Attach where the "
    "Spark driver runs, or make a classic session (spark.api.mode=classic, no spark.remote)"
)


def attach(
    spark: SparkSession, settings: CaptureSettings | None = None, *, sink: EventSink | None = None, **overrides: Any
) -> Capture:
    """Capture the lineage of all plans that `spark`'s application runs from now on.

    This session is captured, and so are sessions that `newSession()` creates from it, earlier sessions of the same
    application, and running streaming queries.

    If the application is being captured already, its capture is returned and the session joins it; other settings are
    then ignored, with a warning. A Spark Connect session can't be captured: this is logged as an error, and the
    returned capture does nothing.

    Args:
        spark: the session.
        settings: settings of the capture. Default: the properties `spark.headwater.…` of the session's `spark.conf`,
            else of the application, else the environment variables `HEADWATER_…`.
        sink: destination of events; default: Kafka.
        overrides: single settings by name, on top of `settings`: `attach(spark, job_name="enrich")`.

    Raises:
        CaptureSettingsError: a setting is missing, unknown or of the wrong form.
        CaptureError: `spark` isn't a session or was stopped; or `sink` isn't an EventSink.
    """
    classic = hasattr(spark, "_jsparkSession")
    stopped = classic and getattr(spark.sparkContext, "_jsc", None) is None
    chosen = _settings(spark if classic and not stopped else None, settings, overrides)
    if not chosen.capture_enabled:
        return Capture()
    if not classic:
        if type(spark).__module__.startswith("pyspark.sql.connect."):
            logger.error(CONNECT)
            return Capture()
        raise CaptureError(f"attach needs a SparkSession, not {type(spark).__name__}")
    if stopped:
        raise CaptureError("attach needs a session that runs: this one's SparkContext was stopped")
    _check_sink(sink)
    gate = GateClient(chosen) if chosen.refuse_tainted_inputs else None
    with _lock:
        if (running := captures.running_capture(spark)) is not None:
            sessions.join(spark)
            # A notebook's cell that runs again gives the same settings: no warning.
            given = settings is not None or overrides or sink is not None
            if given and not running.is_as_asked(chosen, sink):
                logger.warning(
                    "lineage capture: this application is being captured already; other settings of a second attach "
                    "are ignored"
                )
            return running
        target = sink if sink is not None else _kafka(chosen)
        capture = _wired(spark, chosen, target, sessions.join(spark), gate=gate, asked=(chosen, sink))
        captures.begin(sessions.application_id(spark), capture)
        hooks.install()
        if gate is not None:
            refusal.install()
        shutdown.install()
        shutdown.drain_before_stop(spark)
        capture.begin()
        if chosen.metrics_port is not None:
            metrics_server.serve(chosen.metrics_host, chosen.metrics_port)
    return capture


def _settings(spark: Any, settings: CaptureSettings | None, overrides: dict[str, Any]) -> CaptureSettings:
    if settings is not None:
        return settings.merged(**overrides)
    return CaptureSettings.load(headwater_properties(spark) if spark is not None else {}, **overrides)


def _check_sink(sink: object) -> None:
    missing = [name for name in ("publish", "flush", "close") if not callable(getattr(sink, name, None))]
    if sink is not None and missing:
        raise CaptureError(f"attach needs an EventSink for its sink: {type(sink).__name__} has no {', '.join(missing)}")


def _kafka(settings: CaptureSettings) -> EventSink:
    # Explaining a DataFrame's lineage, or capturing into a given sink, needs no Kafka client.
    from headwater_producers.spark.driver.kafka_sink import kafka_sink

    return kafka_sink(settings)


# Maximum wait for the brokers' limit of an event's size, before the first plan event is built.
_SINK_WAIT_SECONDS: Final = 2.0
# Part of the driver's heap for plans that wait: an eighth.
_QUEUES_SHARE: Final = 8


def _wired(
    spark: Any,
    settings: CaptureSettings,
    sink: EventSink,
    listeners: ApplicationListeners,
    *,
    gate: GateClient | None,
    asked: tuple[CaptureSettings, EventSink | None],
) -> Capture:
    """Wire a capture: signals ─▶ inbox ─▶ worker ─▶ dispatch ─▶ (streams) ─▶ publisher ─▶ sink.

    Each part gets the parts that it calls, and doesn't know its callers.

    Args:
        gate: asked about the inputs of writes before they begin; None: no write is checked.
    """
    # Facts of the application.
    warn_of_unknown(spark.version)
    submitted = session_properties(spark)
    context = event_context(
        settings,
        sink=sink,
        app_name=spark.sparkContext.appName,
        spark_version=spark.version,
        started_by=orchestration(submitted, os.environ),
        properties=submitted,
        environment=os.environ,
        user=str(spark.sparkContext.sparkUser()),
    )
    plan_settings = PlanSettings(
        max_plan_bytes=settings.capture_max_plan_bytes,
        literals=settings.capture_literals,
        kafka_cluster_names=_cluster_names(settings),
        kafka_clusters=KafkaClusters(),
    )
    is_fail_closed = settings.emission_policy is EmissionPolicy.FAIL_CLOSED

    # Destination of events.
    durable = durable_sink(sink)
    outbox = durable.outbox if durable is not None else None
    stop_reasons: dict[str, RunError] = {}
    queries = RunningQueries(listeners.observed, stop_reasons)
    watch = (
        OverrunWatch(durable, wait_seconds=settings.emission_wait_seconds, stop=queries.stop)
        if is_fail_closed
        else None
    )
    publisher = EventPublisher(sink, watch)
    dedup = DedupCache()
    unchecked = UncheckedWrites()

    # Streaming queries.
    files = JvmFiles(spark.sparkContext)
    topic_states = KafkaTopicStates(own_connection(settings))
    topics = ObservedTopics(topic_states)
    store, gaps = LastEmittedStore(Path(outbox.folder) / "queries" if outbox is not None else None), Gaps()
    emitter = StreamEmitter(context=context, emit=publisher.emit, dedup=dedup, files=files, topics=topics, store=store)
    # Under `fail_closed` the next micro-batch waits for this one's event, so none is buffered.
    per_event = 1 if is_fail_closed else settings.coalesce_max_batches
    backfill = Backfill(
        context=context,
        emit=publisher.emit,
        files=files,
        max_batches=settings.reconcile_max_batches,
        gaps=gaps,
        store=store,
        per_event=per_event,
        inside=emitter.inside,
    )
    streams = StreamFlow(
        emitter,
        wait_seconds=settings.capture_foreach_batch_wait_seconds,
        backfill=backfill,
        coalescing=Coalescing(per_event, settings.coalesce_max_seconds),
        store=store,
        stop_reasons=stop_reasons,
    )

    query_metrics().watch(streams)

    # From signals to events.
    heap = int(spark._jvm.java.lang.Runtime.getRuntime().maxMemory())
    inbox: Inbox[Signal | DrainRequest] = Inbox(
        settings.capture_queue_size, settings.capture_queue_max_bytes or heap // _QUEUES_SHARE
    )
    shared_metrics().watch(inbox)
    dispatch = Dispatch(
        spark=spark,
        context=context,
        streams=streams,
        emit=publisher.emit,
        failed=publisher.failed,
        dedup=dedup,
        settings=plan_settings,
        heartbeat_seconds=settings.capture_heartbeat_seconds,
        statements=settings.capture_sql,
        kept=_kept_writes(outbox.folder, context) if outbox is not None else KeptWrites(),
        topics=topics,
        marked=settings.capture_commit_marks,
        reads_are_runs=settings.capture_reads == "runs",
        unchecked=unchecked,
    )
    engine = Engine(
        context=context,
        settings=settings,
        inbox=inbox,
        worker=Worker(inbox, publisher, ListenerBus(spark.sparkContext), dispatch, streams),
        publisher=publisher,
        streams=streams,
        topic_states=topic_states,
        unchecked=unchecked,
        gaps=gaps,
    )

    if settings.capture_commit_marks:
        listeners.mark(context.app_run_id)

    # Emission policy and handle.
    emission = Emission(settings.emission_policy, Durability(engine, sink), queries, watch)
    engine.start(dedup)
    if watch is not None:
        watch.start()
    return Capture(
        engine,
        key=sessions.application_id(spark),
        spark_context=spark.sparkContext,
        listeners=listeners,
        target=SignalTarget(
            inbox,
            emission.hold,
            captures_reads=settings.capture_reads != "off",
            topic_wait_seconds=settings.capture_topic_wait_seconds,
            input_gate=None if gate is None else InputGate(gate, settings, plan_settings, dispatch.frames, unchecked),
        ),
        emission=emission,
        asked=asked,
    )


def _kept_writes(folder: str, context: EventContext) -> KeptWrites:
    # An interpreter without SQLite can still capture: it has no outbox.
    from headwater_producers.spark.left_writes.open_writes import OpenWrites

    return OpenWrites(Path(folder) / "writes", context.app_run_id, context.app_job, context.tenant)


def _cluster_names(settings: CaptureSettings) -> dict[str, str]:
    every = {"*": settings.kafka_cluster_name} if settings.kafka_cluster_name else {}
    return every | (settings.kafka_cluster_names or {})


def _cached_max_event_bytes(sink: SizedSink) -> Callable[[], int]:
    """Return a function that gives the sink's maximum event size.

    Its first call, on capture's worker thread, waits for the brokers' limit.
    """
    waits = [_SINK_WAIT_SECONDS]
    return lambda: sink.max_event_bytes(waits.pop() if waits else 0.0)


def event_context(
    settings: CaptureSettings,
    *,
    app_name: str,
    spark_version: str,
    sink: EventSink | None = None,
    started_by: Orchestration = NOBODY,
    properties: Mapping[str, str] = MappingProxyType({}),
    environment: Mapping[str, str] = MappingProxyType({}),
    user: str | None = None,
) -> EventContext:
    """Build the context of an application, with a new run id."""
    code = running_code(environment)
    return EventContext(
        tenant=settings.tenant,
        namespace=settings.job_namespace,
        app_name=application_name(settings.job_name, app_name),
        app_run_id=str(uuid.uuid4()),
        producer=f"https://headwater/spark/{capture_version()}",
        versions=Versions(
            code=settings.job_code_version or code.version,
            config=settings.job_config_version or configuration_digest(properties),
            engine=EngineRef("spark", spark_version),
            capture=capture_version(),
        ),
        started_by=started_by,
        about=run_context(settings, code, properties=properties, environment=environment, user=user),
        period=period(settings, environment),
        criticality=settings.job_criticality,
        owners=(Owner(settings.job_owner),) if settings.job_owner else None,
        tags=tuple(Tag(key=key, value=value) for key, value in settings.tags) or None,
        errors=settings.capture_errors,
        max_event_bytes=settings.topic_max_message_bytes,
        sink_bytes=_cached_max_event_bytes(sink) if isinstance(sink, SizedSink) else None,
    )
