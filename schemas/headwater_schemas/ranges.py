"""Ranges of offsets and of batch ids as text: one half-open notation for printed and typed ranges.

| text         | means                                                      |
|--------------|------------------------------------------------------------|
| `609..994`   | from 609 up to but not including 994: the last one is 993  |
| `609`        | 609 alone: the same as `609..610`                          |
| `609..`      | 609 and all after it                                       |
| `0:609..994` | `609..994` of a topic's partition 0                        |

The end is exclusive, like Kafka's end offsets and the `start` and `end` of documents. The notation has no characters
that are special to a shell, so printed ranges can be pasted into commands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_OFFSET = 2**63 - 1
"""Greatest end of a range: Kafka's offsets and Spark's batch ids are 64-bit integers."""

_NOTATION = "write 609..994 for 609 up to but not including 994, or 609 for this number alone"
_RANGE = re.compile(r"(?:(?P<partition>\d{1,10}):)?(?P<start>\d{1,19})(?P<to>\.\.(?P<end>\d{1,19})?)?", re.ASCII)
# Notations of other tools: _INCLUSIVE and _CLOSED include the last number, _EXCLUSIVE doesn't.
_INCLUSIVE = re.compile(r"(\d{1,19})\s*(?:-|–|—|to)\s*(\d{1,19})", re.ASCII)
_EXCLUSIVE = re.compile(r"\[?\s*(\d{1,19})\s*(?::|…|\.\.\.|,)\s*(\d{1,19})\s*\)?", re.ASCII)
_CLOSED = re.compile(r"\[\s*(\d{1,19})\s*,\s*(\d{1,19})\s*\]", re.ASCII)


class RangeError(ValueError):
    """A text that isn't a range; the message suggests the probably intended range."""


@dataclass(frozen=True, slots=True)
class Range:
    """A range in its written form.

    Attributes:
        start: first number of the range.
        end: exclusive end, greater than `start`; None: no end.
        partition: partition of the topic; None if the text names none.
    """

    start: int
    end: int | None
    partition: int | None = None


def range_text(start: int, end: int | None) -> str:
    """Return a range as text: `609..994`; `609` for a single number; `609..` without an end.

    Args:
        start: first number of the range.
        end: exclusive end; None or `MOST_OFFSET`: no end.
    """
    if end is None or end == MOST_OFFSET:
        return f"{start}.."
    return str(start) if end == start + 1 else f"{start}..{end}"


def partition_text(partition: int, start: int, end: int | None) -> str:
    """Return a range of a topic's partition as text: `0:609..994`."""
    return f"{partition}:{range_text(start, end)}"


def batches_text(first: int, last: int) -> str:
    """Return batch ids as text: `batch 12`, or `batches 12..15` if 14 is the last. Both arguments are inclusive."""
    return f"batch{'' if first == last else 'es'} {range_text(first, last + 1)}"


def parse_range(text: str, *, of_partition: bool = False) -> Range:
    """The inverse of `range_text` and `partition_text`.

    Args:
        text: text in the module's notation.
        of_partition: True if the range may name its partition, `0:609..994`.

    Raises:
        RangeError: the text is no range, or the range is empty.
    """
    found = _RANGE.fullmatch(text)
    if found is None or (found["partition"] and not of_partition):
        raise RangeError(f"{text[:60]!r} isn't a range: {_suggestion(text)}.")
    start = int(found["start"])
    end = int(found["end"]) if found["end"] else None if found["to"] else start + 1
    if max(start, end or 0) > MOST_OFFSET:
        raise RangeError(f"{text[:60]!r}: offsets and batch ids go up to {MOST_OFFSET}.")
    if end is not None and end <= start:
        raise RangeError(f"{text[:60]!r} is empty, because the end isn't part of a range: {_NOTATION}.")
    return Range(start, end, int(found["partition"]) if found["partition"] else None)


def _suggestion(text: str) -> str:
    """Suggest the notation for a range that is written in a notation of other tools."""
    if other := _CLOSED.fullmatch(text) or _INCLUSIVE.fullmatch(text):
        return f"write {range_text(int(other[1]), int(other[2]) + 1)} for {other[1]} up to and including {other[2]}"
    if other := _EXCLUSIVE.fullmatch(text):
        return f"write {other[1]}..{other[2]} for {other[1]} up to but not including {other[2]}"
    return _NOTATION
