"""No longer than so many seconds, for calls that know no end of their own."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """What `call` gives, or raises.

    It runs in a thread of its own. One that is late goes on there unheeded, and doesn't keep the process from ending.

    Raises:
        TimeoutError: it took longer than `seconds`.
    """
    calling = _Calling(call)
    thread = threading.Thread(target=calling.run, daemon=True, name="headwater-question")
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimeoutError
    if calling.error is not None:
        raise calling.error
    return calling.result


class _Calling(Generic[T]):
    """A call, and what came of it."""

    result: T

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self.error: BaseException | None = None

    def run(self) -> None:
        """Make it."""
        try:
            self.result = self._call()
        except BaseException as error:  # noqa: BLE001  told to the thread that waits
            self.error = error
