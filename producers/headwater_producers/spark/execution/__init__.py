"""Execution of a Spark query, as values: plan, times, counts, commits.

`describe` and `describe_streaming` read a plan; the connectors answer questions about a storage technology.
"""

from __future__ import annotations

from headwater_producers.spark.execution.describe import describe, describe_plan, describe_streaming, may_write

__all__ = ["describe", "describe_plan", "describe_streaming", "may_write"]
