"""What documents repeat word for word: read once.

A client sends the schemas of all datasets, and their column lineage, with every event of every run. What was read of a
facet doesn't depend on the document that it is in, so it is remembered by the facet's own text: what its JSON says by
its bytes, and what follows from that by the facet then shared.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import msgspec

from headwater_schemas.latest import Latest

T = TypeVar("T")

MAX_BYTES: Final = 8 << 20
"""Of the texts that are remembered, for each kind of facts. What was read of them takes several times as much."""


class Shared(dict[str, Any]):
    """A facet, all facets of a dataset or job, or a job: all documents share it that have it word for word.

    Its members are never changed.

    Attributes:
        text: it as JSON with sorted keys.
        colons: how many there are in its text.
        token: no other part of this process ever has it.
        clean: whether it is known to have no credentials.
    """

    __slots__ = ("clean", "colons", "text", "token")

    def __init__(self, value: dict[str, Any], text: bytes, colons: int) -> None:
        super().__init__(value)
        self.text = text
        self.colons = colons
        self.token = next(_TOKENS)
        self.clean = False


_TOKENS: Final = itertools.count()


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

    def read(self, about: Hashable, facets: Iterable[Any], make: Callable[[], T]) -> T:
        """What `make` returns; it isn't called if it was with an equal `about` and equal facets before.

        Args:
            about: what else the result depends on, also which facet is which.
            facets: JSON values.
            make: reads them. What it raises is raised, and nothing is remembered.
        """
        try:
            texts, size = texts_of(facets)
        except OverflowError:
            return make()
        key = (about, *texts)
        known = self._known.get(key)
        if known is not None:
            return known.value
        made = make()
        self._known.put(key, _Read(made), size)
        return made


def texts_of(facets: Iterable[Any]) -> tuple[list[Hashable], int]:
    """What stands for each JSON value in a key, and how many bytes they have together.

    Raises:
        OverflowError: a number has more than 64 bits.
    """
    size = 0
    texts: list[Hashable] = []
    for facet in facets:
        if type(facet) is Shared:
            texts.append(facet.token)
            size += len(facet.text)
        else:
            texts.append(text := msgspec.json.encode(facet))
            size += len(text)
    return texts, size
