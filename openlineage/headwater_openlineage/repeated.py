"""What documents repeat word for word: read once.

A client sends the schemas of all datasets, and their column lineage, with every event of every run. What was read of a
facet doesn't depend on the document that it is in, so it is remembered by the facet's own text.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import msgspec

from headwater_schemas.latest import Latest

T = TypeVar("T")

MAX_BYTES: Final = 8 << 20
"""Of the texts that are remembered, for each kind of facts. What was read of them takes several times as much."""


@dataclass(frozen=True, slots=True)
class _Read(Generic[T]):
    value: T


class Repeated(Generic[T]):
    """What was read of the latest texts, by these. Safe to use from many threads.

    Args:
        max_bytes: of the texts together. A text that is longer than a tenth of it isn't remembered.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._known: Latest[_Read[T]] = Latest(max_bytes)

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
        known = self._known.get(key)
        if known is not None:
            return known.value
        made = make()
        self._known.put(key, _Read(made), len(text))
        return made
