"""One execution of Spark's as values: what its plan reads and writes, when it ran, what it counted and committed.

`describe` and `describe_streaming` read a plan; the connectors answer what is particular to a storage technology.
"""

from __future__ import annotations

from headwater_producers.spark.execution.describe import describe, describe_plan, describe_streaming, may_write

__all__ = ["describe", "describe_plan", "describe_streaming", "may_write"]
