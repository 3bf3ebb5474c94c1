"""Ctrl-C while the script waits for the JVM, as in `query.awaitTermination()`.

PySpark's handler of SIGINT asks the JVM to cancel all jobs, and raises KeyboardInterrupt then. Where the signal has
come in the middle of a call, py4j can't make another one on that connection: the handler fails, and what the script
gets is a Py4JError of the call that was cut off, which says nothing of the interruption. So it is noted that there was
one.
"""

from __future__ import annotations

import functools
import signal
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import FrameType

_MARK: Final = "_headwater_wrapped"

_came = False


def watch() -> None:
    """Notes each SIGINT from now on, before whoever handles it does. Idempotent; on the main thread alone.

    Each SparkContext sets a handler of its own.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    handler: Any = signal.getsignal(signal.SIGINT)
    if not callable(handler) or hasattr(handler, _MARK):
        return

    @functools.wraps(handler)
    def noted(number: int, frame: FrameType | None) -> None:
        # No lock: another one may come in the middle of this.
        global _came  # noqa: PLW0603  a process has one keyboard
        _came = True
        handler(number, frame)

    setattr(noted, _MARK, True)
    signal.signal(signal.SIGINT, noted)


def has_cut_off(error: BaseException) -> bool:
    """Whether an exception is of a call to the JVM that an interruption has cut off."""
    if not _came:
        return False
    from py4j.protocol import Py4JError, Py4JJavaError

    # An exception of Java's has come as the answer to a call.
    return isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError)
