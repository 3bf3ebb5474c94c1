"""fold is a join: permutation, repetition, splits and interleavings of a set of events change nothing."""

from __future__ import annotations

import functools
import random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater_graph.derive import run_links
from headwater_graph.dump_lines import relationship_key
from headwater_graph.facts.nodes import Evidence, Link
from headwater_graph.fold import GraphDelta, fold, reject
from headwater_graph.oracle import oracle
from headwater_schemas import identity
from headwater_schemas.events import LineageEvent
from support.event_strategies import events
from support.examples import examples
from support.graph.colliding import Pools, colliding_events

POOLS = st.builds(
    Pools,
    tenants=st.integers(1, 2),
    jobs=st.integers(1, 3),
    datasets=st.integers(1, 4),
    runs=st.integers(1, 4),
    queries=st.integers(1, 2),
    batches=st.integers(1, 6),
    times=st.integers(1, 6),
    columns=st.integers(1, 4),
    plans=st.integers(1, 3),
    days=st.integers(1, 3),
    retentions=st.integers(0, 3),
    declarations=st.sampled_from([0, 0, 8]),
    incidents=st.sampled_from([0, 0, 8]),
)


@st.composite
def colliding(draw: st.DrawFn) -> list[LineageEvent]:
    seed = draw(st.integers(0, 1 << 32))
    return colliding_events(random.Random(seed), draw(st.integers(1, 25)), draw(POOLS))


@settings(max_examples=examples(150))
@given(colliding(), st.randoms(use_true_random=False))
def test_permutation_and_repetition(reported: list[LineageEvent], dice: random.Random) -> None:
    once = fold(reported)
    again = [*reported, *dice.choices(reported, k=5)]
    dice.shuffle(again)
    assert fold(again) == once


@settings(max_examples=examples(150))
@given(colliding(), st.randoms(use_true_random=False))
def test_batches_of_two_consumers(reported: list[LineageEvent], dice: random.Random) -> None:
    once = fold(reported)
    deltas = []
    for _consumer in range(2):
        mine = [event for event in reported if dice.random() < 0.7]
        dice.shuffle(mine)
        while mine:
            size = dice.randint(1, 6)
            deltas.append(fold(mine[:size]))
            mine = mine[size:]
    deltas.append(fold(reported[: len(reported) // 2]))
    deltas.append(fold(reported[len(reported) // 2 :]))
    dice.shuffle(deltas)
    assert functools.reduce(GraphDelta.join, deltas, GraphDelta()) == once


@settings(max_examples=examples(100))
@given(colliding(), colliding(), colliding())
def test_the_laws_of_a_join(a: list[LineageEvent], b: list[LineageEvent], c: list[LineageEvent]) -> None:
    x, y, z = fold(a), fold(b), fold(c)
    assert x.join(y) == y.join(x)
    assert x.join(y).join(z) == x.join(y.join(z))
    assert x.join(x) == x
    assert fold([*a, *b]) == x.join(y)


@settings(max_examples=50)
@given(colliding(), colliding())
def test_join_changes_neither_side(a: list[LineageEvent], b: list[LineageEvent]) -> None:
    x, y = fold(a), fold(b)
    joined = x.join(y)
    joined.join(fold(b))
    assert (x, y) == (fold(a), fold(b))


@settings(max_examples=examples(150))
@given(colliding(), colliding())
def test_what_follows_of_runs_only_grows(a: list[LineageEvent], b: list[LineageEvent]) -> None:
    """The writer creates and widens READS, WRITES and FEEDS; it never deletes what it observed.

    What is possible becomes observed or excluded, and what is excluded becomes observed; none of it is forgotten.
    """
    x, y = fold(a), fold(b)
    of_both = _run_links(x.join(y))
    for link in _run_links(x) | _run_links(y):
        better = _BETTER[link.evidence]
        assert any(link._replace(evidence=evidence) in of_both for evidence in better)


_BETTER = {
    Evidence.OBSERVED: (Evidence.OBSERVED,),
    Evidence.EXCLUDED: (Evidence.EXCLUDED, Evidence.OBSERVED),
    Evidence.POSSIBLE: tuple(Evidence),
}


def _run_links(delta: GraphDelta) -> set[Link]:
    return {link for run in delta.runs.values() for link in run_links(run.jobs, run.uses)}


@settings(max_examples=examples(100))
@given(colliding())
def test_the_dump_is_sorted_and_names_each_thing_once(reported: list[LineageEvent]) -> None:
    keys = [msgspec.json.decode(line)["key"] for line in oracle(fold(reported))]
    assert keys == sorted(set(keys))


@settings(max_examples=examples(100))
@given(colliding())
def test_every_relationship_joins_nodes_that_are_there(reported: list[LineageEvent]) -> None:
    documents = [msgspec.json.decode(line) for line in oracle(fold(reported))]
    nodes = {document["key"] for document in documents if "labels" in document}
    for document in documents:
        if "type" in document:
            assert {document["start"], document["end"]} <= nodes, document
            own = document["properties"].get("key")
            assert document["key"] == relationship_key(document["type"], document["start"], document["end"], own)


@settings(max_examples=examples(300))
@given(events())
def test_what_reject_lets_through_can_be_folded(event: LineageEvent) -> None:
    event = msgspec.structs.replace(event, event_id=_id(event))
    if reject(event) is None:
        for line in oracle(fold([event])):
            line.encode()


def _id(event: LineageEvent) -> str:
    try:
        return identity.event_id(event)
    except ValueError:
        return event.event_id
