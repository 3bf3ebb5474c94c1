"""Segments give back the micro-batches that were put into them, whichever way and in whatever order."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.fold import fold
from headwater_graph.schema import GRAPH_VERSION
from headwater_graph.segments import blocks
from headwater_graph.segments.segment import PLACES, TAIL, Place, Stored, at
from headwater_graph.segments.slots import (
    DatasetName,
    OwningQuery,
    Slot,
    VariantShape,
    processing_time_of,
    put_together,
    take_apart,
)
from headwater_graph.segments.summary import StoredSummary, Summary, summarize
from headwater_schemas.events import LineageEvent
from support.event_strategies import interval_events
from support.examples import examples
from support.graph.colliding import Pools, colliding_events

POOLS = Pools(tenants=1, jobs=2, datasets=3, runs=3, queries=1, batches=80, times=6, columns=1, plans=2)


def names_of(delta: GraphDelta) -> dict[str, DatasetName]:
    return {
        key: DatasetName(str(facts.identity["namespace"]), str(facts.identity["name"]))
        for key, facts in delta.datasets.items()
    }


def owner_of(interval: IntervalFacts) -> OwningQuery:
    return OwningQuery(str(interval.identity["tenant"]), str(interval.identity["query_id"]))


@settings(max_examples=examples(200))
@given(interval_events())
def test_any_micro_batch_is_the_same_again(event: LineageEvent) -> None:
    delta = fold([event])
    names = names_of(delta)
    for interval in delta.intervals.values():
        slot = take_apart(owner_of(interval), interval.batch_id, interval.variants, names)
        known: dict[str, DatasetName] = {}
        assert put_together(owner_of(interval), interval.batch_id, slot, known) == interval.variants
        assert known.items() <= names.items()
        block = blocks.open_block({5: slot})
        assert blocks.read_open(block) == {5: slot}
        assert blocks.read_closed(blocks.close(block)) == {5: slot}


@settings(max_examples=examples(100))
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
    closed = blocks.close(whole)
    assert blocks.read_open(whole) == blocks.read_closed(closed) == slots


STORED = bytes.fromhex(
    "789c3d8cbb0ac23014406f2b2a38383b39b94ad1d14950477510e752d2562ed2a62401d7fa09c9b5e21ab03e26ff44077fc882e299ce"
    "70388536fa6099a1abe03be9630a16e99109ce222931ddf80a9308acd2749b2c17abf57c3685ca332e51214fc19852f10c9995e61c0b"
    "9eb8dad8a16574df06f13618791ebb7011464296310aa9089c1a01802e28745c7a41a3d5eb74c7f084d3317f3a833e10d45b04cd36bd"
    "73f85275f9defd6dfef201ce5b4594"
)


def test_a_block_that_this_version_of_the_graph_stored_is_read() -> None:
    """A change of the format that can't read it raises GRAPH_VERSION."""
    position = (("topic", "s"), ("from", 2))
    registers = (("rows_in", 0, "i"), ("processing_time", 0, "t"))
    shapes = (VariantShape("c", registers, (("CONSUMED", 0, (("position", 0, position),)),), (("2", "c"),)),)
    begin = 1_700_000_000_000_000
    slots = {
        place: Slot(
            shapes,
            [100 + place, begin + place * 10**7, 5 * place, 7 * place, place - (1 << 63)],
            ["kafka://c", "orders", "orders" if place else "first"],
        )
        for place in (0, 1, 3)
    }
    assert GRAPH_VERSION == 1
    assert blocks.read_closed(STORED) == slots == blocks.read_closed(blocks.close(blocks.open_block(slots)))
    assert processing_time_of(slots[1]) == datetime.fromtimestamp(begin / 10**6 + 10, UTC)


def test_a_block_that_is_not_whole_is_not_read(subtests: pytest.Subtests) -> None:
    for cut in (1, 2, 7, 20):
        with subtests.test(cut=cut):
            block = blocks.close(blocks.open_block({0: Slot((), [], [])}))
            assert blocks.read_closed(block) == {0: Slot((), [], [])}
            with pytest.raises(blocks.DAMAGE):
                blocks.read_closed(block[:-cut])


