"""Freshness of the graph: how far it is behind the events topic, stated with every answer.

Consumers write their progress beside the graph every few seconds (`headwater_consumers.materializer.progress`). Where
they are silent, the brokers are asked where the topic ends, if the asker has a way to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class GraphState:
    """How far the graph that was asked is behind the events topic.

    Attributes:
        last_event: time of the latest record that the graph has; None: not known.
        behind: records on the topic that aren't in the graph yet; None: not known.
        stale: why events may be missing from the answer; None: nothing speaks for it.
    """

    last_event: datetime | None
    behind: int | None
    stale: str | None


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far the graph is behind the events topic, as a question found it.

    Attributes:
        last_event: time of the latest record that the graph has; None: not known.
        behind: records on the topic that aren't in the graph yet; None: not known.
        reported_at: when every partition's consumer had last reported; None: no consumer has.
        stale: why events may be missing from an answer, as the end of a sentence; None: nothing speaks for it.
    """

    last_event: datetime | None = None
    behind: int | None = None
    reported_at: datetime | None = None
    stale: str | None = None

    @property
    def state(self) -> GraphState | None:
        """Member `graph` of an answer's JSON; None: no consumer has ever reported."""
        return None if self.reported_at is None else GraphState(self.last_event, self.behind, self.stale)


@dataclass(frozen=True, slots=True)
class TopicEnd:
    """Where a partition of the events topic begins and ends, half-open, by its brokers."""

    partition: int
    topic_id: str
    begin: int
    end: int


TopicEnds = Callable[[str], Sequence[TopicEnd] | None]
"""Asks the brokers where the partitions of a topic end; None: they can't be asked."""


def not_asked(_topic: str) -> None:
    """`TopicEnds` of an asker that has no way to the brokers."""
    return


@dataclass(frozen=True, slots=True)
class _Reported:
    """Progress of one partition as a consumer wrote it; `now` and `at` by the database's clock."""

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


def freshness(rows: Iterable[dict[str, Any]], *, stale_seconds: float, ends: TopicEnds) -> Freshness:
    """Judge what consumers have reported.

    Args:
        rows: properties of the nodes `HwProgress`, each with `at` and `now` as milliseconds since the epoch.
        stale_seconds: a consumer that has reported nothing for so long is silent; and a graph whose last event is
            older, while the topic has more, is stale.
        ends: asked where a consumer is silent.
    """
    reported = [_Reported(**{**row, "at": _time(row["at"]), "now": _time(row["now"])}) for row in rows]
    if not reported:
        return Freshness()
    latest = max((each.last_record_ms for each in reported if each.last_record_ms is not None), default=None)
    last_event = None if latest is None else _time(latest)
    oldest, now = min(each.at for each in reported), reported[0].now
    if (now - oldest).total_seconds() > stale_seconds:
        behind = _asked(reported, ends)
        stale = None
        if behind is None:
            stale = f"no consumer has reported since {oldest:%Y-%m-%d %H:%M:%S}Z: events may be missing"
        elif behind:
            stale = f"{_events(behind)} on the topic, and no consumer has reported since {oldest:%Y-%m-%d %H:%M:%S}Z"
        return Freshness(last_event, behind, oldest, stale)
    behind = sum(each.pending for each in reported)
    late = last_event is None or (now - last_event).total_seconds() > stale_seconds
    return Freshness(last_event, behind, oldest, f"{_events(behind)} on the topic" if behind and late else None)


def _asked(reported: Sequence[_Reported], ends: TopicEnds) -> int | None:
    """How many records of the reported topics aren't in the graph, by the brokers; None: they can't be asked."""
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
