"""A query listener that keeps what Spark hands it, so that a test can describe it afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Executions:
    """The JVM's `QueryExecution`s, succeeded or failed, in the order they ended."""

    def __init__(self) -> None:
        self.found: list[Any] = []

    def onSuccess(self, _name: str, execution: Any, _nanoseconds: int) -> None:  # noqa: N802 - the interface's name
        self.found.append(execution)

    def onFailure(self, _name: str, execution: Any, _error: Any) -> None:  # noqa: N802 - the interface's name
        self.found.append(execution)

    class Java:
        implements = ("org.apache.spark.sql.util.QueryExecutionListener",)


@contextmanager
def executions(spark: SparkSession) -> Iterator[list[Any]]:
    """The executions within the block; all have arrived when it is left."""
    from pyspark import java_gateway

    context: Any = spark.sparkContext
    start: Any = java_gateway.ensure_callback_server_started
    start(context._gateway)
    listener = Executions()
    manager: Any = spark._jsparkSession.listenerManager()
    bus, limit_ms = context._jsc.sc().listenerBus(), int(patience(60) * 1_000)
    # What ran before the block may not have been emitted yet.
    bus.waitUntilEmpty(limit_ms)
    manager.register(listener)
    try:
        yield listener.found
    finally:
        # Callbacks run on the listener bus.
        bus.waitUntilEmpty(limit_ms)
        manager.unregister(listener)
