"""Times as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
import typer

from headwater.times import parse_time

# 00:30 of 2 March in UTC, 1 March 23:30 where the clock is.
NOW = datetime(2025, 3, 1, 23, 30, 15, tzinfo=timezone(timedelta(hours=-1)))


def test_a_time(subtests: pytest.Subtests) -> None:
    cases = [
        ("now", "2025-03-02T00:30:15"),
        ("90s", "2025-03-02T00:28:45"),
        ("30m", "2025-03-02T00:00:15"),
        ("1h", "2025-03-01T23:30:15"),
        ("1H ago", "2025-03-01T23:30:15"),
        ("2d", "2025-02-28T00:30:15"),
        ("1w", "2025-02-23T00:30:15"),
        ("today", "2025-03-02T00:00:00"),
        ("yesterday", "2025-03-01T00:00:00"),
        ("Yesterday 14:00", "2025-03-01T14:00:00"),
        ("yesterdayT9:05:30", "2025-03-01T09:05:30"),
        ("2025-01-31", "2025-01-31T00:00:00"),
        ("2025-01-31T12:00:00.5Z", "2025-01-31T12:00:00.500000"),
        (" 2025-01-31T12:00:00+01:00 ", "2025-01-31T11:00:00"),
        ("2025-01-31 12:00:00Z", "2025-01-31T12:00:00"),
    ]
    for text, time in cases:
        with subtests.test(text=text):
            found = parse_time(text, clock=lambda: NOW)
            assert found == datetime.fromisoformat(f"{time}Z")
            assert found.tzinfo is UTC


def test_what_is_no_time(subtests: pytest.Subtests) -> None:
    cases = ["", "h", "1", "1y", "-1h", "tomorrow", "yesterday 25:00", "999999999w", "2025-13-01", "\x1b[2J"]
    for text in cases:
        with subtests.test(text=text):
            with pytest.raises(typer.BadParameter, match="is no time; write 30m, 1h, 2d or 1w ago, now") as raised:
                parse_time(text, clock=lambda: NOW)
            assert "\x1b" not in str(raised.value)
