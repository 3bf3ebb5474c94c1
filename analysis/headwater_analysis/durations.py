"""Durations in files: a number and a unit, `90s`, `15m`, `2h`, `14d`, `2w`."""

from __future__ import annotations

import re
from typing import Any, Final

_WRITTEN: Final = re.compile(r"(\d+) ?(s|m|h|d|w)")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def read_duration(value: Any) -> int:
    """Parse a duration of a file to seconds.

    Raises:
        ValueError: the value isn't a duration.
    """
    if isinstance(value, str) and (found := _WRITTEN.fullmatch(value)):
        return int(found[1]) * _SECONDS[found[2]]
    raise ValueError("write a number and a unit: 90s, 15m, 2h, 14d or 2w")


def duration_text(seconds: int) -> str:
    """Format a duration in the largest unit that divides it: `1 day`, `36 hours`, `90 s`."""
    for size, unit in _UNITS:
        if seconds and not seconds % size:
            return f"{seconds // size:,} {unit}{'' if seconds == size else 's'}"
    return f"{seconds:,} s"
