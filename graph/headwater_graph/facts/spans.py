"""Ranges of integers: half-open, ascending, not touching; Spans are ranges by partition, `{0: [(start, end), …]}`."""

from __future__ import annotations

from collections.abc import Iterable

Ranges = list[tuple[int, int]]
Spans = dict[int, Ranges]


def ranges_of(pieces: Iterable[tuple[int, int]]) -> Ranges:
    """Merge pieces (start and end), in any order and possibly overlapping, into Ranges; empty pieces are left out."""
    return union((0, start, end) for start, end in pieces).get(0, [])


def union(pieces: Iterable[tuple[int, int, int]]) -> Spans:
    """Merge pieces (partition, start and end) into Spans; empty pieces are left out."""
    out: Spans = {}
    for partition, start, end in sorted(pieces):
        if start >= end:
            continue
        spans = out.setdefault(partition, [])
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return out


def flat(spans: Spans) -> list[tuple[int, int, int]]:
    """Partition, start and end of each range."""
    return [(partition, start, end) for partition in sorted(spans) for start, end in spans[partition]]


def intersection(one: Spans, other: Spans) -> Spans:
    """Return the offsets that are in both."""
    out: Spans = {}
    for partition in sorted(one.keys() & other.keys()):
        both = [(max(a, c), min(b, d)) for a, b in one[partition] for c, d in other[partition] if a < d and c < b]
        if both:
            out[partition] = both
    return out


def difference(one: Spans, other: Spans) -> Spans:
    """Return the offsets that are in the first, and not in the second."""
    out: Spans = {}
    for partition, spans in one.items():
        rest = spans
        for c, d in other.get(partition, ()):
            rest = [piece for a, b in rest for piece in ((a, min(b, c)), (max(a, d), b)) if piece[0] < piece[1]]
        if rest:
            out[partition] = rest
    return out


def has(ranges: Ranges, number: int) -> bool:
    """Return True if a number is in one of the ranges."""
    return any(start <= number < end for start, end in ranges)
