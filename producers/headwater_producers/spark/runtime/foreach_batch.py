"""foreachBatch: reporting which micro-batch a function is called for.

Spark has that only on the thread that calls the function. So `DataStreamWriter.foreachBatch` is wrapped, once a
process, from the first `attach` on; in a session that isn't captured it does what it always did. The wrapper adds one
round trip to the JVM (0.2 ms) to each call, takes a reference, and passes everything through, exceptions included.

A function that was handed over before is found where py4j keeps it for Spark to call, and wrapped there.
"""

from __future__ import annotations

import functools
import logging
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.runtime.signals import BatchFunctionCalled

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater_producers.spark.runtime.listeners import SessionListeners

logger = logging.getLogger(__name__)

# Spark's local property with the id of the query whose thread this is (StreamExecution.QUERY_ID_KEY).
QUERY_ID_PROPERTY = "sql.streaming.queryId"
RUNNING_BATCH: Final[ContextVar[tuple[str, int] | None]] = ContextVar("headwater_running_batch", default=None)
"""The query's id and the batch's number, on a thread that runs a foreachBatch function."""
_MARK = "_headwater_wrapped"


def install() -> None:
    """Wraps `DataStreamWriter.foreachBatch`. Idempotent."""
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    original = DataStreamWriter.foreachBatch
    if hasattr(original, _MARK):
        return

    @functools.wraps(original)
    def foreach_batch(self: DataStreamWriter, func: Callable[[Any, int], None]) -> DataStreamWriter:
        return original(self, _watched(self, func))

    setattr(foreach_batch, _MARK, True)
    DataStreamWriter.foreachBatch = foreach_batch  # type: ignore[method-assign]


def watch_started(gateway: Any, session_id: str, listeners: SessionListeners) -> None:
    """Wraps the functions of the session's queries that were made before `install`."""
    from pyspark.sql.utils import ForeachBatchFunction

    try:
        # Everything of Python's that the JVM may call.
        handed_over = list(gateway.gateway_property.pool.dict.values())
        for proxy in handed_over:
            if isinstance(proxy, ForeachBatchFunction) and not hasattr(proxy.func, _MARK):
                of_session = str(proxy.session._jsparkSession.sessionUUID())
                if of_session == session_id:
                    proxy.func = watch(proxy.func, listeners)
    except Exception:
        logger.warning(
            "lineage capture: foreachBatch functions of running queries can't be wrapped; their writes are runs of "
            "their own",
            exc_info=True,
        )


def watch(func: Callable[[Any, int], None], listeners: SessionListeners) -> Callable[[Any, int], None]:
    """`func`, reporting each call to `listeners` before it is made."""

    @functools.wraps(func)
    def call(frame: Any, batch_id: int) -> None:
        query_id = None
        if (target := listeners.target) is not None:
            try:
                query_id = frame.sparkSession.sparkContext.getLocalProperty(QUERY_ID_PROPERTY)
                if query_id is not None:
                    listeners.offer(BatchFunctionCalled(frame._jdf, str(query_id), int(batch_id)))
            except Exception:
                logger.warning("lineage capture: the micro-batch of a foreachBatch call is unknown", exc_info=True)
            if query_id is not None:
                # Not guarded: holding the job back, or failing it, is what an emission policy may ask for.
                target.hold(frame, str(query_id), int(batch_id))
        if query_id is None:
            func(frame, batch_id)
            return
        running = RUNNING_BATCH.set((str(query_id), int(batch_id)))
        try:
            func(frame, batch_id)
        finally:
            RUNNING_BATCH.reset(running)

    setattr(call, _MARK, True)
    return call


def _watched(writer: Any, func: Callable[[Any, int], None]) -> Callable[[Any, int], None]:
    # Sessions know of this module, which they hand the functions of their running queries.
    from headwater_producers.spark import sessions

    try:
        listeners = sessions.known_listeners(writer._spark)
    except Exception:
        logger.warning(
            "lineage capture: a foreachBatch function can't be wrapped; its writes are runs of their own", exc_info=True
        )
        return func
    return func if listeners is None else watch(func, listeners)
