"""Sessions: registration of capture's listeners, and streaming queries in sessions without them.

One application (a SparkContext) has one capture for all of its sessions. A session joins by `attach`; by existing at
the application's first `attach`; by `newSession()` after that; or when an untracked query is found in it (see below).
A session's membership lasts as long as the session, and doesn't keep it alive.

A session calls only its own listeners. A session that only the JVM knows has none of capture's listeners, so a query
that JVM code starts in it is untracked. But all sessions of an application share one list of running queries. This list
is polled (`UntrackedQueries`); queries found there are tracked from then on, like queries that were running when
capture was attached.
"""

from __future__ import annotations

import gc
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any, Final
from weakref import WeakValueDictionary

from headwater_producers.spark.connectors.registry import REGISTRY
from headwater_producers.spark.driver.listeners import SessionListeners, SignalTarget, session_of, watch_started
from headwater_producers.spark.jvm.versions import jvm_sessions
from headwater_producers.spark.streaming.flow import StreamFlow

logger = logging.getLogger(__name__)


_lock = threading.RLock()


class ApplicationListeners:
    """Listeners of one application's sessions, registered until its end; `target` switches all of them."""

    def __init__(self) -> None:
        self._target: SignalTarget | None = None
        # Keyed by session id. A query that ran before its session joined has a copy of the session; the copy's id maps
        # to the session's listeners.
        self.sessions: WeakValueDictionary[str, SessionListeners] = WeakValueDictionary()
        # The application's run id if commits are to name it, else None.
        self.marks: str | None = None

    @property
    def target(self) -> SignalTarget | None:
        """Receiver of the listeners' callbacks; None: callbacks are ignored."""
        return self._target

    @target.setter
    def target(self, target: SignalTarget | None) -> None:
        self._target = target
        for listeners in list(self.sessions.values()):
            listeners.target = target

    def mark(self, run_id: str) -> None:
        """Make the commits of all sessions, present and future, name the application's run."""
        self.marks = run_id
        for session in self.observed():
            REGISTRY.mark_commits(session, run_id)

    def unmark(self) -> None:
        """Undo `mark`."""
        run_id, self.marks = self.marks, None
        for session in self.observed() if run_id is not None else ():
            REGISTRY.mark_commits(session, run_id or "", marked=False)

    def observed(self) -> list[Any]:
        """List the sessions that still exist, without copies that queries run in."""
        distinct = {id(listeners): listeners for listeners in list(self.sessions.values())}
        return [session for listeners in distinct.values() if (session := listeners.session) is not None]


_applications: dict[str, ApplicationListeners] = {}


def application_id(spark: Any) -> str:
    """Return Spark's id of the application that a session belongs to."""
    return str(spark.sparkContext.applicationId)


def session_id(spark: Any) -> str:
    """Return Spark's id of a session; Python may have several objects for one session."""
    return str(spark._jsparkSession.sessionUUID())


def join(spark: Any, *, is_new: bool = False) -> ApplicationListeners:
    """Return the application's listeners, and register them with this session if they weren't yet.

    The first call for an application also registers them with all its other sessions that Python has.

    Args:
        is_new: True if nothing runs in the session yet.
    """
    with _lock:
        key = application_id(spark)
        application = _applications.get(key)
        if application is None:
            application = _applications[key] = ApplicationListeners()
            _register(spark, application)
            for other in _earlier_sessions(spark):
                _register(other, application)
        else:
            _register(spark, application, is_new=is_new)
        return application


def known_listeners(spark: Any) -> SessionListeners | None:
    """Return the session's listeners, if it has any."""
    if not _applications:
        return None
    application = _applications.get(application_id(spark))
    return application.sessions.get(session_id(spark)) if application is not None else None


def known_application(spark_context: Any) -> ApplicationListeners | None:
    """Return the listeners of a SparkContext's application, if it has any."""
    return _applications.get(str(spark_context.applicationId)) if _applications else None


