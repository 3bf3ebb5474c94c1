"""Listeners that Spark calls on its own threads, their signals to the worker, and the inbox in between.

Two py4j proxies (Python objects that the JVM calls) are registered with each session, for the session's whole life.
Python can't remove a listener, and a second listener would receive everything twice: so `SessionListeners` are created
once, and `target` turns them on and off. Callbacks come on JVM threads (the listener bus; for `onQueryStarted` the
query's own, inside `start()`), so they do little: they take references, read a query that starts, and weigh a plan if
other signals wait. No exception of capture leaves a callback.

This module keeps no session alive: an application may create a session for each request. The JVM's session references
the JVM's ends of the proxies, these reference the proxies through py4j, and the proxies reference the session weakly.
So when the job drops a session, the garbage collectors of both sides free the session, then the proxies.

Only the thread that calls a foreachBatch function knows the micro-batch. So the function is wrapped (`watch`); the
wrapper adds one round trip to the JVM (0.2 ms) to each call, takes a reference, and passes everything through,
exceptions included.

A signal's weight estimates the JVM memory that can't be freed while the signal waits. A command holds its
`QueryExecution`: the plan as analyzed, optimized and executed, in which each operator has an object for each of its
columns, and several for a computed column. So a plan's weight grows with the number of operators times their columns.
Both numbers are in Spark's text of a plan, which names the first columns of an operator and counts the rest. The text
is only read if other signals are waiting; this takes a millisecond for 500 operators.
"""

from __future__ import annotations

import functools
import logging
import re
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from py4j.java_gateway import JavaObject

from headwater_producers.spark.common.metrics import shared_metrics
from headwater_producers.spark.driver.reported_quality import QualityReported
from headwater_producers.spark.driver.signals import (
    BatchFunctionCalled,
    CommandEnded,
    QueryProgressed,
    QueryStarted,
    QueryTerminated,
    Signal,
    TopicWriteBegins,
)
from headwater_producers.spark.jvm.references import JvmReference, own_references
from headwater_producers.spark.jvm.versions import MORE_COMMANDS, plan_text

if TYPE_CHECKING:
    from headwater_producers.spark.driver.input_gate import InputGate

logger = logging.getLogger(__name__)

T = TypeVar("T")


SMALL_BYTES: Final = 16 * 1024
"""Bytes of a signal without a command's plan: a progress, a frame of a micro-batch."""

# Measured: growth of the heap, after a collection, by fresh waiting plans. Per plan of 5 columns and 3 operators 0.15
# MB; 1,000 and 3: 15.5 MB; 300 and 10: 15.7 MB; 600 and 2: 6.9 MB; 1 and 150: 0.9 MB.
COMMAND_BYTES: Final = 128 * 1024
"""Bytes of any command's execution besides operators and columns."""

OPERATOR_BYTES: Final = 8 * 1024

COLUMN_BYTES: Final = 5 * 1024
"""Bytes of one column that an operator computes, in all plans of the execution together."""

# Measured the same way, with projections that change one column. 50 operators of 1,000 columns: 15 MB; 500 operators of
# 100 columns: 10 MB.
PASSED_BYTES: Final = 512
"""Bytes of a column that an operator only passes on: such columns share an attribute."""

# Assumed minimum share of computed columns among those that Spark's text only counts. The text names an operator's
# first columns; computed columns may follow.
_LEAST_COMPUTED: Final = 0.2

# Spark's default number of shown fields. Spark warns, once a process, when it truncates a plan's fields; with a lower
# number, it would also warn in jobs that get no warning without capture.
_SHOWN_FIELDS: Final = 25
_MORE: Final = re.compile(r"\.\.\. (\d+) more fields")


def weigh(signal: Signal) -> int:
    """Estimate the bytes that a waiting signal keeps alive, within a factor of two if plans share nothing.

    The factor is four if an operator's first columns aren't like its others. Never raises: a plan that can't be read
    counts as small.
    """
    if not isinstance(signal, CommandEnded):
        return SMALL_BYTES
    try:
        return weight_of_plan(signal.query_execution.analyzed())
    except Exception:  # any error of py4j; the worker will meet it again, and log it
        return COMMAND_BYTES


def weight_of_plan(plan: Any) -> int:
    """Estimate the bytes of a JVM `LogicalPlan`, in two round trips."""
    return COMMAND_BYTES + sum(map(_weight_of_operator, plan_text(plan, _SHOWN_FIELDS).splitlines()))


