"""Kinds of changes between two times."""

from __future__ import annotations

from enum import StrEnum


class DiffChange(StrEnum):
    """Change from before to after."""

    ADDED = "ADDED"
    REMOVED = "REMOVED"
    CHANGED = "CHANGED"
