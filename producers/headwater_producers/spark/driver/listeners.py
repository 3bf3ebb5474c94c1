"""What Spark calls on its own threads, and what it hands to the worker: references and the time, nothing read yet.

Two proxies are registered once per session for its life. A listener can't be taken off from Python, and a second one
would receive everything twice: so `SessionListeners` are made once, and `target` switches them. Callbacks come on JVM
threads (the listener bus; for `onQueryStarted` the query's own, inside `start()`), so they only take references. An
exception of ours ends here.

Nobody here keeps a session alive: an application may make one for each request that it serves. The JVM's session holds
the JVM's ends of the proxies, these hold the proxies, by way of py4j, and the proxies hold the session weakly. So when
the job lets go of a session, both sides' collectors take it, and the proxies after it.

Which micro-batch a foreachBatch function is called for Spark has only on the thread that calls it. So the function is
wrapped (`watch`); the wrapper adds one round trip to the JVM (0.2 ms) to each call, takes a reference, and passes
everything through, exceptions included.
"""

from __future__ import annotations

import functools
import logging
import threading
import weakref
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from headwater_producers.spark.driver.inbox import (
    BatchFunctionCalled,
    CommandEnded,
    QueryProgressed,
    QueryStarted,
    QueryTerminated,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater_producers.spark.driver.inbox import Signal

logger = logging.getLogger(__name__)


# A write or DDL, executed as soon as it is analyzed. What only reads is called `collect`, `count` …; and so is a
# micro-batch of a V2 sink, of which the query itself reports more. Writes of tables have names of their own
# (QueryExecution.commandExecutionName).
COMMANDS: Final = frozenset(
    {"append", "command", "create", "multi-commands", "overwrite", "overwritePartitions", "replace"}
)


class SignalTarget(Protocol):
    """Takes signals, without waiting."""

    @property
    def captures_reads(self) -> bool:
        """Whether it takes queries that only read, too."""

    def offer(self, signal: Signal) -> None:
        """Takes one."""

    def hold(self, frame: Any, query_id: str, batch_id: int) -> None:
        """Called on the query's thread before a foreachBatch function is: may wait, or refuse by raising."""


class SessionListeners:
    """One session's registered proxies, and who receives their callbacks: nobody while `target` is None.

    Args:
        session: the `SparkSession` they are registered with.
    """

    def __init__(self, session: Any = None) -> None:
        self.target: SignalTarget | None = None
        self._observes_streams = False
        self._lock = threading.Lock()
        self._known: Callable[[], Any] = lambda: None
        self._in_jvm: Any = None
        if session is not None:
            self._context = session.sparkContext
            self._known = weakref.ref(session)
            # Python may have several objects for one session of the JVM, and let go of this one before.
            self._in_jvm = session._jvm.java.lang.ref.WeakReference(session._jsparkSession)

    @property
    def session(self) -> Any:
        """The `SparkSession`; None where Spark has none any more. Asks the JVM only if Python has let go of it."""
        if (known := self._known()) is not None:
            return known
        left = self._in_jvm.get() if self._in_jvm is not None else None
        if left is None or (made := session_of(self._context, left)) is None:
            return None
        self._known = weakref.ref(made)
        return made

    def register(self, *, streams: bool) -> None:
        """Registers the proxies, once.

        Args:
            streams: at once for streaming queries, too; else when `observe_streams` is called.
        """
        self.session._jsparkSession.listenerManager().register(CommandListener(self))
        if streams:
            self.observe_streams()

    def register_copy(self, jvm_session: Any) -> None:
        """Observes a copy of the session, too, in which a query runs already."""
        jvm_session.listenerManager().register(CommandListener(self))

    def observe_streams(self) -> None:
        """Registers for the session's streaming queries, if that wasn't done yet."""
        with self._lock:
            if self._observes_streams or (session := self.session) is None:
                return
            wrapper = session._jvm.org.apache.spark.sql.streaming.PythonStreamingQueryListenerWrapper
            session._jsparkSession.streams().addListener(wrapper(StreamListener(self)))
            self._observes_streams = True

    def offer_with(self, signal_in: Callable[[Any], Signal]) -> None:
        """Passes a signal on that is made with the session."""
        try:
            signal = signal_in(self.session)
        except Exception:
            logger.warning("lineage capture: a callback was lost", exc_info=True)
        else:
            self.offer(signal)

    def offer(self, signal: Signal) -> None:
        """Passes a signal on."""
        if (target := self.target) is not None:
            try:
                target.offer(signal)
            except Exception:
                logger.warning("lineage capture: a callback was lost", exc_info=True)


def session_of(spark_context: Any, jvm_session: Any) -> Any:
    """A `SparkSession` for one of the JVM's; None when Spark is down: it would be taken for the new default one."""
    from pyspark.sql import SparkSession

    return SparkSession(spark_context, jvm_session) if SparkSession._instantiatedSession is not None else None


def _query(session: Any, event: Any) -> Any:
    """The query that is starting; None where it can't be had."""
    try:
        return session._jsparkSession.streams().get(event.id())
    except Exception:
        logger.warning("lineage capture: a starting query can't be accessed", exc_info=True)
        return None


class CommandListener:
    """Spark's QueryExecutionListener."""

    def __init__(self, listeners: SessionListeners) -> None:
        self._listeners = listeners

    def onSuccess(self, function: str, query_execution: Any, duration_ns: int) -> None:
        """A query has succeeded."""
        self._ended(function, query_execution, duration_ns, None)

    def onFailure(self, function: str, query_execution: Any, error: Any) -> None:
        """A query has failed."""
        self._ended(function, query_execution, None, error)

    def _ended(self, function: str, query_execution: Any, duration_ns: int | None, error: Any) -> None:
        target = self._listeners.target
        if target is not None and (function in COMMANDS or target.captures_reads):
            now = datetime.now(UTC)
            self._listeners.offer_with(
                lambda session: CommandEnded(function, query_execution, duration_ns, error, session, now)
            )

    class Java:
        """What py4j asks for."""

        implements: ClassVar = ["org.apache.spark.sql.util.QueryExecutionListener"]


class StreamListener:
    """Spark's StreamingQueryListener, without PySpark's own wrapper: that one parses each progress on the bus."""

    def __init__(self, listeners: SessionListeners) -> None:
        self._listeners = listeners

    def onQueryStarted(self, event: Any) -> None:
        """Runs inside `start()`. A query with nothing to do may be gone when the worker looks: so take it now."""
        if self._listeners.target is None:
            return
        self._listeners.offer_with(
            lambda session: QueryStarted(event, _query(session, event), session, datetime.now(UTC))
        )

    def onQueryProgress(self, event: Any) -> None:
        """A trigger has ended."""
        if self._listeners.target is not None:
            now = datetime.now(UTC)
            self._listeners.offer_with(lambda session: QueryProgressed(event, session, now))

    def onQueryIdle(self, event: Any) -> None:
        """A trigger found nothing to do: no micro-batch, so nothing to record."""

    def onQueryTerminated(self, event: Any) -> None:
        """A query has ended."""
        if self._listeners.target is not None:
            self._listeners.offer(QueryTerminated(event, datetime.now(UTC)))

    class Java:
        """What py4j asks for."""

        implements: ClassVar = ["org.apache.spark.sql.streaming.PythonStreamingQueryListener"]


# Spark's local property with the id of the query whose thread this is (StreamExecution.QUERY_ID_KEY).
QUERY_ID_PROPERTY = "sql.streaming.queryId"
RUNNING_BATCH: Final[ContextVar[tuple[str, int] | None]] = ContextVar("headwater_running_batch", default=None)
"""The query's id and the batch's number, on a thread that runs a foreachBatch function."""
WRAPPED: Final = "_headwater_wrapped"
"""Set on what is wrapped already."""


def watch_started(gateway: Any, session_id: str, listeners: SessionListeners) -> None:
    """Wraps the functions of the session's queries that were handed over before, where py4j keeps them for Spark."""
    from pyspark.sql.utils import ForeachBatchFunction

    try:
        # Everything of Python's that the JVM may call.
        handed_over = list(gateway.gateway_property.pool.dict.values())
        for proxy in handed_over:
            if isinstance(proxy, ForeachBatchFunction) and not hasattr(proxy.func, WRAPPED):
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

    setattr(call, WRAPPED, True)
    return call
