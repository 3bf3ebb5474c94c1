"""Waiting in tests: the one place that asks for time.

Every limit is stated for a quiet machine with two cores, and is multiplied by `factor()`: how much longer a fixed piece
of work took at the start of this run. `tests/unit/architecture/test_waiting.py` forbids other ways to wait.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from time import monotonic, perf_counter, sleep
from typing import TypeVar

T = TypeVar("T")

_VARIABLE = "TESTS_FACTOR"
_QUIET_SECONDS = 0.35
"""Time of `_work` on a quiet core of the machines that the limits were chosen on."""
_LARGEST = 10.0


def eventually(
    condition: Callable[[], T], seconds: float = 30, *, every: float = 0.02, expecting: str = "the condition holds"
) -> T:
    """Poll `condition` until it returns something true, and return that.

    Args:
        condition: Called at once, and then again after each pause.
        seconds: Limit on a quiet machine.
        every: Pause between two calls, in seconds.
        expecting: The end of the error's sentence, "after 30 s, not yet: …".

    Raises:
        AssertionError: The limit passed.
    """
    limit = patience(seconds)
    end = monotonic() + limit
    while not (value := condition()):
        if monotonic() >= end:
            raise AssertionError(f"after {limit:.0f} s, not yet: {expecting}; last value {value!r}")
        sleep(every)
    return value


def stays(condition: Callable[[], object], seconds: float, *, expecting: str = "the condition holds") -> None:
    """Check that `condition` holds now and for `seconds` from now, on any machine.

    A slow machine can't make this fail; it can only check less often.

    Raises:
        AssertionError: It didn't hold once.
    """
    end = monotonic() + seconds
    while True:
        assert condition(), f"no longer: {expecting}"
        if monotonic() >= end:
            return
        sleep(min(0.02, seconds))


def patience(seconds: float) -> float:
    """Limit in seconds for a call with a timeout of its own (`subprocess.run`, `join`, `wait`), for this machine."""
    return seconds * factor()


@functools.cache
def factor() -> float:
    """Slowness of this machine: time for work as a multiple of a quiet machine's, 1 to 10, measured once in a run.

    Processes that this one starts inherit it by the environment.
    """
    if _VARIABLE not in os.environ:
        slower = _timed() / _QUIET_SECONDS
        os.environ[_VARIABLE] = f"{min(max(slower, 1.0), _LARGEST):.2f}"
    return float(os.environ[_VARIABLE])


def _timed() -> float:
    began = perf_counter()
    _work()
    return perf_counter() - began


def _work() -> None:
    """Compute for much longer than a turn of the scheduler, so that what else runs shows."""
    digest = b""
    for number in range(700_000):
        digest = hashlib.sha256(digest + str(number).encode()).digest()
