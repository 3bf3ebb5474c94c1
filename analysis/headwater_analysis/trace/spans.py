"""Offset ranges of answers, converted from and to `facts.spans`."""

from __future__ import annotations

from collections.abc import Iterable

from headwater_analysis.trace.traced_parts import OffsetSpan
from headwater_graph.facts.spans import Spans, flat, union


def spans_of(offsets: Iterable[OffsetSpan]) -> Spans:
    """Convert ranges in any order, some of them overlapping, to Spans."""
    return union((span.partition, span.start, span.end) for span in offsets)


def offsets(spans: Spans) -> tuple[OffsetSpan, ...]:
    """Convert Spans to the ranges of an answer."""
    return tuple(OffsetSpan(*span) for span in flat(spans))
