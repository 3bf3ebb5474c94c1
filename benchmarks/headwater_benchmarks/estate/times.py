"""Times of the generated estate: half a year from 1 January 2025."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

DAY = 86_400
"""Seconds."""
SPAN = 180 * DAY
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)


@lru_cache(1 << 16)
def moment(seconds: int) -> str:
    """The time that many seconds after the beginning, in the format of Neo4j's import."""
    return (BEGIN + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
