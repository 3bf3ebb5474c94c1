"""Freshness of the graph: how far it is behind the events topic, stated with every answer.

Consumers write their progress to the graph every few seconds (`headwater_consumers.materializer.progress`). If they
have stopped reporting, the caller's connection to the brokers, if any, gives the topic's end offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class GraphState:
    """State of the graph: how far it is behind the events topic. Member `graph` of an answer's JSON.

    Attributes:
        last_event: time of the latest record in the graph; None: unknown.
        behind: number of records on the topic that aren't in the graph yet; None: unknown.
        stale: reason why events may be missing from the answer; None: no reason.
    """

    last_event: datetime | None
    behind: int | None
    stale: str | None


NOT_REPORTED = GraphState(None, None, None)
"""State of a graph whose consumers have never reported progress. Its answers have no member `graph`."""


@dataclass(frozen=True, slots=True)
class TopicEnd:
    """Begin and end offset of a partition of the events topic, half-open, as its brokers report them."""

    partition: int
    topic_id: str
    begin: int
    end: int


TopicEnds = Callable[[str], Sequence[TopicEnd] | None]
"""Function that asks the brokers for the begin and end offsets of a topic's partitions; None: no access to brokers."""


def not_asked(_topic: str) -> None:
    """`TopicEnds` for callers without access to the brokers."""
    return


@dataclass(frozen=True, slots=True)
class _Reported:
    """Progress of one partition, as a consumer wrote it; `now` and `at` are times of the database's clock."""

    topic: str
    topic_id: str
    partition: int
    next_offset: int
    end_offset: int
    last_record_ms: int | None
    at: datetime
    now: datetime

    @property
    def pending(self) -> int:
        return max(0, self.end_offset - self.next_offset)


def freshness(rows: Iterable[dict[str, Any]], *, stale_seconds: float, ends: TopicEnds) -> GraphState:
    """Derive the graph's state from the progress that consumers have reported.

    Args:
        rows: properties of the nodes `HwProgress`, each with `at` and `now` as milliseconds since the epoch.
        stale_seconds: time without a report after which a consumer counts as stopped. A graph whose last event is
            older, while the topic has more, is stale.
        ends: asks the brokers if a consumer is silent.
    """
    reported = [_Reported(**{**row, "at": _time(row["at"]), "now": _time(row["now"])}) for row in rows]
    if not reported:
        return NOT_REPORTED
    latest = max((each.last_record_ms for each in reported if each.last_record_ms is not None), default=None)
    last_event = None if latest is None else _time(latest)
    oldest, now = min(each.at for each in reported), reported[0].now
    if (now - oldest).total_seconds() > stale_seconds:
        behind = _missing_by_brokers(reported, ends)
        stale = None
        if behind is None:
            stale = f"no consumer has reported since {oldest:%Y-%m-%d %H:%M:%S}Z: events may be missing"
        elif behind:
            stale = f"{_events(behind)} on the topic, and no consumer has reported since {oldest:%Y-%m-%d %H:%M:%S}Z"
        return GraphState(last_event, behind, stale)
    behind = sum(each.pending for each in reported)
    late = last_event is None or (now - last_event).total_seconds() > stale_seconds
    return GraphState(last_event, behind, f"{_events(behind)} on the topic" if behind and late else None)


def _missing_by_brokers(reported: Sequence[_Reported], ends: TopicEnds) -> int | None:
    """Number of records of the reported topics that the graph lacks, by the brokers; None: no access to brokers."""
    known = {(each.topic, each.partition): each for each in reported}
    missing = 0
    for topic in {each.topic for each in reported}:
        found = ends(topic)
        if found is None:
            return None
        for each in found:
            row = known.get((topic, each.partition))
            is_same = row is not None and row.topic_id == each.topic_id
            start = max(each.begin, row.next_offset) if row is not None and is_same else each.begin
            missing += max(0, each.end - start)
    return missing


def _events(count: int) -> str:
    return f"{count:,} events wait" if count != 1 else "1 event waits"


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1_000, UTC)
