"""What Spark's threads hand to the worker: references and the time, nothing read yet.

`session` is the `SparkSession` whose listener was called; a query or write in a copy of it is reported by it too.
A py4j reference keeps its JVM object alive for as long as it is held here, and lets go of it when it is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater_schemas.events import RunError


@dataclass(frozen=True, slots=True)
class CommandEnded:
    """A query has ended; `error` is its JVM exception, None where it succeeded.

    `function` is what Spark calls it: `command`, `overwrite` of a write or DDL; `collect`, `count` of what only reads.
    """

    function: str
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
    """Capture begins to observe a session, whose queries may be running already."""

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


@dataclass(frozen=True, slots=True)
class FrameKept:
    """A frame's rows live on: in `frame`, a JVM Dataset that begins anew, or in `rdd`, a `JavaRDD`."""

    source: Any
    frame: Any
    rdd: Any
    session: Any


@dataclass(frozen=True, slots=True)
class RddActed:
    """Something was done with an RDD, a `JavaRDD`, that runs no query.

    `action` is PySpark's method, `path` where it writes, `error` why it failed, `inside` the query's id and
    the batch's number where a foreachBatch function did it.
    """

    rdd: Any
    action: str
    path: str | None
    started_at: datetime
    ended_at: datetime
    error: RunError | None
    inside: tuple[str, int] | None = None


Signal = (
    Attached
    | BatchFunctionCalled
    | CommandEnded
    | FrameKept
    | QueryProgressed
    | QueryStarted
    | QueryTerminated
    | RddActed
)
