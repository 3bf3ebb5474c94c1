"""Once: remembers what was said, so that it isn't said again."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable


class Once:
    """The last `limit` distinct things. What falls out of memory is said once more, which does no harm."""

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._seen: OrderedDict[Hashable, None] = OrderedDict()

    def first(self, thing: Hashable) -> bool:
        """Whether `thing` is new; from now on it isn't."""
        if thing in self._seen:
            self._seen.move_to_end(thing)
            return False
        self._seen[thing] = None
        if len(self._seen) > self._limit:
            self._seen.popitem(last=False)
        return True