def _weight_of_operator(line: str) -> int:
    """Estimate the bytes of one operator's line: `+- Project [id#0L, (id#0L + 1) AS next#2L, ... 975 more fields]`."""
    named = line.count(", ")
    computed = min(named, line.count(" AS "))
    more = _MORE.search(line)
    unnamed = int(more[1]) if more is not None else 0
    computed += int(unnamed * max(_LEAST_COMPUTED, computed / named)) if named else 0
    return OPERATOR_BYTES + computed * COLUMN_BYTES + (named + unnamed - computed) * PASSED_BYTES


# Names of writes and DDL (QueryExecution.commandExecutionName), which Spark executes as soon as they are analyzed.
# Reads have other names (`collect`, `count` …), and so do micro-batches of V2 sinks, which the query itself reports in
# more detail.
COMMANDS: Final = MORE_COMMANDS | {
    "append",
    "command",
    "create",
    "multi-commands",
    "overwrite",
    "overwritePartitions",
    "replace",
}


class SessionListeners:
    """Registered listeners of one session, and `target`, the receiver of their callbacks; None: no receiver.

    Args:
        session: the `SparkSession` that the listeners are registered with.
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
            # Python may have several objects for one session of the JVM, and may have dropped this one.
            self._in_jvm = session._jvm.java.lang.ref.WeakReference(session._jsparkSession)

    @property
    def session(self) -> Any:
        """Session as a `SparkSession`; None if Spark no longer has it.

        Asks the JVM only if Python has dropped the session.
        """
        if (known := self._known()) is not None:
            return known
        jvm_session = self._in_jvm.get() if self._in_jvm is not None else None
        if jvm_session is None or (session := session_of(self._context, jvm_session)) is None:
            return None
        self._known = weakref.ref(session)
        return session

    def register(self, *, streams: bool) -> None:
        """Register the proxies, once.

        Args:
            streams: True to register for streaming queries at once; else `observe_streams` does.
        """
        self.session._jsparkSession.listenerManager().register(CommandListener(self))
        if streams:
            self.observe_streams()

    def register_copy(self, jvm_session: Any) -> None:
        """Register for a copy of the session, too, in which a query runs already."""
        jvm_session.listenerManager().register(CommandListener(self))

    def observe_streams(self) -> None:
        """Register for the session's streaming queries, if that wasn't done yet."""
        with self._lock:
            if self._observes_streams or (session := self.session) is None:
                return
            wrapper = session._jvm.org.apache.spark.sql.streaming.PythonStreamingQueryListenerWrapper
            session._jsparkSession.streams().addListener(wrapper(StreamListener(self)))
            self._observes_streams = True

    def offer_with(self, signal_in: Callable[[Any], Signal]) -> None:
        """Build a signal from the session and pass it on."""
        try:
            signal = signal_in(self.session)
        except Exception:
            logger.warning("lineage capture: a callback of Spark failed; its report isn't recorded", exc_info=True)
        else:
            self.offer(signal)

    def offer(self, signal: Signal) -> None:
        """Pass on a signal."""
        if (target := self.target) is not None:
            try:
                target.offer(signal)
            except Exception:
                logger.warning("lineage capture: a callback of Spark failed; its report isn't recorded", exc_info=True)


def session_of(spark_context: Any, jvm_session: Any) -> Any:
    """Return a `SparkSession` for a JVM session; None when Spark is down.

    A `SparkSession` that is made then would become PySpark's default session.
    """
    from pyspark.sql import SparkSession

    return SparkSession(spark_context, jvm_session) if SparkSession._instantiatedSession is not None else None


def _query(session: Any, event: Any) -> Any:
    """Return the query that is starting; None if it isn't available."""
    try:
        with own_references():
            return session._jsparkSession.streams().get(event.id())
    except Exception:
        logger.warning(
            "lineage capture: a starting query can't be read; it is recorded from its first progress on", exc_info=True
        )
        return None


def _sole_reference(argument: Any) -> Any:
    """Convert a callback's argument to a reference that frees its JVM object when the worker drops it."""
    if type(argument) is JavaObject:
        argument.__class__ = JvmReference
    return argument


