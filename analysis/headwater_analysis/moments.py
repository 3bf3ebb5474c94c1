"""Neo4j's times ⇒ Python's.

The driver takes 100 µs and more to read a time. For possibly thousands of times, a statement returns `t.epochMillis *
1000 + t.microsecond % 1000` instead, which costs nothing. (`epochSeconds` is wrong here: for a time before 1970 with
milliseconds, it is the next second.)
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

EVER: Final = datetime.max.replace(tzinfo=UTC)
"""Latest time, for questions without an end."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(time: Any) -> datetime | None:
    """Convert the time of a row (`neo4j.time.DateTime`, or `datetime` from a segment) to an aware `datetime`."""
    return time if time is None or isinstance(time, datetime) else time.to_native()


def moment_of(microseconds: int | None) -> datetime | None:
    """Convert microseconds since the epoch to an aware `datetime`, exactly."""
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)


def written(value: object) -> object:
    """Format a time of a position as Neo4j does, `2025-01-01T03:04:05.120000000+00:00`; other values stay unchanged.

    A run's times come as Neo4j's type, a micro-batch's as Python's.
    """
    if not isinstance(value, datetime):
        return value
    return f"{value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}000+00:00"
