"""Inbox: the bounded queue between Spark's threads and the worker."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T")


class Inbox(Generic[T]):
    """Many threads put, one takes. Putting never waits: what finds no room is counted and forgotten.

    It is bounded by the number of its items and by what they weigh together, whichever comes first; whatever it weighs,
    one item always has room. Its lock can be taken again by the thread that holds it, since a signal handler may run
    inside any of its methods.

    Args:
        limit: how many items may wait.
        limit_bytes: how much they may weigh; None: that isn't limited.
    """

    def __init__(self, limit: int, limit_bytes: int | None = None) -> None:
        self._limit = limit
        self._limit_bytes = limit_bytes
        self._items: deque[tuple[T, int]] = deque()
        self._urgent: deque[T] = deque()
        self._changed = threading.Condition(threading.RLock())
        self._bytes = 0
        self._received = 0
        self._dropped = 0

    def put(self, item: T, *, weight: int = 0, always: bool = False) -> bool:
        """Adds an item; False where there is no room.

        Args:
            item: to add.
            weight: bytes that it keeps from being freed, about.
            always: for the few that are never dropped.
        """
        with self._changed:
            if not always and not self._has_room(weight):
                self._dropped += 1
                return False
            self._items.append((item, weight))
            self._bytes += weight
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
            return self._pop() if self._items else None

    def take_waiting(self) -> Iterator[T]:
        """The items that are here now, in order, without the urgent ones. Each counts until its turn has come."""
        for _ in range(len(self._items)):
            with self._changed:
                if not self._items:
                    return
                item = self._pop()
            yield item

    @property
    def waiting(self) -> int:
        """How many items wait."""
        return len(self._items)

    @property
    def bytes(self) -> int:
        """What they weigh."""
        return self._bytes

    @property
    def received(self) -> int:
        """How many items were ever taken in."""
        return self._received

    @property
    def dropped(self) -> int:
        """How many items found no room."""
        return self._dropped

    def _has_room(self, weight: int) -> bool:
        if len(self._items) >= self._limit:
            return False
        return self._limit_bytes is None or not self._items or self._bytes + weight <= self._limit_bytes

    def _pop(self) -> T:
        item, weight = self._items.popleft()
        self._bytes -= weight
        return item
