"""Numbers of things, and lists of names, in sentences."""

from __future__ import annotations

from collections.abc import Iterable

MOST_NAMED = 3
"""Maximum number of names in a sentence; further names are counted."""


def amount(number: int, noun: str, plural: str = "") -> str:
    """Format a number of things: `1 run`, `1,200 runs`; `plural` is needed unless the plural is the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def first_of(texts: Iterable[str], most: int = MOST_NAMED, separator: str = ", ", *, total: int | None = None) -> str:
    """Join the first texts, and count the further texts: `daily, hourly, weekly and 2 more`.

    Args:
        total: number of all texts, if `texts` has only the first texts.
    """
    every = list(texts)
    more = (len(every) if total is None else total) - len(every[:most])
    return separator.join(every[:most]) + (f" and {more:,} more" if more > 0 else "")
