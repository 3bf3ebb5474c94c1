"""Conversion between OpenLineage's times (RFC 3339) and aware datetimes in UTC.

Digits after microseconds are cut off, because the graph's times have microseconds. Years outside 1970 to 9998 are
refused: they come from an unset clock, or mean "forever".
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from headwater_openlineage.errors import Refused
from headwater_openlineage.reading import Json, step, text

_WANTED: Final = "must be a time with an offset, such as 2025-01-31T23:59:59.123Z"
_YEARS: Final = range(1970, 9999)
# RFC 3339, which allows a space instead of the T; also an offset without a colon, which Java writes.
_TIME: Final = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[Tt ](?P<clock>\d\d:\d\d(?::\d\d)?)(?:[.,](?P<fraction>\d{1,18}))?"
    r"(?:(?P<utc>[Zz])|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d))",
    re.ASCII,
)


def time(source: Json, name: str, at: str) -> datetime | None:
    """Return a time in UTC; None if it is absent.

    Raises:
        Refused: the member isn't a time, has no offset, or its year is outside 1970 to 9998.
    """
    value = text(source, name, at)
    if value is None:
        return None
    found = _TIME.fullmatch(value)
    if found is None:
        raise Refused(step(at, name), _WANTED)
    fraction = (found["fraction"] or "")[:6]
    micros = f".{fraction:0<6}" if fraction else ""
    offset = "+00:00" if found["utc"] else f"{found['sign']}{found['hours']}:{found['minutes']}"
    try:
        utc = datetime.fromisoformat(f"{found['date']}T{found['clock']}{micros}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):
        raise Refused(step(at, name), f"{_WANTED}: there is no such day or hour") from None
    if utc.year not in _YEARS:
        raise Refused(step(at, name), "must be a time in the years 1970 to 9998")
    return utc


def time_of(document: Json) -> datetime:
    """Return the time of a document's event, in UTC.

    Raises:
        Refused: the time is missing; or see `time`.
    """
    value = time(document, "eventTime", "")
    if value is None:
        raise Refused(step("", "eventTime"), f"is missing: {_WANTED}")
    return value


def time_text(value: datetime) -> str:
    """Format a time as `2025-01-31T23:59:59.123000Z`: always with microseconds, so that equal times are equal texts."""
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
