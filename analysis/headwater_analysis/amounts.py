"""Numbers of things, and lists of names, in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def amount(number: int, noun: str, plural: str = "") -> str:
    """Format a number of things: `1 run`, `1,200 runs`; `plural` is needed unless it is the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def first_of(names: Sequence[str], most: int, separator: str = ", ") -> str:
    """Join the first names, and count the others: `a, b and 3 more`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{separator.join(names[:most])}{more}"
