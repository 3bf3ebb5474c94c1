"""Sessions: which have our listeners, and which are being captured."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.runtime.listeners import CommandListener, SessionListeners, StreamListener

if TYPE_CHECKING:
    from headwater_producers.spark.capture import Capture

_lock = threading.RLock()
_listeners: dict[str, SessionListeners] = {}
_captures: dict[str, Capture] = {}


def session_id(spark: Any) -> str:
    """Spark's id of a session; Python may have several objects for one."""
    return str(spark._jsparkSession.sessionUUID())


def listeners_of(spark: Any) -> SessionListeners:
    """The session's listeners, registered with Spark if they weren't yet."""
    with _lock:
        key = session_id(spark)
        if key not in _listeners:
            _listeners[key] = _register(spark)
        return _listeners[key]


def known_listeners(spark: Any) -> SessionListeners | None:
    """The session's listeners, if it has any."""
    return _listeners.get(session_id(spark)) if _listeners else None


def running_capture(spark: Any) -> Capture | None:
    """The session's capture, if it is being captured."""
    return _captures.get(session_id(spark))


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
    """The session is gone, and its listeners with it."""
    with _lock:
        _captures.pop(key, None)
        _listeners.pop(key, None)


def _register(spark: Any) -> SessionListeners:
    from pyspark.java_gateway import ensure_callback_server_started

    gateway = spark.sparkContext._gateway
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    listeners = SessionListeners()
    jvm_session = spark._jsparkSession
    commands = CommandListener(listeners)
    jvm_session.listenerManager().register(commands)
    streams = StreamListener(listeners, jvm_session.streams())
    wrapper = gateway.jvm.org.apache.spark.sql.streaming.PythonStreamingQueryListenerWrapper(streams)
    jvm_session.streams().addListener(wrapper)
    # py4j calls back by id: the proxies must live as long as the session may call them.
    listeners.proxies = (commands, streams)
    return listeners
