"""Sessions: which have our listeners, and which applications are being captured.

One application (a SparkContext) has one capture, whatever number of sessions it has. A session joins by `attach`, by
`newSession()` on one that has joined, or by having been there before the application's first `attach`. Who has joined
is known for as long as the session lives, and isn't what keeps it alive.
"""

from __future__ import annotations

import functools
import gc
import logging
import threading
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from headwater_producers.spark.runtime import foreach_batch
from headwater_producers.spark.runtime.listeners import SessionListeners, SignalTarget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater_producers.spark.capture import Capture

logger = logging.getLogger(__name__)

_MARK = "_headwater_wrapped"
_lock = threading.RLock()


class ApplicationListeners:
    """The listeners of one application's sessions, registered for its life; `target` switches them all."""

    def __init__(self) -> None:
        self._target: SignalTarget | None = None
        # By the session's id. A query that was there first has a session of its own, under the listeners of its parent.
        self.sessions: WeakValueDictionary[str, SessionListeners] = WeakValueDictionary()

    @property
    def target(self) -> SignalTarget | None:
        """Who receives their callbacks: nobody while it is None."""
        return self._target

    @target.setter
    def target(self, target: SignalTarget | None) -> None:
        self._target = target
        for listeners in list(self.sessions.values()):
            listeners.target = target

    def observed(self) -> list[Any]:
        """The sessions that are still there, without copies that queries run in."""
        distinct = {id(listeners): listeners for listeners in list(self.sessions.values())}
        return [session for listeners in distinct.values() if (session := listeners.session) is not None]


_applications: dict[str, ApplicationListeners] = {}
_captures: dict[str, Capture] = {}


def application_id(spark: Any) -> str:
    """Spark's id of the application that a session belongs to."""
    return str(spark.sparkContext.applicationId)


def session_id(spark: Any) -> str:
    """Spark's id of a session; Python may have several objects for one."""
    return str(spark._jsparkSession.sessionUUID())


def join(spark: Any, *, is_new: bool = False) -> ApplicationListeners:
    """The application's listeners, registered with this session if they weren't yet.

    The first of an application's sessions brings those along that were there before it.

    Args:
        spark: the session.
        is_new: nothing runs in it yet.
    """
    with _lock:
        key = application_id(spark)
        application = _applications.get(key)
        if application is None:
            application = _applications[key] = ApplicationListeners()
            _register(spark, application)
            for other in _made_before(spark):
                _register(other, application)
        else:
            _register(spark, application, is_new=is_new)
        return application


def known_listeners(spark: Any) -> SessionListeners | None:
    """The session's listeners, if it has any."""
    if not _applications:
        return None
    application = _applications.get(application_id(spark))
    return application.sessions.get(session_id(spark)) if application is not None else None


def known_application(spark_context: Any) -> ApplicationListeners | None:
    """The listeners of a SparkContext's application, if it has any."""
    return _applications.get(str(spark_context.applicationId)) if _applications else None


def watch_new_sessions() -> None:
    """Makes `newSession()` on a session that has joined return one that has, too. Idempotent, once a process."""
    from pyspark.sql import SparkSession

    original = SparkSession.newSession
    if hasattr(original, _MARK):
        return

    @functools.wraps(original)
    def new_session(self: SparkSession) -> SparkSession:
        made = original(self)
        try:
            if _applications and application_id(made) in _applications:
                join(made, is_new=True)
        except Exception:
            logger.warning("lineage capture: a new session can't be observed", exc_info=True)
        return made

    setattr(new_session, _MARK, True)
    SparkSession.newSession = new_session  # type: ignore[method-assign]


def running_capture(spark: Any) -> Capture | None:
    """The capture of the session's application, if it is being captured."""
    return _captures.get(application_id(spark)) if _captures else None


def running_captures() -> list[Capture]:
    """All captures of this process that run."""
    with _lock:
        return list(_captures.values())


def begin(key: str, capture: Capture) -> None:
    """A capture runs from now on."""
    with _lock:
        _captures[key] = capture


def end(key: str) -> None:
    """It doesn't any more. The listeners stay where they are."""
    with _lock:
        _captures.pop(key, None)


def forget(key: str) -> None:
    """The application is gone, and its listeners with it."""
    with _lock:
        _captures.pop(key, None)
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
    if is_new:
        return
    # A query runs in a copy of the session that it was started in, listeners included. One that runs already has none.
    for query in spark._jsparkSession.streams().active():
        copy = query.streamingQuery().sparkSessionForStream()
        listeners.register_copy(copy)
        application.sessions[str(copy.sessionUUID())] = listeners
    foreach_batch.watch_started(gateway, key, listeners)


def _made_before(spark: Any) -> Iterator[Any]:
    """The context's other sessions that Python knows of. PySpark keeps no list of them, so the interpreter is asked."""
    from pyspark.sql import SparkSession

    for found in gc.get_objects():
        # `type`, since `isinstance` would wake up lazy proxies of other libraries.
        if issubclass(type(found), SparkSession) and getattr(found, "_sc", None) is spark.sparkContext:
            yield found
