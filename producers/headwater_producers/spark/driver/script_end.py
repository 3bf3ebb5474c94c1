"""Script ends: success, an exception, an exit status, Ctrl-C.

At the end of the process Python shows neither the exception that ended the script nor the exit status. It only shows:

    sys.excepthook: each uncaught exception but SystemExit
    sys.exit, exit: the exit status of a SystemExit, which may still be caught
    the script's outermost frame, which still exists: its last instruction shows whether the script returned

So an exit status counts only if the frame didn't return. `headwater run` calls the script and sees every SystemExit.
Without `headwater run`, a SystemExit that was raised without those functions is unknown, and counts as success.

Ctrl-C may come while the script waits for the JVM, as in `query.awaitTermination()`. PySpark's handler of SIGINT asks
the JVM to cancel all jobs, and raises KeyboardInterrupt then. If the signal comes during a call, py4j can't make
another call on that connection: the handler fails, and the script gets a Py4JError of the interrupted call, without a
hint of the interruption. So each SIGINT is noted.
"""

from __future__ import annotations

import dis
import functools
import signal
import sys
import threading
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

from headwater_producers.spark.events.run_error import from_exception
from headwater_schemas.events import RunError, RunEventType


@dataclass(frozen=True, slots=True)
class ApplicationOutcome:
    """Outcome of the application's run."""

    kind: RunEventType
    error: RunError | None = None


ENDED_WELL: Final = ApplicationOutcome(RunEventType.COMPLETE)


def outcome_of(error: BaseException) -> ApplicationOutcome:
    """Return the outcome of a script that an exception ends."""
    match error:
        case SystemExit(code=None | 0):
            return ENDED_WELL
        case KeyboardInterrupt():
            # A user's request, not a failure of the job.
            return ApplicationOutcome(RunEventType.ABORT, from_exception(error))
        case _ if was_cut_off(error):
            return ApplicationOutcome(RunEventType.ABORT, RunError(type="SIGINT", message="the driver was interrupted"))
        case _:
            return ApplicationOutcome(RunEventType.FAIL, from_exception(error))


class ScriptEnd:
    """Observed end of this process's script."""

    def __init__(self) -> None:
        self._frame = _outermost_frame()
        self._noted = ENDED_WELL

    def note(self, error: BaseException) -> None:
        """Note an exception that seems to end the script; the last one counts. Other threads' errors are ignored."""
        if threading.current_thread() is threading.main_thread():
            self._noted = outcome_of(error)

    def outcome(self) -> ApplicationOutcome:
        """Return the script's outcome as observed until now.

        While the script still runs, the exception being handled on this thread decides, as in a `finally`; without one
        the outcome is a success.
        """
        if (passing := sys.exc_info()[1]) is not None:
            return outcome_of(passing)
        running = self._frame is not None and _outermost_frame() is self._frame
        return ENDED_WELL if running or _returned(self._frame) else self._noted


def _outermost_frame() -> FrameType | None:
    """Return the main thread's outermost frame: the script's module, or the code that runs it."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _returned(frame: FrameType | None) -> bool:
    if frame is None or frame.f_lasti < 0:
        return False
    return dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("RETURN_")


_MARK: Final = "_headwater_wrapped"

_interrupted = False


def watch_interrupts() -> None:
    """Note each SIGINT from now on, before other handlers. Idempotent; only on the main thread.

    To be called for each SparkContext, since each sets its own handler.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    handler: Any = signal.getsignal(signal.SIGINT)
    if not callable(handler) or hasattr(handler, _MARK):
        return

    @functools.wraps(handler)
    def noted(number: int, frame: FrameType | None) -> None:
        # No lock: another signal may interrupt this code.
        global _interrupted  # noqa: PLW0603  a process has one keyboard
        _interrupted = True
        handler(number, frame)

    setattr(noted, _MARK, True)
    signal.signal(signal.SIGINT, noted)


def was_cut_off(error: BaseException) -> bool:
    """Return True if an exception comes from a call to the JVM that an interruption cut off."""
    if not _interrupted:
        return False
    from py4j.protocol import Py4JError, Py4JJavaError

    # A Java exception is the answer to a call, so the call wasn't cut off.
    return isinstance(error, Py4JError) and not isinstance(error, Py4JJavaError)
