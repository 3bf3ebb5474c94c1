"""Plan reader: datasets in and out of a Spark plan, and the lineage of each output column.

Pure Python over the JSON that Spark makes of a plan; `execution.describe` brings it, and `PlanDescription` comes out.
"""

from __future__ import annotations

from headwater_producers.spark.plan.description import (
    DdlChange,
    PlanDescription,
    PlanInput,
    PlanOutput,
    SourceKind,
    StreamingLink,
    Upstream,
    WriteMode,
)
from headwater_producers.spark.plan.frames import KnownFrames
from headwater_producers.spark.plan.settings import PlanSettings

__all__ = [
    "DdlChange",
    "KnownFrames",
    "PlanDescription",
    "PlanInput",
    "PlanOutput",
    "PlanSettings",
    "SourceKind",
    "StreamingLink",
    "Upstream",
    "WriteMode",
]
