"""Summaries of retired micro-batches, one for each query, run and day.

All values of a summary are unions or bounds over reports. So the order, repetition and grouping of reports don't
matter, and a late report of a retired micro-batch is simply joined with the summary.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.nodes import IntervalFacts, RetentionFacts, TimeSpan
from headwater_graph.facts.registers import Props
from headwater_graph.facts.reports import Report, day_of, days, reports
from headwater_graph.facts.spans import Ranges, Spans, flat, ranges_of, union
from headwater_schemas.identity import from_micros

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Horizon(NamedTuple):
    """Retention horizon of a query, in days from the epoch; None: all days.

    Attributes:
        kept: first day whose micro-batches are stored individually.
        summarized: first day that has a summary.
    """

    kept: int | None = None
    summarized: int | None = None

    @classmethod
    def of(cls, retentions: Iterable[RetentionFacts]) -> Horizon:
        """Return the strictest horizon of a query's retention scopes."""
        rules = list(retentions)
        drops = [day_of(one.drop_before) for one in rules if one.drop_before is not None]
        all_ = drops + [day_of(one.summarize_before) for one in rules if one.summarize_before is not None]
        return cls(max(all_, default=None), max(drops, default=None))

    def keeps(self, interval: IntervalFacts) -> bool:
        """Return True if a micro-batch is kept: all its reports are from kept days or have no time."""
        if self.kept is None:
            return True
        return all(
            day is None or day >= self.kept for variant in interval.variants.values() for day in days(variant.registers)
        )

    def split(self, intervals: Iterable[IntervalFacts]) -> tuple[list[IntervalFacts], list[IntervalFacts]]:
        """Split micro-batches into kept and retired micro-batches, each in the given order."""
        kept: list[IntervalFacts] = []
        old: list[IntervalFacts] = []
        for interval in intervals:
            (kept if self.keeps(interval) else old).append(interval)
        return kept, old

    def has_summary(self, day: int | None) -> bool:
        """Return True if a day has a summary. None (no time) has a summary until a retention drops summaries."""
        return self.summarized is None or (day is not None and day >= self.summarized)


def reports_of(interval: IntervalFacts) -> set[Report]:
    """Every report of a micro-batch and of its conflicts."""
    return {report for variant in interval.variants.values() for report in reports(variant.registers, variant.uses)}


class SummaryId(NamedTuple):
    """Identity of a summary.

    Attributes:
        query: key of the query.
        run: key of the run; empty for reports without a run.
        day: days from the epoch; None for reports without a time.
    """

    query: str
    run: str
    day: int | None


@dataclass(slots=True)
class SummaryFacts:
    """Summary of the micro-batches of one query, run and day.

    Attributes:
        run_id: id of the run; empty for reports without a run.
        batches: batch ids.
        seen: first and last processing time.
        uses: offsets by dataset and partition; empty for positions that aren't of a Kafka topic.
    """

    run_id: str = ""
    batches: Ranges = field(default_factory=list)
    seen: TimeSpan = field(default_factory=TimeSpan)
    uses: dict[UseKey, Spans] = field(default_factory=dict)

    def join(self, other: SummaryFacts) -> None:
        """Join a summary of further or repeated micro-batches."""
        self.run_id = self.run_id or other.run_id
        self.batches = ranges_of([*self.batches, *other.batches])
        self.seen.see(other.seen.first, other.seen.last)
        for use, theirs in other.uses.items():
            self.uses[use] = union([*flat(self.uses.get(use, {})), *flat(theirs)])


def summarize(intervals: Iterable[IntervalFacts], horizon: Horizon) -> dict[SummaryId, SummaryFacts]:
    """Summarize retired micro-batches.

    Args:
        intervals: micro-batches of one query.
    """
    gathered: dict[SummaryId, tuple[list[tuple[int, int]], list[Report]]] = {}
    for interval in intervals:
        for report in reports_of(interval):
            if horizon.has_summary(report.day):
                batches, day_reports = gathered.setdefault(SummaryId(interval.query, report.run, report.day), ([], []))
                batches.append((interval.batch_id, interval.batch_id + 1))
                day_reports.append(report)
    return {of: _summary(batches, day_reports) for of, (batches, day_reports) in gathered.items()}


def _summary(batches: list[tuple[int, int]], day_reports: list[Report]) -> SummaryFacts:
    out = SummaryFacts(day_reports[0].run_id, ranges_of(batches))
    pieces: dict[UseKey, list[tuple[int, int, int]]] = {}
    for report in day_reports:
        if report.time is not None:
            time = from_micros(report.time)
            out.seen.see(time, time)
        for used in report.uses:
            pieces.setdefault(UseKey(RelType(used.type), used.dataset, used.ordinal), []).extend(used.pieces)
    out.uses = {use: union(of_use) for use, of_use in pieces.items()}
    return out


def date_text(day: int | None) -> str:
    """Format a day by ISO 8601; empty for None."""
    return "" if day is None else (_EPOCH + timedelta(days=day)).date().isoformat()


def bounds(ranges: Ranges) -> Props:
    """Properties of a summary: number of micro-batches, their batch ids, and number of missing ids in between."""
    count = sum(end - start for start, end in ranges)
    return {
        "batches": count,
        "first_batch": ranges[0][0],
        "last_batch": ranges[-1][1] - 1,
        "missing": ranges[-1][1] - ranges[0][0] - count,
        "batch_starts": [start for start, _ in ranges],
        "batch_ends": [end for _, end in ranges],
    }


def offsets(spans: Spans) -> Props:
    """Properties of a summary's use: ranges, number of offsets, and number of missing offsets between them."""
    if not spans:
        return {}
    pieces = flat(spans)
    count = sum(end - start for _, start, end in pieces)
    return {
        "partitions": [partition for partition, _, _ in pieces],
        "from": [start for _, start, _ in pieces],
        "to_exclusive": [end for _, _, end in pieces],
        "offsets": count,
        "missing": sum(ranges[-1][1] - ranges[0][0] for ranges in spans.values()) - count,
    }
