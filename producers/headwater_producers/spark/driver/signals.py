"""Signals that Spark's listeners and the hooks send to the worker: JVM references, which only the worker reads.

In a signal, `session` is the `SparkSession` whose listener was called; the listener also reports queries and writes in
copies of the session. A py4j reference keeps its JVM object alive until the reference is dropped.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater_producers.spark.driver.reported_quality import QualityReported
from headwater_schemas.events import RunError


@dataclass(frozen=True, slots=True)
class CommandEnded:
    """Signal: a query has ended; `error` is its JVM exception, None if it succeeded.

    `function` is Spark's name of the action: `command`, `overwrite` for a write or DDL; `collect`, `count` for a read.
    """

    function: str
    query_execution: Any
    duration_ns: int | None
    error: Any
    session: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class QueryStarted:
    """Signal: a streaming query starts. `query` is its JVM object, None if the query had ended already."""

    event: Any
    query: Any
    session: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class Attached:
    """Signal: capture begins to observe a session, which may have running queries."""

    session: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class QueryProgressed:
    """Signal: a micro-batch has been committed."""

    event: Any
    session: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class QueryTerminated:
    """Signal: a streaming query has stopped or failed."""

    event: Any
    at: datetime


@dataclass(frozen=True, slots=True)
class BatchFunctionCalled:
    """Signal: a foreachBatch function is being called with `frame`, a JVM Dataset."""

    frame: Any
    query_id: str
    batch_id: int


@dataclass(frozen=True, slots=True)
class FrameKept:
    """Signal: a frame's rows continue in `frame`, a JVM Dataset that begins a new plan, or in `rdd`, a `JavaRDD`."""

    source: Any
    frame: Any
    rdd: Any
    session: Any


@dataclass(frozen=True, slots=True)
class RddRead:
    """Signal: rows of `rdd`, a `JavaRDD`, have reached the program."""

    rdd: Any


@dataclass(frozen=True, slots=True)
class RddActed:
    """Signal: an action on an RDD, a `JavaRDD`, that runs no query.

    `action` is PySpark's method, `path` the written path, `error` the error of a failed action. `inside` has the
    query's id and the batch's number if a foreachBatch function ran the action.
    """

    rdd: Any
    action: str
    path: str | None
    started_at: datetime
    ended_at: datetime
    error: RunError | None
    inside: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class TopicWriteBegins:
    """Signal: a batch write to Kafka is about to begin, by the JVM's `writer`.

    `asked` is set once the topic's state is known, or can't be requested.
    """

    writer: Any
    session: Any
    asked: threading.Event


Signal = (
    Attached
    | BatchFunctionCalled
    | CommandEnded
    | FrameKept
    | QueryProgressed
    | QueryStarted
    | QueryTerminated
    | QualityReported
    | RddActed
    | RddRead
    | TopicWriteBegins
)
