"""compare: two dumps, line by line. Both are read once, side by side; no more than the differences are in memory."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = 20
"""Differences that are kept in full. All are counted."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A node or relationship that isn't as it should be.

    Attributes:
        key: what its line is sorted by.
        expected: the line as it should be; None where there should be none.
        found: the line as it is; None where there is none.
    """

    key: str
    expected: str | None
    found: str | None


@dataclass(slots=True)
class Comparison:
    """How two dumps differ.

    Attributes:
        equal: lines that are in both.
        missing: lines that should be there and aren't.
        extra: lines that are there and shouldn't be.
        changed: lines whose key is in both, and whose properties differ.
        samples: the first differences.
    """

    equal: int = 0
    missing: int = 0
    extra: int = 0
    changed: int = 0
    samples: list[Difference] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether there is no difference."""
        return not (self.missing or self.extra or self.changed)

    def differs(self, key: str, expected: str | None, found: str | None) -> None:
        """Count a difference, and keep it while there are few."""
        if found is None:
            self.missing += 1
        elif expected is None:
            self.extra += 1
        else:
            self.changed += 1
        if len(self.samples) < SAMPLES:
            self.samples.append(Difference(key, expected, found))


def compare(expected: Iterator[str], found: Iterator[str]) -> Comparison:
    """Compare two dumps.

    Args:
        expected: lines in order of key, as `oracle` and `dump` give them.
        found: likewise.
    """
    comparison = Comparison()
    ours, theirs = _next(expected), _next(found)
    while ours is not None or theirs is not None:
        if theirs is None or (ours is not None and ours[0] < theirs[0]):
            assert ours is not None  # noqa: S101 - for the type checker: one of the two is there
            comparison.differs(ours[0], ours[1], None)
            ours = _next(expected)
            continue
        if ours is None or theirs[0] < ours[0]:
            comparison.differs(theirs[0], None, theirs[1])
            theirs = _next(found)
            continue
        if ours == theirs:
            comparison.equal += 1
        else:
            comparison.differs(ours[0], ours[1], theirs[1])
        ours, theirs = _next(expected), _next(found)
    return comparison


def _next(lines: Iterator[str]) -> tuple[str, str] | None:
    line = next(lines, None)
    return None if line is None else (json.loads(line)["key"], line)
