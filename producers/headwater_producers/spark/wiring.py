"""start_engine: how one application's capture is put together."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.backfill.backfill import Backfill
from headwater_producers.spark.connectors.kafka.clusters import KafkaClusters
from headwater_producers.spark.connectors.kafka.end_offsets import KafkaEndOffsets, own_connection
from headwater_producers.spark.connectors.kafka.sink_offsets import SinkOffsets
from headwater_producers.spark.emission.policy import EmissionPolicy
from headwater_producers.spark.engine import Engine
from headwater_producers.spark.events.context import EventContext
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.events.job_names import application_name
from headwater_producers.spark.events.parent import PROPERTY_PREFIX, Orchestration, orchestration
from headwater_producers.spark.jvm.files import JvmFiles
from headwater_producers.spark.jvm.listener_bus import ListenerBus
from headwater_producers.spark.metrics import shared_metrics
from headwater_producers.spark.plan import PlanSettings
from headwater_producers.spark.runtime.dispatch import Dispatch
from headwater_producers.spark.runtime.inbox import Inbox
from headwater_producers.spark.runtime.worker import Order, Worker
from headwater_producers.spark.spark_properties import properties
from headwater_producers.spark.streaming.coalescing import Coalescing
from headwater_producers.spark.streaming.emitter import StreamEmitter
from headwater_producers.spark.streaming.flow import StreamFlow
from headwater_producers.spark.streaming.gaps import Gaps
from headwater_producers.spark.streaming.notes import Notes
from headwater_producers.spark.versions import capture_version, git_commit
from headwater_schemas.events import EngineRef, Owner, Tag, Versions

if TYPE_CHECKING:
    from headwater_producers.spark.runtime.signals import Signal
    from headwater_producers.spark.settings import CaptureSettings
    from headwater_producers.spark.sink import EventSink

# Of the driver's heap, for plans that wait.
_QUEUES_SHARE: Final = 8


def start_engine(spark: Any, settings: CaptureSettings, sink: EventSink, notes: Notes | None = None) -> Engine:
    """Wires and starts an engine: signals ─▶ inbox ─▶ worker ─▶ dispatch ─▶ (streams) ─▶ sink.

    Args:
        spark: a session of the application.
        settings: of the capture.
        sink: where events go.
        notes: the last micro-batch of each query emitted to the sink's destination; None: not known.
    """
    context = event_context(
        settings,
        app_name=spark.sparkContext.appName,
        spark_version=spark.version,
        started_by=orchestration(properties(spark.sparkContext, PROPERTY_PREFIX), os.environ),
    )
    plan_settings = PlanSettings(
        max_plan_bytes=settings.capture_max_plan_bytes,
        literals=settings.capture_literals,
        kafka_cluster_names=_cluster_names(settings),
        kafka_clusters=KafkaClusters(),
    )
    dedup = DedupCache()
    heap = int(spark._jvm.java.lang.Runtime.getRuntime().maxMemory())
    inbox: Inbox[Signal | Order] = Inbox(
        settings.capture_queue_size, settings.capture_queue_max_bytes or heap // _QUEUES_SHARE
    )
    shared_metrics().watch(inbox)
    worker = Worker(inbox, sink, ListenerBus(spark.sparkContext))
    end_offsets = KafkaEndOffsets(own_connection(settings))
    files = JvmFiles(spark.sparkContext)
    notes, gaps = notes or Notes(), Gaps()
    emitter = StreamEmitter(
        context=context, emit=worker.emit, dedup=dedup, files=files, sinks=SinkOffsets(end_offsets), notes=notes
    )
    # Nothing may wait where the next micro-batch waits for it.
    per_event = 1 if settings.emission_policy is EmissionPolicy.FAIL_CLOSED else settings.coalesce_max_batches
    streams = StreamFlow(
        emitter,
        wait_seconds=settings.capture_foreach_batch_wait_seconds,
        backfill=Backfill(
            context=context,
            emit=worker.emit,
            files=files,
            max_batches=settings.reconcile_max_batches,
            gaps=gaps,
            notes=notes,
            per_event=per_event,
            inside=emitter.inside,
        ),
        coalescing=Coalescing(per_event, settings.coalesce_max_seconds),
        notes=notes,
    )
    dispatch = Dispatch(
        spark=spark,
        context=context,
        streams=streams,
        emit=worker.emit,
        failed=worker.failed,
        dedup=dedup,
        settings=plan_settings,
    )
    engine = Engine(
        context=context,
        settings=settings,
        inbox=inbox,
        worker=worker,
        streams=streams,
        end_offsets=end_offsets,
        gaps=gaps,
    )
    engine.start(dispatch, dedup)
    return engine


def _cluster_names(settings: CaptureSettings) -> dict[str, str]:
    every = {"*": settings.kafka_cluster_name} if settings.kafka_cluster_name else {}
    return every | (settings.kafka_cluster_names or {})


def event_context(
    settings: CaptureSettings, *, app_name: str, spark_version: str, started_by: Orchestration
) -> EventContext:
    """The context of an application by its settings, under a run id of its own."""
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
        errors=settings.capture_errors,
        max_event_bytes=settings.topic_max_message_bytes,
    )