def forget(key: str) -> None:
    """Drop the listeners of an application that is gone."""
    with _lock:
        _applications.pop(key, None)


def _register(spark: Any, application: ApplicationListeners, *, is_new: bool = False) -> None:
    from pyspark.java_gateway import ensure_callback_server_started

    key = session_id(spark)
    if key in application.sessions:
        return
    gateway = spark.sparkContext._gateway
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    listeners = SessionListeners(spark)
    listeners.target = application.target
    listeners.register(streams=not is_new)
    application.sessions[key] = listeners
    if application.marks is not None:
        REGISTRY.mark_commits(spark, application.marks)
    if is_new:
        return
    # A query runs in a copy of the session that it was started in, with the listeners of that time. So if a query
    # was started before its session joined, its copy lacks capture's listeners.
    for query in spark._jsparkSession.streams().active():
        copy = query.streamingQuery().sparkSessionForStream()
        listeners.register_copy(copy)
        application.sessions[str(copy.sessionUUID())] = listeners
    watch_started(gateway, key, listeners)


def _earlier_sessions(spark: Any) -> Iterator[Any]:
    """Yield all sessions of the context that Python has, this one included: PySpark keeps no list of them."""
    from pyspark.sql import SparkSession

    for found in gc.get_objects():
        # `type`, since `isinstance` would wake up lazy proxies of other libraries.
        if issubclass(type(found), SparkSession) and getattr(found, "_sc", None) is spark.sparkContext:
            yield found


_LOOK_SECONDS: Final = 10.0


class UntrackedQueries:
    """Finder of streaming queries without capture's listeners. Only for the worker's thread."""

    def __init__(self, spark: Any, streams: StreamFlow) -> None:
        self._context = spark.sparkContext
        # Running queries of all sessions by query id: Spark's own guard against two runs of one query.
        self._active = spark._jsparkSession.sharedState().activeStreamingQueries()
        self._streams = streams
        self._look_at = time.monotonic() + _LOOK_SECONDS

    def sessions(self, *, at_once: bool = False) -> list[Any]:
        """List the sessions with untracked queries, which are tracked from now on. Never raises.

        Takes one round trip to the JVM every ten seconds, as long as all queries are tracked.

        Args:
            at_once: True to look even if the last look was less than ten seconds ago.
        """
        if not at_once and time.monotonic() < self._look_at:
            return []
        self._look_at = time.monotonic() + _LOOK_SECONDS
        try:
            if int(self._active.size()) == self._streams.running:
                return []
            return list(self._found())
        except Exception:
            # Spark is shutting down, or its version has no such list.
            logger.debug("lineage capture can't look for streaming queries that run untracked", exc_info=True)
            return []

    def _found(self) -> Iterator[Any]:
        seen: set[str] = set()
        for query in list(self._active.values()):
            if self._streams.knows(str(query.runId().toString())):
                continue
            made = session_of(self._context, query.sparkSession())
            if made is None or (key := session_id(made)) in seen:
                continue
            seen.add(key)
            join(made)
            # A session from `newSession()` has joined, but wasn't observed for its streams.
            if (listeners := known_listeners(made)) is not None:
                listeners.observe_streams()
            yield made


class ActiveSession:
    """Switch of the active session of the JVM thread that serves this Python thread; only for one thread.

    Tables of some formats, such as Delta, ask Spark for the active session when they are read. On a thread without a
    query, the active session is the application's default session, which may lack the extensions and catalogs of the
    table's session.

    The session is switched only if each Python thread has its own JVM thread, PySpark's default (`PYSPARK_PIN_THREAD`).
    Otherwise the job's next call might use the changed thread.
    """

    def __init__(self) -> None:
        self._session: Any = None

    def become(self, session: Any) -> None:
        """Make a `SparkSession` active; takes a round trip if another session was active."""
        if session is self._session:
            return
        self._session = session
        if type(session.sparkContext._gateway).__name__ == "ClientServer":
            jvm_sessions(session._jvm).setActiveSession(session._jsparkSession)
