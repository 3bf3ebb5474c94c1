"""LRU caches bounded by the size of their values."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class LruCache(Generic[T]):
    """LRU cache bounded by the size of its values. Safe to use from many threads.

    Args:
        size: maximum sum of the sizes given to `put`. A value larger than a tenth of this maximum isn't kept.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._used = 0
        self._entries: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> T | None:
        """Return the value of a key, if it is kept."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: T, size: int = 1) -> None:
        """Keep a value, and drop the least recently used ones."""
        if size * 10 > self._size:
            return
        with self._lock:
            before = self._entries.pop(key, None)
            self._used += size - (before[1] if before is not None else 0)
            self._entries[key] = (value, size)
            while self._used > self._size:
                _, (_, dropped) = self._entries.popitem(last=False)
                self._used -= dropped


class IdentityCache(Generic[T]):
    """LRU cache whose keys are objects, compared by identity: for objects that take as long to compare as to convert.

    Args:
        size: maximum sum of sizes, as for `LruCache`.
    """

    def __init__(self, size: int) -> None:
        self._entries: LruCache[tuple[Any, T]] = LruCache(size)

    def get(self, source: object) -> T | None:
        """Return the value of an object, if it is kept."""
        entry = self._entries.get(id(source))
        return None if entry is None else entry[1]

    def put(self, source: object, value: T, size: int = 1) -> None:
        """Keep a value with its object, so that no other object gets its id."""
        self._entries.put(id(source), (source, value), size)
