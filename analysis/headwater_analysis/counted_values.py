"""Facets: number of found assets for each value of a property."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

MOST_VALUES = 20


@dataclass(frozen=True, slots=True)
class ValueCount:
    """A value, and the number of assets that have it.

    Attributes:
        value: the value; None: assets without a value.
        total: number of these assets.
    """

    value: str | None
    total: int


def counted_values(values: Iterable[Iterable[str]], *, with_none: bool = False) -> tuple[ValueCount, ...]:
    """Count values, the most frequent first, equally frequent values in order; at most 20.

    Args:
        with_none: whether to count assets without a value, too; they come last.
    """
    found: Counter[str] = Counter()
    without = 0
    for each in values:
        distinct = set(each)
        found.update(distinct)
        without += not distinct
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:MOST_VALUES]
    none = (ValueCount(None, without),) if with_none and without else ()
    return (*(ValueCount(*item) for item in ranked), *none)
