"""What documents repeat word for word: read once.

A client sends the schemas of all datasets, and their column lineage, with every event of every run. What was read of a
facet doesn't depend on the document that it is in, so it is remembered by the facet's own text.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, TypeVar

import msgspec

T = TypeVar("T")

MAX_BYTES: Final = 8 << 20
"""Of the texts that are remembered, for each kind of facts. What was read of them takes several times as much."""


class Repeated(Generic[T]):
    """What was read of the latest texts, by these. Safe to use from many threads.

    Args:
        max_bytes: of the texts together. A text that is longer than a tenth of it isn't remembered.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._known: OrderedDict[tuple[Hashable, bytes], T] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, about: Hashable, source: Any, make: Callable[[], T]) -> T:
        """What `make` returns; it isn't called if it was with an equal `about` and `source` before.

        Args:
            about: what else the result depends on.
            source: a JSON value.
            make: reads it. What it raises is raised, and nothing is remembered.
        """
        try:
            text = msgspec.json.encode(source)
        except OverflowError:
            return make()  # a number of more than 64 bits
        key = (about, text)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        made = make()
        if len(text) <= self._max_bytes // 10:
            self._remember(key, made)
        return made

    def _remember(self, key: tuple[Hashable, bytes], made: T) -> None:
        with self._lock:
            if key not in self._known:
                self._bytes += len(key[1])
            self._known[key] = made
            while self._bytes > self._max_bytes:
                (_, text), _ = self._known.popitem(last=False)
                self._bytes -= len(text)
