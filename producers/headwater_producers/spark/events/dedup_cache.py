"""DedupCache: cache of published job, dataset and plan events, so that none is published twice."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable


class DedupCache:
    """Dedup cache of published job, dataset and plan events, by content digest.

    The cache has the last `limit` keys. An event whose key was evicted is published once more, which does no harm.
    """

    def __init__(self, limit: int = 10_000) -> None:
        self._limit = limit
        self._seen: OrderedDict[Hashable, str | None] = OrderedDict()

    def add(self, key: Hashable) -> bool:
        """Add `key`; return True if it is new."""
        known, _ = self.lookup(key)
        if not known:
            self.put(key)
        return not known

    def lookup(self, key: Hashable) -> tuple[bool, str | None]:
        """Return True if `key` was published, and the digest of the published event."""
        if key not in self._seen:
            return False, None
        self._seen.move_to_end(key)
        return True, self._seen[key]

    def put(self, key: Hashable, digest: str | None = None) -> None:
        """Record that `key` is published; `digest`: digest of the sent event, for later lookup."""
        self._seen[key] = digest
        if len(self._seen) > self._limit:
            self._seen.popitem(last=False)
