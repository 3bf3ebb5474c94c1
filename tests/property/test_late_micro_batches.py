"""A segment with micro-batches that came a little late is the one that all of them make."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.fold import fold
from headwater_graph.segments.segment import Place, Stored
from headwater_graph.segments.slots import DatasetName, take_apart
from headwater_graph.segments.summary import StoredSummary, Summary, summarize
from headwater_graph.write.segments import Incoming, put_in
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    Provenance,
    QualityResult,
    RunRef,
)
from headwater_schemas.events.build import lineage_event
from support.examples import examples

START = datetime(2026, 1, 1, tzinfo=UTC)


def report(batch_id: int, dice: random.Random, odd: float) -> LineageEvent:
    """A micro-batch of a chain; by chance it doesn't fit into it, or has what others haven't."""

    def odds() -> bool:
        return dice.random() < odd

    def use(name: str) -> DatasetUse:
        partitions = range(3) if not odds() else dice.sample(range(5), 2)
        ranges = tuple(
            OffsetRange(partition=p, from_=10 * batch_id + (7 if odds() else 0), to_exclusive=10 * batch_id + 10)
            for p in sorted(partitions)
        )
        position = None if odds() else Position(kafka=KafkaRanges(topic=name, ranges=ranges))
        return DatasetUse(dataset=DatasetRef("kafka://b", name), position=position, certainty=Certainty.EXACT)

    at = START + timedelta(seconds=batch_id)
    entry = IntervalEntry(
        batch_id=batch_id,
        processing_time=None if odds() else at + timedelta(seconds=5 * odds()),
        inputs=(use("in"),),
        outputs=(use("out"),) if not odds() else (),
        rows_in=5,
        rows_dropped_late=3 if odds() else 0,
        quality=(QualityResult(assertion="a", passed=odds()),) if odds() else (),
    )
    body = IntervalEvent(
        query_id="q", entries=(entry,), provenance=Provenance.RECONCILED if odds() else Provenance.OBSERVED
    )
    run = RunRef("r2" if odds() else "r1")
    return lineage_event(
        body, job=JobRef("n", "j"), run=run, producer="p", event_time=at + timedelta(seconds=odds()), tenant="t"
    )


def intervals_of(delta: GraphDelta) -> dict[int, IntervalFacts]:
    return {one.batch_id: one for one in sorted(delta.intervals.values(), key=lambda one: one.batch_id)}


def shown(summary: Summary) -> dict[str, object]:
    """Stored properties of a summary."""
    found: dict[str, object] = dict(summary.properties("query"))
    found["runs"] = summary.runs
    for use, range_ in summary.ranges.items():
        for name, value in range_.properties().items():
            found[f"{use} {name}"] = value
    return found


def put_late(seed: int, odd: float) -> bool:
    """Put late micro-batches in and check them against all taken together; False where there were none."""
    dice = random.Random(seed)
    first, count = dice.randrange(70), dice.randint(2, 24)
    events = [report(first + number, dice, odd) for number in range(count) if dice.random() < 0.95]
    if not events:
        return False
    late = [event for event in events if dice.random() < 0.15]
    there = [event for event in events if event not in late] or events[:1]
    if dice.random() < 0.5:
        late.append(dice.choice(there))
    if dice.random() < 0.3:
        late.append(report(first + dice.randrange(count), dice, odd + 0.05))
    if not late:
        return False
    before, more, everything = fold(there), fold(late), fold([*there, *late])
    names = {
        key: DatasetName(str(of.identity["namespace"]), str(of.identity["name"]))
        for key, of in everything.datasets.items()
    }
    expected, stored, incoming = (intervals_of(delta) for delta in (everything, before, more))
    place = Place("t", "q", next(iter(expected.values())).query, 0)
    slots = {batch_id: take_apart(place.owner, batch_id, one.variants, names) for batch_id, one in stored.items()}
    blocks = Stored()
    blocks.appended(slots)
    summary, _ = summarize(place.tenant, stored, None)
    node = {name: value for name, value in summary.properties("query").items() if value is not None}
    uses = {use: range_.properties() for use, range_ in summary.ranges.items()}
    coming = {batch_id: take_apart(place.owner, batch_id, one.variants, names) for batch_id, one in incoming.items()}
    made = put_in(Incoming(place, incoming, coming), blocks, StoredSummary(node, summary.runs, uses), names)
    if made is None:
        return False
    whole, last = summarize(place.tenant, expected, None)
    assert shown(made.after) == shown(whole)
    assert made.last == last
    assert blocks.read(place, {}) == expected
    return True


@settings(max_examples=examples(300))
@given(st.integers(0, 1 << 32), st.sampled_from([0.0, 0.0, 0.02, 0.1]))
def test_what_came_late_is_in_its_place(seed: int, odd: float) -> None:
    put_late(seed, odd)


def test_of_a_plain_chain_most_is_put_in() -> None:
    assert sum(put_late(seed, 0.0) for seed in range(100)) > 20
