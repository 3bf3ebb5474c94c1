"""Lineage capture for PySpark.

    from headwater_producers.spark import attach

    attach(spark, job_name="enrich")  # where to send events: HEADWATER_KAFKA_BOOTSTRAP_SERVERS

From then on every batch write is a run and every micro-batch of a streaming query an interval, until the script ends.
`attach` returns a `Capture` with `flush`, `close` and `status`, which is a context manager too.
"""

from __future__ import annotations

from headwater_producers.spark import quality
from headwater_producers.spark.common.errors import CaptureError, CaptureSettingsError, TaintedInputError
from headwater_producers.spark.common.settings import CaptureSettings
from headwater_producers.spark.common.sink import EventSink
from headwater_producers.spark.driver.attach import attach
from headwater_producers.spark.driver.capture import Capture
from headwater_producers.spark.driver.status import CaptureStatus
from headwater_producers.spark.explain import LineageExplanation, explain_lineage

__all__ = [
    "Capture",
    "CaptureError",
    "CaptureSettings",
    "CaptureSettingsError",
    "CaptureStatus",
    "EventSink",
    "LineageExplanation",
    "TaintedInputError",
    "attach",
    "explain_lineage",
    "quality",
]
