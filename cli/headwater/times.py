"""Parsing of times that people write: a time ago, a day, or ISO 8601; in UTC, like all shown times."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta

import typer

from headwater.console import shortened
from headwater_schemas.clock import utc_now

TIMES = "30m, 1h, 2d or 1w ago, now, today, yesterday, yesterday 14:00, or ISO 8601, in UTC where no zone is written"
"""Notations that `parse_time` understands, for help and errors."""

_AGO = re.compile(r"(\d{1,9})\s*([smhdw])(?:\s+ago)?", re.IGNORECASE)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAY = re.compile(r"(today|yesterday)(?:[ T](\d{1,2}):(\d{2})(?::(\d{2}))?)?", re.IGNORECASE)


def parse_time(text: str, *, clock: Callable[[], datetime] = utc_now) -> datetime:
    """Parse a time: `1h` (ago), `yesterday 14:00`, `2025-01-31`, `2025-01-31T12:00:00+01:00`.

    Args:
        clock: function that returns the current time, with a time zone.

    Raises:
        typer.BadParameter: the text isn't a time.
    """
    written = text.strip()
    try:
        if (ago := _AGO.fullmatch(written)) is not None:
            return clock().astimezone(UTC) - span(ago[1], ago[2])
        if written.lower() == "now":
            return clock().astimezone(UTC)
        if (day := _DAY.fullmatch(written)) is not None:
            date = clock().astimezone(UTC).date() - timedelta(days=day[1].lower() == "yesterday")
            hour, minute, second = (int(part or 0) for part in day.groups()[1:])
            return datetime.combine(date, time(hour, minute, second), UTC)
        return from_iso(written)
    except (ValueError, OverflowError) as error:
        raise typer.BadParameter(f"{shortened(text)!r} is no time; write {TIMES}.") from error


def span(number: str, unit: str) -> timedelta:
    """Convert a number and a unit (s, m, h, d or w) to a length of time.

    Raises:
        OverflowError: the time is too long.
    """
    return timedelta(**{_UNITS[unit.lower()]: int(number)})


def from_iso(text: str) -> datetime:
    """A time in ISO 8601, in UTC where no zone is written.

    Raises:
        ValueError: the text isn't a time.
        OverflowError: the time in UTC is outside the range of datetime (years 1 to 9999).
    """
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def time_if_given(text: str | None) -> datetime | None:
    """Parse the time of an option; None if the option isn't given.

    Raises:
        typer.BadParameter: the text isn't a time.
    """
    return None if text is None else parse_time(text)
