"""A graph of events in a real database, written as the materializer does."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_schemas.events import LineageEvent
from support.graph.emptying import delete_nodes, held

if TYPE_CHECKING:
    from neo4j import Driver


def store(driver: Driver, events: Iterable[LineageEvent], *, at_once: int | None = None) -> GraphWriter:
    """Write these events into what is there, all in one transaction or `at_once` in each; the writer, for more."""
    held.clear()
    writer = GraphWriter(driver, "neo4j")
    writer.ensure_schema()
    left = list(events)
    size = at_once or max(1, len(left))
    for begin in range(0, len(left), size):
        writer.apply(fold(left[begin : begin + size]))
    return writer


def write_in_batches(writer: GraphWriter, events: Sequence[LineageEvent], dice: random.Random) -> None:
    """Write events in transactions of any size."""
    done = 0
    while done < len(events):
        size = dice.choice([1, 1, 2, 5, 20, 60])
        writer.apply(fold(events[done : done + size]))
        done += size


def write_by_two(writer: GraphWriter, events: Sequence[LineageEvent], seed: int) -> None:
    """Write events by two writers at once, in another order each; some by both."""

    def consume(number: int) -> None:
        mine = random.Random(seed * 10 + number)
        share = [event for at, event in enumerate(events) if at % 2 == number or mine.random() < 0.3]
        mine.shuffle(share)
        write_in_batches(writer, share, mine)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(consume, range(2)))


def hold(driver: Driver, name: str, events: Iterable[LineageEvent], *, at_once: int | None = None) -> Driver:
    """Have the graph of these events alone in the database, for tests that only read it.

    It is written anew unless it is there already and nothing was written or deleted since. One name stands for the same
    events, written in the same way, each time.
    """
    if held.get(name) != _numbers(driver):
        delete_nodes(driver)
        store(driver, events, at_once=at_once)
        held[name] = _numbers(driver)
    return driver


def _numbers(driver: Driver) -> tuple[int, ...]:
    """Numbers of nodes, of those that a second write has locked, and of relationships."""
    text = "MATCH (n) WITH count(n) AS nodes, count(n._l) AS locked MATCH ()-[r]->() RETURN nodes, locked, count(r)"
    return tuple(number for row in driver.execute_query(text).records for number in row)
