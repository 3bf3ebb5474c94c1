"""Product and reference implementation make one graph: a difference is a fault in one of them or in docs/graph.md."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater_graph.fold import fold, reject
from headwater_graph.oracle import oracle
from headwater_schemas import identity
from headwater_schemas.events import LineageEvent, Provenance
from support.event_strategies import events
from support.examples import examples
from support.graph.cases import load_cases, load_hand_derived
from support.graph.colliding import Pools, colliding_events, ending_events
from support.graph.reference import reference_lines

pytestmark = pytest.mark.nightly
"""The goldens of tests/unit/fold and the comparison with the stored graph hold the same rules in the gate."""

POOLS = st.builds(
    Pools,
    tenants=st.integers(1, 2),
    jobs=st.integers(1, 3),
    datasets=st.integers(1, 4),
    runs=st.integers(1, 4),
    queries=st.integers(1, 2),
    batches=st.integers(1, 6),
    times=st.integers(1, 12),
    columns=st.integers(1, 4),
    plans=st.integers(1, 3),
    days=st.integers(1, 3),
    retentions=st.integers(0, 3),
    declarations=st.sampled_from([0, 0, 8]),
)
SEEDS = st.integers(0, 1 << 32)


def assert_same_graph(reported: Sequence[LineageEvent]) -> None:
    expected = [msgspec.json.decode(line) for line in reference_lines(reported)]
    found = [msgspec.json.decode(line) for line in oracle(fold(reported))]
    by_key = {document["key"]: document for document in found}
    for document in expected:
        assert by_key.get(document["key"]) == document
    assert [document["key"] for document in found] == [document["key"] for document in expected]
    assert list(oracle(fold(reported))) == reference_lines(reported)


def unambiguous(reported: Sequence[LineageEvent]) -> list[LineageEvent]:
    """Without the second of two different events with the same id and time: the document leaves open which wins."""
    found: dict[tuple[str, datetime, Provenance | None], LineageEvent] = {}
    out = []
    for event in reported:
        body = event.interval_event
        stamp = (event.event_id, event.event_time, None if body is None else body.provenance)
        if found.setdefault(stamp, event) == event:
            out.append(event)
    return out


@settings(max_examples=examples(300))
@given(SEEDS, st.integers(1, 30), POOLS)
def test_the_same_of_events_that_collide(seed: int, count: int, pools: Pools) -> None:
    assert_same_graph(unambiguous(colliding_events(random.Random(seed), count, pools)))


@settings(max_examples=examples(150))
@given(SEEDS, st.integers(1, 40))
def test_the_same_of_applications_that_are_killed(seed: int, count: int) -> None:
    assert_same_graph(unambiguous(ending_events(random.Random(seed), count)))


@settings(max_examples=examples(200))
@given(st.lists(events(), max_size=4))
def test_the_same_of_any_events(generated: list[LineageEvent]) -> None:
    reported = []
    for made in generated:
        event = msgspec.structs.replace(made, event_id=identity.event_id(made))
        if reject(event) is None:
            reported.append(event)
    assert_same_graph(unambiguous(reported))


CASES = [(case.path.stem, case.events) for case in load_cases()]
CASES += [(case.path.stem, case.events) for case in load_hand_derived()]


def test_the_same_of_the_written_cases(subtests: pytest.Subtests) -> None:
    for name, reported in CASES:
        with subtests.test(name):
            assert_same_graph(reported)
