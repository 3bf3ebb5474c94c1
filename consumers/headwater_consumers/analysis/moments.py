"""Neo4j's times ⇒ Python's.

The driver takes 100 µs and more for each time that it reads. Where there may be thousands, a statement returns
`t.epochMillis * 1000 + t.microsecond % 1000` instead, which costs nothing. (`epochSeconds` won't do: of a time before
1970 with milliseconds it is the second after.)
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(time: Any) -> datetime | None:
    """A time of a row, `neo4j.time.DateTime` or of a segment, as an aware `datetime`; microseconds in UTC."""
    return time if time is None or isinstance(time, datetime) else time.to_native()


def moment_of(microseconds: int | None) -> datetime | None:
    """Microseconds since the epoch as an aware `datetime`, exactly."""
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)
