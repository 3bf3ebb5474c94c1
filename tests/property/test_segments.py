"""Segments give back the micro-batches that were put into them, whichever way and in whatever order."""

from __future__ import annotations

import random
from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from headwater_consumers.facts.delta import GraphDelta
from headwater_consumers.facts.nodes import IntervalFacts
from headwater_consumers.graph.segments import blocks
from headwater_consumers.graph.segments.segment import PLACES, Place, Stored, at, summarize
from headwater_consumers.graph.segments.slots import Names, Owner, put_together, take_apart
from headwater_consumers.materializer.fold import fold
from headwater_schemas.events import LineageEvent
from support.event_strategies import interval_events
from support.graph.colliding import Pools, colliding_events

POOLS = Pools(tenants=1, jobs=2, datasets=3, runs=3, queries=1, batches=80, times=6, columns=1, plans=2)


def names_of(delta: GraphDelta) -> dict[str, Names]:
    return {
        key: Names(str(facts.identity["namespace"]), str(facts.identity["name"]))
        for key, facts in delta.datasets.items()
    }


def owner_of(interval: IntervalFacts) -> Owner:
    return Owner(str(interval.identity["tenant"]), str(interval.identity["query_id"]))


@settings(max_examples=300)
@given(interval_events())
def test_any_micro_batch_is_the_same_again(event: LineageEvent) -> None:
    delta = fold([event])
    names = names_of(delta)
    for interval in delta.intervals.values():
        slot = take_apart(owner_of(interval), interval.batch_id, interval.variants, names)
        known: dict[str, Names] = {}
        assert put_together(owner_of(interval), interval.batch_id, slot, known) == interval.variants
        assert known.items() <= names.items()
        block = blocks.open_block({5: slot})
        assert blocks.read_open(block) == {5: slot}
        assert blocks.read_closed(blocks.close(block)) == {5: slot}


@settings(max_examples=100)
@given(st.integers(0, 1 << 32), st.integers(1, 120))
def test_blocks_grown_and_made_at_once_are_the_same(seed: int, count: int) -> None:
    delta = fold([event for event in colliding_events(random.Random(seed), count, POOLS) if event.kind == "INTERVAL"])
    names = names_of(delta)
    slots = {
        interval.batch_id: take_apart(owner_of(interval), interval.batch_id, interval.variants, names)
        for interval in delta.intervals.values()
        if interval.batch_id < PLACES
    }
    if not slots:
        return
    whole = blocks.open_block(slots)
    first, *rest = sorted(slots)
    grown = blocks.open_block({first: slots[first]})
    for place in rest:
        grown = blocks.append(grown, {place: slots[place]})
    assert grown == whole
    assert blocks.read_open(whole) == blocks.read_closed(blocks.close(whole)) == slots


@settings(max_examples=100)
@given(st.integers(0, 1 << 32), st.integers(1, 150), st.randoms(use_true_random=False))
def test_a_segment_filled_in_any_order_has_all_that_was_put_in(seed: int, count: int, dice: random.Random) -> None:
    told = [event for event in colliding_events(random.Random(seed), count, POOLS) if event.kind == "INTERVAL"]
    delta = fold(told)
    if not delta.intervals:
        return
    names = names_of(delta)
    expected = {facts.batch_id: facts for facts in sorted(delta.intervals.values(), key=lambda facts: facts.batch_id)}
    any_ = next(iter(expected.values()))
    place = Place(*owner_of(any_), any_.query, 0)
    assert at(max(expected)).segment == 0

    if dice.random() < 0.7:
        dice.shuffle(told)
    stored, properties = Stored(), dict[str, object]()
    while told:
        size = dice.randint(1, 9)
        put(place, stored, properties, {f.batch_id: f for f in fold(told[:size]).intervals.values()}, names)
        told = told[size:]
        assert Stored.of(properties) == stored

    assert stored.read(place, {}) == expected
    assert list(stored.read(place, {})) == list(expected)
    summary, _ = summarize(place.tenant, expected, None)
    assert summary.batches == len(expected)
    assert stored.open_at is None or stored.open_at == at(max(expected)).block


def put(
    place: Place,
    stored: Stored,
    properties: dict[str, object],
    incoming: Mapping[int, IntervalFacts],
    names: Mapping[str, Names],
) -> None:
    """As the writer does it: append what follows, else join with the blocks that are there."""
    known = stored.read(place, {})
    incoming = dict(sorted(incoming.items()))
    if not known or min(incoming) > max(known):
        slots = {b: take_apart(place.owner, b, facts.variants, names) for b, facts in incoming.items()}
        changed = stored.appended(slots)
    else:
        touched = {at(batch_id).block for batch_id in incoming}
        joined = {batch_id: facts for batch_id, facts in known.items() if at(batch_id).block in touched}
        for batch_id, facts in incoming.items():
            joined.setdefault(batch_id, place.interval(batch_id)).join(facts)
        changed = stored.rewritten(place, joined, names)
    for name, value in changed.items():
        if value is None:
            properties.pop(name, None)
        else:
            properties[name] = value