class CommandListener:
    """QueryExecutionListener of Spark."""

    def __init__(self, listeners: SessionListeners) -> None:
        self._listeners = listeners

    def onSuccess(self, function: str, query_execution: Any, duration_ns: int) -> None:
        """Receive the end of a successful query."""
        self._ended(function, query_execution, duration_ns, None)

    def onFailure(self, function: str, query_execution: Any, error: Any) -> None:
        """Receive the end of a failed query."""
        self._ended(function, query_execution, None, error)

    def _ended(self, function: str, query_execution: Any, duration_ns: int | None, error: Any) -> None:
        target = self._listeners.target
        if target is not None and (function in COMMANDS or target.captures_reads):
            now, execution, failure = datetime.now(UTC), _sole_reference(query_execution), _sole_reference(error)
            self._listeners.offer_with(
                lambda session: CommandEnded(function, execution, duration_ns, failure, session, now)
            )

    class Java:
        """Interface that py4j implements for the JVM."""

        implements: ClassVar = ["org.apache.spark.sql.util.QueryExecutionListener"]


class StreamListener:
    """StreamingQueryListener of Spark, without PySpark's own wrapper, which parses each progress on the bus."""

    def __init__(self, listeners: SessionListeners) -> None:
        self._listeners = listeners

    def onQueryStarted(self, event: Any) -> None:
        """Receive a query's start, inside `start()`. Reads the query now: it may have ended when the worker looks."""
        if self._listeners.target is None:
            return
        own = _sole_reference(event)
        self._listeners.offer_with(lambda session: QueryStarted(own, _query(session, own), session, datetime.now(UTC)))

    def onQueryProgress(self, event: Any) -> None:
        """Receive the progress of a trigger that has ended."""
        if self._listeners.target is not None:
            now, own = datetime.now(UTC), _sole_reference(event)
            self._listeners.offer_with(lambda session: QueryProgressed(own, session, now))

    def onQueryIdle(self, event: Any) -> None:
        """Ignore a trigger without new data: it has no micro-batch to record."""

    def onQueryTerminated(self, event: Any) -> None:
        """Receive the end of a query."""
        if self._listeners.target is not None:
            self._listeners.offer(QueryTerminated(_sole_reference(event), datetime.now(UTC)))

    class Java:
        """Interface that py4j implements for the JVM."""

        implements: ClassVar = ["org.apache.spark.sql.streaming.PythonStreamingQueryListener"]


# Spark's local property with the id of the query whose thread this is (StreamExecution.QUERY_ID_KEY).
QUERY_ID_PROPERTY = "sql.streaming.queryId"
RUNNING_BATCH: Final[ContextVar[tuple[str, int] | None]] = ContextVar("headwater_running_batch", default=None)
"""The query's id and the batch's number, on a thread that runs a foreachBatch function."""
WRAPPED: Final = "_headwater_wrapped"
"""Attribute that marks a wrapped function."""


def watch_started(gateway: Any, session_id: str, listeners: SessionListeners) -> None:
    """Wrap the foreachBatch functions of the session's running queries, in py4j's pool of callback objects."""
    from pyspark.sql.utils import ForeachBatchFunction

    try:
        # All Python objects that the JVM may call.
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
    """Wrap `func` to report each call to `listeners` before it is made."""

    @functools.wraps(func)
    def call(frame: Any, batch_id: int) -> None:
        query_id = None
        if (target := listeners.target) is not None:
            try:
                query_id = frame.sparkSession.sparkContext.getLocalProperty(QUERY_ID_PROPERTY)
                if query_id is not None:
                    listeners.offer(BatchFunctionCalled(frame._jdf, str(query_id), int(batch_id)))
            except Exception:
                logger.warning(
                    "lineage capture: the micro-batch of a foreachBatch call can't be read; its writes are runs of "
                    "their own",
                    exc_info=True,
                )
            if query_id is not None:
                # Not guarded: an emission policy may hold the job back, or fail it.
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


