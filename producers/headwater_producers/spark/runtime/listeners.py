"""The two proxies that Spark calls, registered once per session for its life.

A listener can't be taken off from Python, and a second one would hear everything twice: so `SessionListeners` are made
once, and `target` switches them. Callbacks come on JVM threads (the listener bus; for `onQueryStarted` the query's own,
inside `start()`), so they only take references. An exception of ours ends here.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

from headwater_producers.spark.runtime.signals import CommandEnded, QueryProgressed, QueryStarted, QueryTerminated

if TYPE_CHECKING:
    from headwater_producers.spark.runtime.signals import Signal

logger = logging.getLogger(__name__)


# A write or DDL, executed as soon as it is analyzed. What only reads is called `collect`, `count` …; and so is a
# micro-batch of a V2 sink, of which the query itself tells more. Writes of tables have names of their own
# (QueryExecution.commandExecutionName).
COMMANDS: Final = frozenset(
    {"append", "command", "create", "multi-commands", "overwrite", "overwritePartitions", "replace"}
)


class SignalTarget(Protocol):
    """Takes signals, without waiting."""

    @property
    def hears_reads(self) -> bool:
        """Whether it wants to hear of queries that only read."""

    def offer(self, signal: Signal) -> None:
        """Takes one."""

    def hold(self, frame: Any, query_id: str, batch_id: int) -> None:
        """Called on the query's thread before a foreachBatch function is: may wait, or refuse by raising."""


class SessionListeners:
    """One session's registered proxies, and who hears them: nobody while `target` is None.

    Args:
        session: the `SparkSession` they are registered with.
    """

    def __init__(self, session: Any = None) -> None:
        self.session = session
        self.target: SignalTarget | None = None
        self.proxies: tuple[Any, ...] = ()

    def offer(self, signal: Signal) -> None:
        """Passes a signal on."""
        if (target := self.target) is not None:
            try:
                target.offer(signal)
            except Exception:
                logger.warning("lineage capture lost a callback", exc_info=True)


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
        if target is not None and (function in COMMANDS or target.hears_reads):
            now = datetime.now(UTC)
            self._listeners.offer(
                CommandEnded(function, query_execution, duration_ns, error, self._listeners.session, now)
            )

    class Java:
        """What py4j asks for."""

        implements: ClassVar = ["org.apache.spark.sql.util.QueryExecutionListener"]


class StreamListener:
    """Spark's StreamingQueryListener, without PySpark's own wrapper: that one parses each progress on the bus."""

    def __init__(self, listeners: SessionListeners, streams: Any) -> None:
        self._listeners = listeners
        self._streams = streams

    def onQueryStarted(self, event: Any) -> None:
        """Runs inside `start()`. A query with nothing to do may be gone when the worker looks: so take it now."""
        if self._listeners.target is None:
            return
        try:
            query = self._streams.get(event.id())
        except Exception:
            logger.warning("lineage capture could not get hold of a starting query", exc_info=True)
            query = None
        self._listeners.offer(QueryStarted(event, query, self._listeners.session, datetime.now(UTC)))

    def onQueryProgress(self, event: Any) -> None:
        """A trigger has ended."""
        if self._listeners.target is not None:
            self._listeners.offer(QueryProgressed(event, self._listeners.session, datetime.now(UTC)))

    def onQueryIdle(self, event: Any) -> None:
        """A trigger found nothing to do: no micro-batch, so nothing to say."""

    def onQueryTerminated(self, event: Any) -> None:
        """A query has ended."""
        if self._listeners.target is not None:
            self._listeners.offer(QueryTerminated(event, datetime.now(UTC)))

    class Java:
        """What py4j asks for."""

        implements: ClassVar = ["org.apache.spark.sql.streaming.PythonStreamingQueryListener"]
