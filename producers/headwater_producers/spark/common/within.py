"""Deadline of a whole action, such as an HTTP request: a socket's timeout covers only one address or one read."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, action: Callable[[], T], name: str) -> T:
    """Run an action on a thread of its own, and return its result.

    Args:
        seconds: longest time to wait. Afterwards the action continues on its daemon thread until its own timeouts.

    Raises:
        TimeoutError: the time was over first.
        Exception: any error of the action.
    """
    results: list[T] = []
    errors: list[Exception] = []

    def act() -> None:
        try:
            results.append(action())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=act, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        # At the end of a script early releases of Python 3.12 start no thread.
        act()
    else:
        thread.join(seconds)
        if thread.is_alive():
            raise TimeoutError
    if errors:
        raise errors[0]
    return results[0]