class Inbox(Generic[T]):
    """Inbox with many producers and one consumer. Putting never waits: items are dropped and counted when it is full.

    The inbox is bounded by the number of its items and by their total size; a single item always has room. Its lock is
    reentrant, since a signal handler may run inside any of its methods.

    Args:
        limit_bytes: maximum estimated size of waiting items; None: no limit.
    """

    def __init__(self, limit: int, limit_bytes: int | None = None) -> None:
        self._limit = limit
        self._limit_bytes = limit_bytes
        self._items: deque[tuple[T, int]] = deque()
        self._urgent: deque[T] = deque()
        self._changed = threading.Condition(threading.RLock())
        self._bytes = 0
        self._received = 0
        self._dropped = 0

    def put(self, item: T, *, weight: int = 0, always: bool = False) -> bool:
        """Add an item; False when the inbox is full.

        Args:
            weight: estimated bytes that the item keeps alive.
            always: True for the few items that are never dropped.
        """
        with self._changed:
            if not always and not self._has_room(weight):
                self._dropped += 1
                return False
            self._items.append((item, weight))
            self._bytes += weight
            self._received += 1
            self._changed.notify()
            return True

    def put_urgent(self, item: T) -> None:
        """Add a request to the worker, which is never dropped and precedes all other items."""
        with self._changed:
            self._urgent.append(item)
            self._changed.notify()

    def take(self, timeout_seconds: float) -> T | None:
        """Return the next item; None if none came in time."""
        deadline = time.monotonic() + timeout_seconds
        with self._changed:
            while not self._urgent and not self._items:
                remaining = deadline - time.monotonic()
                if remaining <= 0 or not self._changed.wait(remaining):
                    break
            if self._urgent:
                return self._urgent.popleft()
            return self._pop() if self._items else None

    def take_waiting(self) -> Iterator[T]:
        """Yield the items that wait now, in order, without urgent items. Each counts as waiting until it is yielded."""
        for _ in range(len(self._items)):
            with self._changed:
                if not self._items:
                    return
                item = self._pop()
            yield item

    @property
    def waiting(self) -> int:
        """Number of items that wait."""
        return len(self._items)

    @property
    def bytes(self) -> int:
        """Estimated size of the waiting items."""
        return self._bytes

    @property
    def received(self) -> int:
        """Number of items accepted so far."""
        return self._received

    @property
    def dropped(self) -> int:
        """Number of items dropped because the inbox was full."""
        return self._dropped

    def _has_room(self, weight: int) -> bool:
        if len(self._items) >= self._limit:
            return False
        return self._limit_bytes is None or not self._items or self._bytes + weight <= self._limit_bytes

    def _pop(self) -> T:
        item, weight = self._items.popleft()
        self._bytes -= weight
        return item


class SignalTarget:
    """Receiver of the signals of an application's listeners.

    Args:
        hold: called before a foreachBatch function, with its frame, query id and batch id: may wait, or refuse by
            raising.
        captures_reads: True if queries that only read are captured, too.
        topic_wait_seconds: longest time that a batch write to Kafka may wait for its topic's state.
        input_gate: checks the inputs of writes before they begin; None: no write is checked.
    """

    def __init__(
        self,
        inbox: Inbox[Any],
        hold: Callable[[Any, str, int], None],
        *,
        captures_reads: bool = False,
        topic_wait_seconds: float = 0.0,
        input_gate: InputGate | None = None,
    ) -> None:
        self.captures_reads = captures_reads
        self.input_gate = input_gate
        self.topic_wait_seconds = topic_wait_seconds
        self._inbox = inbox
        self.hold = hold
        self._logged_drops = False

    def offer(self, signal: Signal) -> None:
        """Put a signal into the inbox, or drop it if too many are waiting. Never waits.

        The start and end of a query and reported quality are never dropped: no later signal reports them. Nor is the
        call of a foreachBatch function: its writes would be attributed to the previous micro-batch.
        """
        always = isinstance(signal, BatchFunctionCalled | QualityReported | QueryStarted | QueryTerminated)
        # Mostly the worker takes the signal at once, so its size isn't estimated.
        weight = weigh(signal) if self._inbox.waiting else 0
        if self._inbox.put(signal, weight=weight, always=always):
            return
        if isinstance(signal, TopicWriteBegins):
            signal.asked.set()  # the worker doesn't get the signal
        shared_metrics().dropped.inc()
        if not self._logged_drops:
            self._logged_drops = True
            logger.warning(
                "lineage capture: the queue is full (%d callbacks, about %d MiB); new ones are dropped. Micro-batches "
                "are backfilled from the checkpoint later, batch writes are not. Raise capture_queue_size or "
                "capture_queue_max_bytes",
                self._inbox.waiting,
                self._inbox.bytes >> 20,
            )
