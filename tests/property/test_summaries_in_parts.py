"""A summary that is stored and added to comes to what a summary of all micro-batches comes to."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater_graph.derive import BatchPositions
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.fold import fold
from headwater_graph.segments.summary import StoredSummary, Summary, summarize
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    FileSet,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    Provenance,
    RunRef,
)
from headwater_schemas.events.build import lineage_event
from support.examples import examples

START = datetime(2026, 1, 1, tzinfo=UTC)


class Stream:
    """One run of a query after another. Each micro-batch goes on where the one before ended, but for `odd` of them."""

    def __init__(self, dice: random.Random, odd: float) -> None:
        self._dice, self._odd = dice, odd
        self._batch_id = dice.choice([0, 3, 500])
        self._run = "r1"
        self._uses = [self._use(number) for number in range(dice.randint(1, 3))]
        self._late, self._times = dice.random() < 0.3, dice.random() < 0.8

    def _use(self, number: int) -> dict[str, Any]:
        dice = self._dice
        return {
            "name": f"t{number}",
            "kind": dice.choice(["kafka", "kafka", "kafka", "kafka", "none", "files"]),
            "ends": {partition: dice.randrange(100) for partition in sorted(dice.sample(range(9), dice.randint(0, 3)))},
            "topic_id": None,
        }

    def _happens(self) -> bool:
        return self._dice.random() < self._odd

    def _made(self, of: dict[str, Any]) -> DatasetUse:
        dice, ends, position = self._dice, of["ends"], None
        if self._happens():
            of["topic_id"] = dice.choice([None, "id", "other"])
        if self._happens():
            ends[dice.randrange(9)] = dice.randrange(100)
        if ends and self._happens():
            del ends[dice.choice(list(ends))]
        if of["kind"] == "kafka":
            ranges = []
            for partition in sorted(ends):
                first = max(0, ends[partition] + (dice.choice([-400, -3, 2]) if self._happens() else 0))
                ends[partition] = first + dice.choice([0, 1, 7, 300])
                ranges.append(OffsetRange(partition=partition, from_=first, to_exclusive=ends[partition]))
            position = Position(kafka=KafkaRanges(topic="t", ranges=tuple(ranges), topic_id=of["topic_id"]))
        elif of["kind"] == "files":
            position = Position(files=FileSet(count=1, manifest_digest=f"d{dice.randrange(3)}"))
        return DatasetUse(dataset=DatasetRef("kafka://b", of["name"]), position=position, certainty=Certainty.EXACT)

    def report(self) -> LineageEvent:
        """The next one."""
        dice = self._dice
        self._batch_id += 1 + (dice.randrange(1, 40) if self._happens() else 0)
        if self._happens():
            self._run += "1"
        if self._happens():
            dice.choice(self._uses)["kind"] = dice.choice(["kafka", "none"])
        if self._happens() and len(self._uses) > 1:
            self._uses.pop()
        if self._happens():
            self._uses.append(self._use(len(self._uses)))
        at = START + timedelta(seconds=self._batch_id, microseconds=dice.randrange(5_000_000))
        made = [self._made(of) for of in self._uses]
        entry = IntervalEntry(
            batch_id=self._batch_id,
            inputs=tuple(made[:1]),
            outputs=tuple(made[1:]),
            processing_time=at if self._times else None,
            duration_ms=dice.randrange(500),
            rows_in=dice.randrange(500),
            rows_dropped_late=(5 if self._happens() else 0) if self._late else None,
        )
        provenance = Provenance.RECONCILED if self._happens() else Provenance.OBSERVED
        body = IntervalEvent(query_id="q", entries=(entry,), provenance=provenance)
        return lineage_event(body, job=JobRef("n", "j"), run=RunRef(self._run), producer="p", event_time=at, tenant="t")


def stored(summary: Summary) -> Summary:
    """Summary as the next transaction reads it, which finds versions in the graph by itself."""
    node = {name: value for name, value in summary.properties("q").items() if value is not None}
    uses = {use: range_.properties() for use, range_ in summary.ranges.items()}
    again = Summary.of(StoredSummary(node, summary.runs, uses))
    again.versions = summary.versions
    return again


def added(parts: Sequence[Sequence[IntervalFacts]]) -> tuple[Summary, BatchPositions | None]:
    """Each part in a transaction of its own."""
    summary, before = Summary(), None
    for part in parts:
        before = summary.add_all("t", part, before)
        summary = stored(summary) if summary.batches else summary
    return summary, before


def check(coming: list[IntervalFacts], cuts: Sequence[int]) -> None:
    parts = [coming[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(coming)], strict=True)]
    expected = summarize("t", {one.batch_id: one for one in coming}, None)
    found = added(parts)
    assert found[0].properties("q") == stored(expected[0]).properties("q")
    assert found == (stored(expected[0]), expected[1])


def by_batch_id(events: Sequence[LineageEvent]) -> list[IntervalFacts]:
    return sorted(fold(events).intervals.values(), key=lambda one: one.batch_id)


@settings(max_examples=examples(300))
@given(st.integers(0, 1 << 32), st.sampled_from([0.0, 0.01, 0.03, 0.1]), st.integers(1, 60))
def test_the_summary_is_the_same(seed: int, odd: float, count: int) -> None:
    dice = random.Random(seed)
    stream = Stream(dice, odd)
    coming = by_batch_id([stream.report() for _ in range(count)])
    check(coming, sorted(dice.randint(0, len(coming)) for _ in range(dice.randrange(4))))


def one_use(*ranges: tuple[int, int, int]) -> tuple[OffsetRange, ...]:
    return tuple(OffsetRange(partition=part, from_=first, to_exclusive=end) for part, first, end in ranges)


def test_of_a_topic_that_was_made_anew() -> None:
    chain = [one_use((1, 0, 3)), one_use((1, 3, 6)), one_use((1, 6, 9)), one_use((1, 9, 12))]
    check_chain(chain, ["one", "one", "other", "other"])


# First: a partition that was read later comes before the others; all are as far as each other.
# Second: one of two that are as far as each other is no longer read.
@pytest.mark.parametrize(
    "chain",
    [
        [
            one_use((5, 0, 3)),
            one_use((3, 0, 3), (5, 3, 6)),
            one_use((3, 3, 6), (5, 6, 9)),
            one_use((3, 6, 9), (5, 9, 9)),
        ],
        [one_use((1, 0, 3), (2, 0, 3)), one_use((1, 3, 6), (2, 3, 6)), one_use((1, 6, 9)), one_use((1, 9, 12))],
    ],
)
def test_partitions_that_come_and_go(chain: list[tuple[OffsetRange, ...]]) -> None:
    check_chain(chain, [None] * len(chain))


def check_chain(chain: list[tuple[OffsetRange, ...]], topic_ids: Sequence[str | None]) -> None:
    """Each micro-batch in a transaction of its own."""
    events = []
    for number, (ranges, topic_id) in enumerate(zip(chain, topic_ids, strict=True)):
        at = START + timedelta(seconds=number)
        position = Position(kafka=KafkaRanges(topic="t", ranges=ranges, topic_id=topic_id))
        use = DatasetUse(dataset=DatasetRef("kafka://b", "t"), position=position, certainty=Certainty.EXACT)
        body = IntervalEvent(query_id="q", entries=(IntervalEntry(batch_id=number, inputs=(use,)),))
        events.append(
            lineage_event(body, job=JobRef("n", "j"), run=RunRef("r"), producer="p", event_time=at, tenant="t")
        )
    check(by_batch_id(events), range(1, len(chain)))
