"""What became of a thing between two times."""

from __future__ import annotations

from enum import StrEnum


class DiffChange(StrEnum):
    """What became of a thing from before to after."""

    ADDED = "ADDED"
    REMOVED = "REMOVED"
    CHANGED = "CHANGED"
