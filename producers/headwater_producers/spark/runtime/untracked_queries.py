"""Streaming queries that run untracked: started by code of the JVM in a session that Python has started none in.

A session calls its own listeners alone, and those that only the JVM knows of have none of ours. But all sessions of an
application share one list of the queries that run. So it is read now and then; what is found there is tracked from
then on, like a query that was running when capture was attached.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark import sessions
from headwater_producers.spark.runtime.listeners import session_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from headwater_producers.spark.streaming.flow import StreamFlow

logger = logging.getLogger(__name__)

_LOOK_SECONDS: Final = 10.0


class UntrackedQueries:
    """Finds them. The worker's alone.

    Args:
        spark: a session of the application.
        streams: the queries that are known.
        clock: monotonic seconds.
    """

    def __init__(self, spark: Any, streams: StreamFlow, clock: Callable[[], float] = time.monotonic) -> None:
        self._context = spark.sparkContext
        # By query id, of all sessions: Spark's own guard against two runs of one query.
        self._active = spark._jsparkSession.sharedState().activeStreamingQueries()
        self._streams = streams
        self._clock = clock
        self._look_at = clock() + _LOOK_SECONDS

    def sessions(self, *, at_once: bool = False) -> list[Any]:
        """The sessions with queries that aren't known yet, which are tracked from now on. Never raises.

        One round trip to the JVM every ten seconds, as long as all are known.

        Args:
            at_once: however long ago the last look was.
        """
        if not at_once and self._clock() < self._look_at:
            return []
        self._look_at = self._clock() + _LOOK_SECONDS
        try:
            if int(self._active.size()) == self._streams.running:
                return []
            return list(self._found())
        except Exception:
            # Spark is on its way down, or of a version that keeps no such list.
            logger.debug("lineage capture can't look for streaming queries that run unheard", exc_info=True)
            return []

    def _found(self) -> Iterator[Any]:
        seen: set[str] = set()
        for query in list(self._active.values()):
            if self._streams.knows(str(query.runId().toString())):
                continue
            made = session_of(self._context, query.sparkSession())
            if made is None or (key := sessions.session_id(made)) in seen:
                continue
            seen.add(key)
            sessions.join(made)
            # One that `newSession()` made has joined, but wasn't observed for its streams.
            if (listeners := sessions.known_listeners(made)) is not None:
                listeners.observe_streams()
            yield made
