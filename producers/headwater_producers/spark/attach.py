"""attach: the way in."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from headwater_producers.spark import sessions, shutdown
from headwater_producers.spark.capture import Capture
from headwater_producers.spark.engine import start_engine
from headwater_producers.spark.errors import CaptureError
from headwater_producers.spark.runtime import foreach_batch
from headwater_producers.spark.settings import CaptureSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater_producers.spark.sink import EventSink

logger = logging.getLogger(__name__)
_lock = threading.Lock()


def attach(
    spark: SparkSession, settings: CaptureSettings | None = None, *, sink: EventSink | None = None, **overrides: Any
) -> Capture:
    """Captures the lineage of everything that `spark` runs from now on.

    A session that is being captured already keeps its capture, which is returned; settings given then are ignored,
    with a warning.

    Args:
        spark: the session.
        settings: default: what the environment says (`HEADWATER_…`).
        sink: where events go; default: Kafka.
        overrides: single settings by name, on top of `settings`: `attach(spark, job_name="enrich")`.

    Raises:
        CaptureSettingsError: a setting is missing, unknown or of the wrong form.
        CaptureError: the session is of a sort that can't be captured.
    """
    chosen = settings.merged(**overrides) if settings is not None else CaptureSettings.load(**overrides)
    if not chosen.capture_enabled:
        return Capture()
    if not hasattr(spark, "_jsparkSession"):
        raise CaptureError(
            "a Spark Connect session has no JVM of its own here, so its plans can't be seen: attach where the Spark "
            "driver runs, in a classic session"
        )
    with _lock:
        if (running := sessions.running_capture(spark)) is not None:
            if settings is not None or overrides or sink is not None:
                logger.warning("this session is being captured already; the settings of a second attach are ignored")
            return running
        engine = start_engine(spark, chosen, sink if sink is not None else _kafka(chosen))
        listeners = sessions.listeners_of(spark)
        key = sessions.session_id(spark)
        capture = Capture(engine, key=key, spark_context=spark.sparkContext, listeners=listeners)
        sessions.begin(key, capture)
        foreach_batch.install()
        shutdown.install()
        shutdown.drain_before_stop(spark)
        listeners.target = engine
    return capture


def _kafka(settings: CaptureSettings) -> EventSink:
    # Whoever only asks for a DataFrame's lineage, or brings a sink, needs no Kafka client.
    from headwater_producers.spark.kafka_sink import kafka_sink

    return kafka_sink(settings)
