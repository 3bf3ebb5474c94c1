"""Inbox: the bounded queue between Spark's threads and the worker."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Inbox(Generic[T]):
    """Many threads put, one takes. Putting never waits: what finds no room is counted and forgotten.

    Its lock can be taken again by the thread that holds it, since a signal handler may run inside any of its methods.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._items: deque[T] = deque()
        self._urgent: deque[T] = deque()
        self._changed = threading.Condition(threading.RLock())
        self._received = 0
        self._dropped = 0

    def put(self, item: T, *, always: bool = False) -> bool:
        """Adds an item; False where there is no room. `always` is for the few that are never dropped."""
        with self._changed:
            if len(self._items) >= self._limit and not always:
                self._dropped += 1
                return False
            self._items.append(item)
            self._received += 1
            self._changed.notify()
            return True

    def put_urgent(self, item: T) -> None:
        """Adds an item that is never dropped, and taken before all others: an order to the worker itself."""
        with self._changed:
            self._urgent.append(item)
            self._changed.notify()

    def take(self, timeout_seconds: float) -> T | None:
        """The next item; None when none has come in time."""
        deadline = time.monotonic() + timeout_seconds
        with self._changed:
            while not self._urgent and not self._items:
                remaining = deadline - time.monotonic()
                if remaining <= 0 or not self._changed.wait(remaining):
                    break
            if self._urgent:
                return self._urgent.popleft()
            return self._items.popleft() if self._items else None

    def take_waiting(self) -> list[T]:
        """All items that are here now, in order, without the urgent ones."""
        with self._changed:
            items = list(self._items)
            self._items.clear()
            return items

    @property
    def waiting(self) -> int:
        """How many items wait."""
        return len(self._items)

    @property
    def received(self) -> int:
        """How many items were ever taken in."""
        return self._received

    @property
    def dropped(self) -> int:
        """How many items found no room."""
        return self._dropped
