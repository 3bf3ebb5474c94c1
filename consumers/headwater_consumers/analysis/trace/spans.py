"""Offset ranges by partition: `{partition: [(start, end), …]}`, half-open, ascending, apart from each other."""

from __future__ import annotations

from collections.abc import Iterable

from headwater_consumers.analysis.trace.answer import OffsetSpan

Spans = dict[int, list[tuple[int, int]]]


def spans_of(offsets: Iterable[OffsetSpan]) -> Spans:
    """Ranges of any order, some of them overlapping, as Spans."""
    return union((span.partition, span.start, span.end) for span in offsets)


def union(ranges: Iterable[tuple[int, int, int]]) -> Spans:
    """Partition, start and end of each ⇒ Spans; empty ranges are left out."""
    out: Spans = {}
    for partition, start, end in sorted(ranges):
        if start >= end:
            continue
        spans = out.setdefault(partition, [])
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return out


def flat(spans: Spans) -> list[tuple[int, int, int]]:
    """Partition, start and end of each."""
    return [(partition, start, end) for partition in sorted(spans) for start, end in spans[partition]]


def offsets(spans: Spans) -> tuple[OffsetSpan, ...]:
    """As an answer has them."""
    return tuple(OffsetSpan(*span) for span in flat(spans))


def intersection(one: Spans, other: Spans) -> Spans:
    """What is in both."""
    return union(
        (partition, max(a, c), min(b, d))
        for partition in one.keys() & other.keys()
        for a, b in one[partition]
        for c, d in other[partition]
    )


def difference(one: Spans, other: Spans) -> Spans:
    """What is in the first alone."""
    out: Spans = {}
    for partition, spans in one.items():
        rest = spans
        for c, d in other.get(partition, ()):
            rest = [piece for a, b in rest for piece in ((a, min(b, c)), (max(a, d), b)) if piece[0] < piece[1]]
        if rest:
            out[partition] = rest
    return out
