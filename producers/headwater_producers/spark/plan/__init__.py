"""Reading a Spark plan: datasets in and out, and how each column out comes from columns in.

`describe` and `describe_streaming` are the way in; `PlanDescription` is what comes out.
"""

from __future__ import annotations

from headwater_producers.spark.plan.describe import describe, describe_streaming
from headwater_producers.spark.plan.description import (
    DatasetChange,
    PlanDescription,
    PlanInput,
    PlanOutput,
    SourceKind,
    StreamingLink,
    Upstream,
    WriteMode,
)
from headwater_producers.spark.plan.frames import KnownFrames
from headwater_producers.spark.plan.jvm.kafka import KafkaClusters
from headwater_producers.spark.plan.settings import PlanSettings

__all__ = [
    "DatasetChange",
    "KafkaClusters",
    "KnownFrames",
    "PlanDescription",
    "PlanInput",
    "PlanOutput",
    "PlanSettings",
    "SourceKind",
    "StreamingLink",
    "Upstream",
    "WriteMode",
    "describe",
    "describe_streaming",
]
