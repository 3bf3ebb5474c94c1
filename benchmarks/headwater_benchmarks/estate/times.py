"""When things happened: within half a year from the first of January 2025."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

DAY = 86_400
"""Seconds."""
SPAN = 180 * DAY
_BEGIN = datetime(2025, 1, 1, tzinfo=UTC)


@lru_cache(1 << 16)
def moment(seconds: int) -> str:
    """That many seconds after the beginning, as Neo4j's import reads it."""
    return (_BEGIN + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
