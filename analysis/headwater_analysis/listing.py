"""Lists in sentences."""

from __future__ import annotations

from collections.abc import Iterable

MOST_NAMED = 3
"""Maximum number of names in a sentence; further ones are counted."""


def first_of(texts: Iterable[str], *, total: int | None = None, most: int = MOST_NAMED) -> str:
    """First texts, and the number of further ones: `daily, hourly, weekly and 2 more`.

    Args:
        total: number of all texts, if `texts` has only the first ones.
    """
    every = list(texts)
    more = (len(every) if total is None else total) - len(every[:most])
    return ", ".join(every[:most]) + (f" and {more:,} more" if more > 0 else "")
