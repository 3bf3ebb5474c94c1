"""Cache of facets that documents repeat word for word, so that each is read once.

A client sends the schemas of all datasets, and their column lineage, with every event of every run. The result of
reading a facet doesn't depend on its document, so it is cached by the facet's own text: first its JSON by the bytes,
then the facts read from it by the facet then shared.
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
"""Size of the cached texts, for each kind of facts. The facts read from them take several times as much."""


class Shared(dict[str, Any]):
    """A facet, all facets of a dataset or job, or a job: all documents share it that have it word for word.

    Its members are never changed.

    Attributes:
        text: JSON text with sorted keys.
        colons: number of colons in the text.
        token: no other part of this process ever has it.
        clean: it is known to have no credentials.
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
    """LRU cache of values by the texts that they were read from. Safe to use from many threads.

    Args:
        max_bytes: bound on the size of all texts. A text longer than a tenth of it isn't kept.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._known: Latest[_Read[T]] = Latest(max_bytes)

    def read(self, about: Hashable, facets: Iterable[Any], make: Callable[[], T]) -> T:
        """Return the result of `make`, or the cached one of an earlier call with equal `about` and facets.

        Args:
            about: other values on which the result depends, also which facet is which.
            facets: JSON values.
            make: reads the facets. Its exceptions are raised, and nothing is cached.
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
    """Encode JSON values as parts of a key; also return how many bytes they have together.

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
