"""End of the process: all captured events are delivered while the JVM still runs.

    the script ends            atexit: drain the listener bus, then the inbox, then the sink
    an uncaught exception      sys.excepthook has seen it first: the application's run FAILs
    sys.exit(code), exit()     recorded: a code other than 0 is a FAIL, unless it is caught (script_end.py)
    spark.stop()               wrapped: the bus is drained before Spark stops it; an exception in flight decides the
                               run's outcome
    SIGTERM                    drain, then die of the signal, unless the job handles it itself

If the emission policy fails the job because its lineage isn't durable, a successful script ends with exit code 1, and
`spark.stop()` raises after it has stopped Spark.

Installed with the first `attach`. Every hook calls the previous handler.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import functools
import logging
import os
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Any, NoReturn

from headwater_producers.spark.driver import capture as captures
from headwater_producers.spark.driver.script_end import ApplicationOutcome, ScriptEnd, watch_interrupts
from headwater_schemas.events import RunError, RunEventType

logger = logging.getLogger(__name__)

_MARK = "_headwater_wrapped"


_script = ScriptEnd()
_installed_in: int | None = None
_status_of_success = 0


def install() -> None:
    """Hook into the end of this process. Idempotent; to be called again for each SparkContext."""
    watch_interrupts()
    global _installed_in, _script  # noqa: PLW0603  a process has one end
    if _installed_in == os.getpid():
        return
    _installed_in = os.getpid()
    _script = ScriptEnd()
    atexit.register(_at_exit)
    sys.excepthook = _excepthook_over(sys.excepthook)
    sys.exit = _exit_over(sys.exit)
    _watch_quitter(type(getattr(builtins, "exit", None)))
    on_main_thread = threading.current_thread() is threading.main_thread()
    if on_main_thread and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _on_sigterm)


def drain_before_stop(spark: Any) -> None:
    """Make `spark.stop()` end the captures of its context first. Idempotent.

    The context's own `stop` is wrapped, on this one object: `SparkSession.stop` calls it.
    """
    context = spark.sparkContext
    stop = context.stop
    if hasattr(stop, _MARK):
        return

    @functools.wraps(stop)
    def drain_and_stop() -> None:
        passing = sys.exc_info()[1]
        outcome = _script.outcome()
        problems = [_end(capture, outcome) for capture in captures.running_captures() if capture.belongs_to(context)]
        stop()
        problem = next(filter(None, problems), None)
        # A propagating exception already shows that the job failed.
        if problem is not None and passing is None:
            raise problem

    setattr(drain_and_stop, _MARK, True)
    context.stop = drain_and_stop


def script_raised(error: BaseException) -> None:
    """Note an exception that has left the script; for a runner of scripts."""
    _script.note(error)


def ends_with(status: int) -> None:
    """Set the exit status of a script that succeeds; for a runner of scripts."""
    global _status_of_success  # noqa: PLW0603  a process has one end
    install()
    _status_of_success = status


def _at_exit() -> None:
    if _installed_in != os.getpid():
        return
    outcome = _script.outcome()
    status = 1 if _end_all(outcome) else _status_of_success
    if status and outcome.kind is RunEventType.COMPLETE:
        _leave(status)


def _end_all(outcome: ApplicationOutcome) -> bool:
    """End all captures; return True if an emission policy makes the result a failure."""
    problems = [_end(capture, outcome) for capture in captures.running_captures()]
    return any(problem is not None for problem in problems)


def _end(capture: Any, outcome: ApplicationOutcome) -> Exception | None:
    try:
        problem: Exception | None = capture.end(outcome.kind, outcome.error, session_ends=True)
    except Exception:
        logger.warning("lineage capture: ending failed; events may be missing", exc_info=True)
        return None
    return problem


def _leave(code: int) -> NoReturn:
    """Exit with a code other than the script's; during `atexit` only `os._exit` can change the code."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _excepthook_over(previous: Any) -> Any:
    def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _script.note(error)
        previous(kind, error, trace)

    return excepthook


def _exit_over(previous: Any) -> Any:
    def leave(status: Any = None, /) -> NoReturn:
        _script.note(SystemExit(status))
        previous(status)
        raise AssertionError("unreachable")

    return functools.update_wrapper(leave, previous)


def _watch_quitter(quitter: Any) -> None:
    """Note exits by `exit` and `quit`, the objects of `site`, which raise SystemExit themselves."""
    if quitter.__module__ != "_sitebuiltins":
        return
    call = quitter.__call__

    @functools.wraps(call)
    def leave(self: Any, code: Any = None) -> NoReturn:
        _script.note(SystemExit(code))
        call(self, code)
        raise AssertionError("unreachable")

    quitter.__call__ = leave


def _on_sigterm(number: int, _frame: FrameType | None) -> None:
    # A forked child has inherited this handler, but neither the worker nor the JVM.
    if _installed_in == os.getpid():
        # The worker calls the JVM on its own connection: this thread may be in the middle of a call.
        _end_all(ApplicationOutcome(RunEventType.ABORT, RunError(type="SIGTERM", message="the driver was terminated")))
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
