"""Micro-batches that the graph no longer stores individually, and the parts in their summaries by day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from headwater_analysis.amounts import first_of
from headwater_analysis.micro_batches import retired
from headwater_analysis.moments import moment
from headwater_analysis.trace.batches import Query
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.parts import join
from headwater_analysis.trace.traced_parts import Part, PartKind, offsets
from headwater_analysis.trace.uses import kafka_spans
from headwater_graph.facts.spans import Ranges, difference, intersection, ranges_of
from headwater_schemas.events import Certainty
from headwater_schemas.ranges import range_text


@dataclass(frozen=True, slots=True)
class Retired:
    """Micro-batches in a range of batch ids that the graph no longer stores individually.

    Attributes:
        summarized: batch ids with a summary.
        dropped: batch ids without a summary.
        parts: outputs (backwards: inputs) of the summarized micro-batches, for whole days; for dropped micro-batches,
            unknown parts.
        why: sentences on these micro-batches.
    """

    summarized: Ranges
    dropped: Ranges
    parts: tuple[Part, ...]
    why: str

    @property
    def batches(self) -> Ranges:
        """Batch ids of these micro-batches."""
        return ranges_of([*self.summarized, *self.dropped])


NONE: Final = Retired([], [], (), "")


def retired_among(context: Context, query: Query, first: int, last: int) -> Retired:
    """Find the micro-batches from `first` to `last`, both included, that the graph no longer stores individually."""
    if not query.summarized:
        return NONE
    gone = retired(context.tx, [query.key]).get(query.key, [])
    among = intersection({0: gone}, {0: [(first, last + 1)]}).get(0, [])
    if not among:
        return NONE
    rows = context.tx.rows("trace/summaries_among", query=query.key, first=first, last=last, limit=context.limit)
    context.cut |= len(rows) >= context.limit
    kept = ranges_of(
        pair for row in rows for pair in zip(row["summary"]["batch_starts"], row["summary"]["batch_ends"], strict=True)
    )
    summarized = intersection({0: among}, {0: kept}).get(0, [])
    dropped = [] if len(rows) >= context.limit else difference({0: among}, {0: kept}).get(0, [])
    parts = [part for row in rows for part in parts_of(context, row["summary"], row["uses"])]
    if dropped:
        parts += _any_part(context, query)
    return Retired(summarized, dropped, join(parts), " ".join(_sentences(context, summarized, dropped)))


def parts_of(
    context: Context, summary: Mapping[str, Any], uses: Sequence[tuple[str, str, Mapping[str, Any]]]
) -> list[Part]:
    """Merged outputs (backwards: inputs) of a summary's micro-batches.

    Args:
        uses: type, key of the dataset and properties of each CONSUMED and PRODUCED relationship.
    """
    began, ended = moment(summary.get("first_time")), moment(summary.get("last_time"))
    wanted = [(dataset, position) for type_, dataset, position in uses if (type_ == "CONSUMED") is context.backward]
    context.datasets.know(dataset for dataset, _ in wanted)
    out = []
    for dataset, position in wanted:
        part = Part(
            dataset=context.datasets[dataset],
            kind=PartKind.UNKNOWN,
            certainty=Certainty.UNKNOWN,
            since=began,
            until=ended,
        )
        if "from" in position:
            part = Part(
                dataset=part.dataset,
                kind=PartKind.OFFSETS,
                certainty=Certainty.UPPER_BOUND,
                offsets=offsets(kafka_spans(position)),
            )
        out.append(part)
    return out


def _any_part(context: Context, query: Query) -> list[Part]:
    """An unknown part of each dataset that a query writes (backwards: reads)."""
    type_ = "READS" if context.backward else "WRITES"
    rows = context.tx.rows("trace/used_by_query", query=query.key)
    keys = sorted(row["dataset"] for row in rows if row["type"] == type_)
    context.datasets.know(keys)
    return [Part(dataset=context.datasets[key], kind=PartKind.UNKNOWN, certainty=Certainty.UNKNOWN) for key in keys]


def _sentences(context: Context, summarized: Ranges, dropped: Ranges) -> list[str]:
    out, verb, done = [], *(("read", "read") if context.backward else ("wrote", "written"))
    if summarized:
        out.append(
            f"Batch {_listed(summarized)} is summarized by day, so everything that the micro-batches of these days "
            f"{verb} is included. The archive of the events topic has each micro-batch."
        )
    if dropped:
        out.append(f"Batch {_listed(dropped)} was dropped by retention: it may have {done} any part.")
    return out


def _listed(ranges: Ranges) -> str:
    return first_of((range_text(start, end) for start, end in ranges), most=10)
