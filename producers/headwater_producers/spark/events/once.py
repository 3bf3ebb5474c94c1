"""Once: remembers what was said, and how, so that it isn't said again."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable


class Once:
    """The last `limit` distinct things. What falls out of memory is said once more, which does no harm."""

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._seen: OrderedDict[Hashable, str | None] = OrderedDict()

    def first(self, thing: Hashable) -> bool:
        """Whether `thing` is new; from now on it isn't."""
        known, _ = self.recalled(thing)
        if not known:
            self.remember(thing)
        return not known

    def recalled(self, thing: Hashable) -> tuple[bool, str | None]:
        """Whether `thing` was said, and as what."""
        if thing not in self._seen:
            return False, None
        self._seen.move_to_end(thing)
        return True, self._seen[thing]

    def remember(self, thing: Hashable, as_: str | None = None) -> None:
        """`thing` is said, `as_` something else where that differs."""
        self._seen[thing] = as_
        if len(self._seen) > self._limit:
            self._seen.popitem(last=False)
