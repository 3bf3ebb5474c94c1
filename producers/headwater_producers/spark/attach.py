"""attach: the way in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_producers.spark.capture import Capture

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater_producers.spark.settings import CaptureSettings
    from headwater_producers.spark.sink import EventSink


def attach(
    spark: SparkSession, settings: CaptureSettings | None = None, *, sink: EventSink | None = None, **overrides: Any
) -> Capture:
    """Captures the lineage of everything `spark` runs from now on.

    Args:
        spark: the session.
        settings: default: the environment's.
        sink: where events go; default: Kafka.
        overrides: single settings by name, on top of `settings`: `attach(spark, job_name="enrich")`.

    Raises:
        CaptureSettingsError: a setting is missing, unknown or of the wrong form.
    """
    raise NotImplementedError
