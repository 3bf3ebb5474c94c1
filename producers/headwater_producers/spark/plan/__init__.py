"""Plan reader: inputs and outputs of a Spark plan, and the lineage of each output column.

Pure Python: it converts a plan's JSON, which `execution.describe` gets from Spark, to a `PlanDescription`.
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
