"""Retention: the graph is the same whenever it is moved, whatever comes late, and whoever writes meanwhile."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from headwater_graph.dump import dump
from headwater_graph.fold import fold
from headwater_graph.oracle import oracle
from headwater_graph.write import GraphWriter
from headwater_graph.write.retention import Moved, retire
from headwater_schemas.events import LineageEvent
from support.gate import first_in_gate
from support.graph.colliding import Pools, colliding_events
from support.graph.writing import write_by_two

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

POOLS = Pools(tenants=1, jobs=2, queries=2, runs=3, batches=14, times=40, days=4, retentions=2)


@pytest.fixture(params=first_in_gate(1, ["2 blocks of 2", "8 blocks of 64"]), autouse=True)
def layout(request: pytest.FixtureRequest) -> None:
    """Segments as they are, and smaller ones."""
    if request.param == "2 blocks of 2":
        request.getfixturevalue("small_segments")


def lines(events: list[LineageEvent]) -> list[str]:
    return list(oracle(fold(events), internal=True))


def move(driver: Driver) -> Moved:
    return retire(driver, None, lambda _moved, _left: None)


@pytest.mark.parametrize("seed", first_in_gate(1, range(12)))
def test_any_order_and_moved_at_any_time(graph: Driver, writer: GraphWriter, seed: int) -> None:
    dice = random.Random(f"retention {seed}")
    events = colliding_events(dice, 90, POOLS)
    dice.shuffle(events)
    done = moved = 0
    while done < len(events):
        size = dice.choice([1, 2, 5, 20])
        writer.apply(fold(events[done : done + size]))
        done += size
        if dice.random() < 0.4:
            moved += move(graph).micro_batches
        if dice.random() < 0.5:
            assert list(dump(graph, internal=True)) == lines(events[:done])
    move(graph)
    assert list(dump(graph, internal=True)) == lines(events)
    assert move(graph) == Moved()
    assert move(graph).micro_batches == 0
    # Applied again, in one, whatever was moved.
    writer.apply(fold(events))
    assert list(dump(graph, internal=True)) == lines(events)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", first_in_gate(1, range(4)))
def test_two_writers_and_one_who_moves_at_once(graph: Driver, writer: GraphWriter, seed: int) -> None:
    dice = random.Random(f"retention at once {seed}")
    events = colliding_events(dice, 120, POOLS)

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write_by_two, writer, events, seed)
        while not writing.done():
            move(graph)
        writing.result()
    assert list(dump(graph, internal=True)) == lines(events)
    move(graph)
    assert list(dump(graph, internal=True)) == lines(events)
