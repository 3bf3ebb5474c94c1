"""Neo4j's times ⇒ Python's.

The driver takes 100 µs and more for each time that it reads. Where there may be thousands, a statement returns
`t.epochMillis * 1000 + t.microsecond % 1000` instead, which costs nothing. (`epochSeconds` won't do: of a time before
1970 with milliseconds it is the second after.)
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

EVER: Final = datetime.max.replace(tzinfo=UTC)
"""Later than everything: for questions that have no end."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(time: Any) -> datetime | None:
    """A time of a row, `neo4j.time.DateTime` or of a segment, as an aware `datetime`; microseconds in UTC."""
    return time if time is None or isinstance(time, datetime) else time.to_native()


def moment_of(microseconds: int | None) -> datetime | None:
    """Microseconds since the epoch as an aware `datetime`, exactly."""
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)


def written(value: object) -> object:
    """A time of a position as Neo4j writes it, whichever of the two sorts it is; what is no time as it is.

    Of a run it comes as Neo4j's, of a micro-batch as Python's: `2025-01-01T03:04:05.120000000+00:00`.
    """
    if not isinstance(value, datetime):
        return value
    return f"{value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}000+00:00"
