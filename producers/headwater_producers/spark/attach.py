"""attach: the way in."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

from headwater_producers.spark import sessions, shutdown
from headwater_producers.spark.capture import Capture
from headwater_producers.spark.emission import Emission
from headwater_producers.spark.errors import CaptureError
from headwater_producers.spark.runtime import foreach_batch, rdd_hooks, stream_starts
from headwater_producers.spark.settings import CaptureSettings
from headwater_producers.spark.spark_properties import headwater_properties
from headwater_producers.spark.streaming.notes import Notes
from headwater_producers.spark.wiring import start_engine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater_producers.spark.sink import EventSink

logger = logging.getLogger(__name__)
_lock = threading.Lock()

CONNECT = (
    "lineage isn't captured: this is a Spark Connect session, whose plans are in another process. Attach where the "
    "Spark driver runs, or make a classic session (spark.api.mode=classic, no spark.remote)"
)


def attach(
    spark: SparkSession, settings: CaptureSettings | None = None, *, sink: EventSink | None = None, **overrides: Any
) -> Capture:
    """Captures the lineage of everything that `spark`'s application runs from now on.

    That is: all that runs in this session, in those that `newSession()` makes of it, in other sessions of the same
    application that were there before, and in streaming queries that run already.

    An application that is being captured keeps its capture, which is returned; the session joins it. Settings given
    then are ignored, with a warning where they differ. A Spark Connect session can't be captured: that is logged, as an
    error, and the capture that is returned does nothing.

    Args:
        spark: the session.
        settings: default: what `spark.headwater.…` says, of the session's `spark.conf` and below that of the
            application, and below both the environment (`HEADWATER_…`).
        sink: where events go; default: Kafka.
        overrides: single settings by name, on top of `settings`: `attach(spark, job_name="enrich")`.

    Raises:
        CaptureSettingsError: a setting is missing, unknown or of the wrong form.
        CaptureError: `spark` is no session, or one that was stopped; or `sink` is no EventSink.
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
    with _lock:
        if (running := sessions.running_capture(spark)) is not None:
            sessions.join(spark)
            # A cell of a notebook that is run again changes nothing.
            given = settings is not None or overrides or sink is not None
            if given and not running.is_as_asked(chosen, sink):
                logger.warning(
                    "lineage capture: this application is being captured already; what a second attach sets otherwise "
                    "is ignored"
                )
            return running
        target = sink if sink is not None else _kafka(chosen)
        listeners = sessions.join(spark)
        emission = Emission(chosen, target, listeners.observed)
        engine = start_engine(spark, chosen, emission, Notes(emission.notes_folder))
        emission.start(engine)
        key = sessions.application_id(spark)
        capture = Capture(
            engine,
            key=key,
            spark_context=spark.sparkContext,
            listeners=listeners,
            emission=emission,
            asked=(chosen, sink),
        )
        sessions.begin(key, capture)
        foreach_batch.install()
        rdd_hooks.install()
        stream_starts.install()
        sessions.watch_new_sessions()
        shutdown.install()
        shutdown.drain_before_stop(spark)
        listeners.target = engine
        for session in listeners.observed():
            engine.found(session)
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
    # Whoever only asks for a DataFrame's lineage, or brings a sink, needs no Kafka client.
    from headwater_producers.spark.kafka_sink import kafka_sink

    return kafka_sink(settings)