@settings(max_examples=examples(60))
@given(st.integers(0, 1 << 32), st.integers(1, 150), st.randoms(use_true_random=False))
def test_a_segment_filled_in_any_order_has_all_that_was_put_in(seed: int, count: int, dice: random.Random) -> None:
    reports = [event for event in colliding_events(random.Random(seed), count, POOLS) if event.kind == "INTERVAL"]
    delta = fold(reports)
    if not delta.intervals:
        return
    names = names_of(delta)
    expected = {facts.batch_id: facts for facts in sorted(delta.intervals.values(), key=lambda facts: facts.batch_id)}
    any_ = next(iter(expected.values()))
    place = Place(*owner_of(any_), any_.query, 0)
    assert at(max(expected)).segment == 0

    if dice.random() < 0.7:
        dice.shuffle(reports)
    stored, properties = Stored(), dict[str, object]()
    while reports:
        size = dice.randint(1, 9)
        put(place, stored, properties, {f.batch_id: f for f in fold(reports[:size]).intervals.values()}, names)
        reports = reports[size:]
        assert Stored.of(properties) == stored

    assert stored.read(place, {}) == expected
    assert list(stored.read(place, {})) == list(expected)
    summary, _ = summarize(place.tenant, expected, None)
    assert summary.batches == len(expected)
    check_lists(summary, expected)
    assert grown(place, expected, dice) == summary
    assert stored.open_at is None or stored.open_at == at(max(expected)).block


def check_lists(summary: Summary, expected: Mapping[int, IntervalFacts]) -> None:
    """Lists, unpacked as their module describes it, are the micro-batches."""
    properties = summary.properties("query")
    parts = [*map(str, range(8)), "tail"]
    ids = [batch for part in parts for batch in properties.get(f"batch_ids_{part}", [])]
    assert ids == list(expected)
    assert len(properties["batch_ids_tail"]) <= TAIL
    winners = {batch: facts.variants[facts.winner] for batch, facts in expected.items()}
    for name, register in (("durations_ms", "duration_ms"), ("rows_in", "rows_in")):
        found = [number for part in parts for number in properties.get(f"{name}_{part}", [])]
        assert found == [winner.registers.get(register, ("", -1))[1] for winner in winners.values()]
    for use, range_ in summary.ranges.items():
        stored = range_.properties()
        found_offsets: dict[int, dict[int, tuple[int, int]]] = {}
        for part in parts:
            first, before = stored.get(f"from_{part}", []), [0] * len(stored.get(f"from_{part}", []))
            for row, batch in enumerate(properties.get(f"batch_ids_{part}", []) if first else []):
                here = slice(row * len(first), (row + 1) * len(first))
                ends = stored[f"ends_{part}"][here]
                starts = before if stored[f"starts_{part}"] is None else stored[f"starts_{part}"][here]
                before = ends
                found_offsets[batch] = {
                    partition: (base + start, base + end)
                    for partition, base, start, end in zip(
                        (stored["partitions"] or [])[: len(first)], first, starts, ends, strict=True
                    )
                    if start != end
                }
        for batch, winner in winners.items():
            position: Any = winner.uses.get(use, {}).get("position", ("", {}))[1]
            pairs = zip(*(position.get(name, ()) for name in ("partitions", "from", "to_exclusive")), strict=True)
            assert found_offsets.get(batch, {}) == {
                partition: (first, last)
                for partition, first, last in pairs
                if position["position"] == "kafka" and first != last
            }


def grown(place: Place, expected: Mapping[int, IntervalFacts], dice: random.Random) -> Summary:
    """The summary as the writer makes it: some micro-batches at a time, added to what was stored of the others."""
    batches, summary, last = list(expected), Summary(), None
    while batches:
        count = dice.randint(1, 20)
        more, batches = batches[:count], batches[count:]
        for batch in more:
            last = summary.add(place.tenant, expected[batch], last)
        if dice.random() < 0.5:
            stored = {name: value for name, value in summary.properties("query").items() if value is not None}
            uses = {use: range_.properties() for use, range_ in summary.ranges.items()}
            read = Summary.of(StoredSummary(stored, summary.runs, uses))
            read.versions = summary.versions
            summary = read
    return summary


def put(
    place: Place,
    stored: Stored,
    properties: dict[str, object],
    incoming: Mapping[int, IntervalFacts],
    names: Mapping[str, DatasetName],
) -> None:
    """Put micro-batches like the writer does: append what follows, else join with the stored blocks."""
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
