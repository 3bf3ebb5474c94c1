"""What Spark's threads hand to the worker: references and the time, nothing looked at yet.

`session` is the `SparkSession` whose listener was called; a query or write in a copy of it is told by it too.
A py4j reference keeps its JVM object alive for as long as it is held here, and lets go of it when it is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class CommandEnded:
    """A command (a write, or DDL) has ended; `error` is its JVM exception, None where it succeeded."""

    query_execution: Any
    duration_ns: int | None
    error: Any
    session: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class QueryStarted:
    """A streaming query starts. `query` is its JVM object, None where it was gone already."""

    event: Any
    query: Any
    session: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class Attached:
    """Capture begins to hear a session, whose queries may be running already."""

    session: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class QueryProgressed:
    """A micro-batch has been committed."""

    event: Any
    session: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class QueryTerminated:
    """A streaming query has stopped or failed."""

    event: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class BatchFunctionCalled:
    """A foreachBatch function is being called with `frame`, a JVM Dataset."""

    frame: Any
    query_id: str
    batch_id: int


Signal = Attached | CommandEnded | QueryStarted | QueryProgressed | QueryTerminated | BatchFunctionCalled
