"""Two transactions that overlap, for every statement: the second one waits where it has to, and nothing is lost.

A golden is cut in two; one transaction writes its part and stays open while another writes the other part, until
Neo4j says that it is blocked (or it is through); then the first commits. `test_every_statement_is_raced` does this once
for goldens of every kind, and fails where a statement is raced by none of them. The nightly run cuts all goldens in
every way.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from neo4j.exceptions import TransientError

from headwater_graph.dump import dump
from headwater_graph.fold import GraphDelta, fold, uses
from headwater_graph.oracle import oracle
from headwater_graph.statements import names
from headwater_graph.write import transaction
from headwater_graph.write.links import OBSERVED
from headwater_graph.write.retention import move_some, retire
from headwater_graph.write.writer import write
from headwater_schemas.events import (
    DatasetEvent,
    DatasetRef,
    JobEvent,
    JobRef,
    LineageEvent,
    SchemaDefinition,
    SchemaField,
    build,
)
from support.gate import first_in_gate
from support.graph.cases import EACH_KIND, Case, load_cases
from support.graph.colliding import Pools, colliding_events
from support.graph.layouts import make_segments_small
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

CASES = load_cases()
GATE = [case for case in CASES if case.path.stem in EACH_KIND]
RETAINED = [case for case in CASES if any(event.kind == "RETENTION" for event in case.events)]
STREAMS = [case for case in CASES if any(event.kind == "INTERVAL" for event in case.events)]
OVER_SEGMENTS = {"interval_late_into_what_is_full", "interval_of_reports_that_overlap", "retention_summarizes"}
"""Streams that the gate races over several segments: segments between others, reports of two, and days that go."""
TINY = Pools(tenants=1, jobs=2, datasets=2, runs=2, queries=1, batches=3, times=4, columns=2, plans=2)
NOT_RACED = {
    "graph_version": "MERGE of one node under a constraint; two at once in test_schema",
    "await_indexes": "writes nothing",
}
# Statements of several parts, by the parameters that make each part do something.
PARTS = {("links", part) for part in OBSERVED}
PARTS |= {("declares", part) for part in ("datasets", "jobs", "consumers", "columns")}
PARTS |= {("concerns", part) for part in ("datasets", "columns", "jobs", "runs", "queries", "consumers")}
PARTS |= {("plan_edges", part) for part in ("derives", "influences", "generates")}


@dataclass
class Raced:
    """Statements that a test ran, and those of their parameters that weren't empty."""

    statements: set[str] = field(default_factory=set)
    parameters: set[tuple[str, str]] = field(default_factory=set)


@pytest.fixture
def raced(monkeypatch: pytest.MonkeyPatch) -> Raced:
    found = Raced()
    run = transaction.WriteTransaction._run

    def remembering(self: transaction.WriteTransaction, name: str, parameters: dict[str, Any]) -> Any:
        found.statements.add(name)
        found.parameters.update((name, parameter) for parameter, value in parameters.items() if value)
        return run(self, name, parameters)

    monkeypatch.setattr(transaction.WriteTransaction, "_run", remembering)
    return found


def race(driver: Driver, first: GraphDelta, second: GraphDelta) -> None:
    """Write both, the second beginning before the first is committed."""
    race_steps(driver, partial(write, what=first), partial(write, what=second))


def race_steps(driver: Driver, first: Callable[[Any], object], second: Callable[[Any], object]) -> None:
    """Run both in a transaction, the second beginning before the first is committed."""
    done = threading.Event()
    failures: list[Exception] = []

    def write_second() -> None:
        try:
            with driver.session() as session:
                # A deadlock is the database's way to say "again"; the loop does the same.
                while True:
                    with session.begin_transaction(metadata={"race": "second"}) as tx:
                        try:
                            second(tx)
                            tx.commit()
                        except TransientError:
                            continue
                        return
        except Exception as error:  # noqa: BLE001 - handed to the test
            failures.append(error)
        finally:
            done.set()

    with driver.session() as session, session.begin_transaction() as tx:
        first(tx)
        thread = threading.Thread(target=write_second)
        thread.start()
        wait_until_blocked(driver, done)
        tx.commit()
    thread.join(patience(60))
    assert done.is_set()
    assert not failures, failures


def wait_until_blocked(driver: Driver, done: threading.Event) -> None:
    with driver.session() as session:

        def blocked() -> bool:
            rows = session.run("SHOW TRANSACTIONS YIELD metaData, status WHERE metaData.race = 'second' RETURN status")
            return any(row["status"].startswith("Blocked") for row in rows)

        eventually(
            lambda: done.is_set() or blocked(), 30, every=0.002, expecting="the second transaction waits or has ended"
        )


def empty(driver: Driver) -> None:
    with driver.session() as session:
        session.run("MATCH (n) WHERE NOT n:HeadwaterGraph DETACH DELETE n").consume()


@pytest.mark.timeout(600)
def test_every_statement_is_raced(subtests: pytest.Subtests, graph: Driver, raced: Raced) -> None:
    for case in GATE:
        with subtests.test(case.path.stem):
            race_cut(graph, case, one_cut(case))
    for case in RETAINED:
        with subtests.test(f"{case.path.stem}, with what is old being moved"):
            race_with_what_is_old_being_moved(graph, case, one_cut(case))
    with subtests.test("a schema that is reported earlier and later"):
        race_a_schema(graph)
    with subtests.test("a job that declares fewer datasets"):
        race_declarations_of_a_job(graph)
    with pytest.MonkeyPatch.context() as patch, subtests.test("a run with too many inputs and outputs"):
        patch.setattr(uses, "MOST_CONSUMED", 0)
        patch.setattr(uses, "MOST_PRODUCED", 0)
        case = next(case for case in CASES if case.path.stem == "outputs_possibly_made_from_inputs")
        race_cut(graph, case, one_cut(case))
    with pytest.MonkeyPatch.context() as patch:
        make_segments_small(patch)
        for case in STREAMS:
            if case.path.stem in OVER_SEGMENTS:
                with subtests.test(f"{case.path.stem}, over several segments"):
                    race_cut(graph, case, one_cut(case))
    assert set(names("write")) - raced.statements == set(NOT_RACED)
    assert PARTS - raced.parameters == set()


@pytest.mark.nightly
@pytest.mark.timeout(300)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path.stem)
def test_every_cut_of_a_golden(graph: Driver, case: Case) -> None:
    race_every_cut(graph, case)


@pytest.mark.nightly
@pytest.mark.timeout(300)
@pytest.mark.parametrize("case", RETAINED, ids=lambda case: case.path.stem)
def test_every_cut_with_what_is_old_being_moved(graph: Driver, case: Case) -> None:
    for cut in range(1, len(case.events) + 1):
        race_with_what_is_old_being_moved(graph, case, cut)


@pytest.mark.nightly
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.path.stem)
def test_every_cut_of_a_stream_over_several_segments(graph: Driver, case: Case) -> None:
    race_every_cut(graph, case)


def one_cut(case: Case) -> int:
    """Cut of the gate, in the middle but where a statement needs another; the nightly run has all."""
    return {"dataset_known_as": 3}.get(case.path.stem, (len(case.events) + 1) // 2)


def race_every_cut(graph: Driver, case: Case) -> None:
    for cut in range(1, len(case.events) + 1):
        race_cut(graph, case, cut)


def race_cut(graph: Driver, case: Case, cut: int) -> None:
    expected = list(oracle(fold(case.events), internal=True))
    parts = fold(case.events[:cut]), fold(case.events[cut - 1 :])
    for first, second in (parts, parts[::-1]):
        empty(graph)
        race(graph, first, second)
        assert list(dump(graph, internal=True)) == expected


def race_with_what_is_old_being_moved(graph: Driver, case: Case, cut: int) -> None:
    delta = fold(case.events)
    expected = list(oracle(delta, internal=True))

    def move(tx: Any) -> None:
        for query in sorted(delta.queries):
            move_some(tx, query)

    there, late = fold(case.events[:cut]), partial(write, what=fold(case.events[cut - 1 :]))
    for first, second in ((late, move), (move, late)):
        empty(graph)
        with graph.session() as session:
            session.execute_write(write, there)
        race_steps(graph, first, second)
        assert list(dump(graph, internal=True)) == expected
        retire(graph, None, lambda _moved, _left: None)
        assert list(dump(graph, internal=True)) == expected


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", first_in_gate(1, range(12)))
def test_onto_a_graph_that_is_there(graph: Driver, seed: int) -> None:
    race_onto_a_graph(graph, seed)


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("seed", first_in_gate(1, range(12, 24)))
def test_onto_segments_that_are_there(graph: Driver, seed: int) -> None:
    race_onto_a_graph(graph, seed)


def race_onto_a_graph(graph: Driver, seed: int) -> None:
    pools = replace(TINY, declarations=seed % 2 * 30)
    events = colliding_events(random.Random(seed), 24, pools)
    third = len(events) // 3
    with graph.session() as session:
        session.execute_write(write, fold(events[:third]))
    race(graph, fold(events[third : 2 * third]), fold(events[2 * third :]))
    assert list(dump(graph, internal=True)) == list(oracle(fold(events), internal=True))


def race_a_schema(graph: Driver) -> None:
    """Report a schema earlier, and later with another type."""
    empty(graph)

    def reported(day: int, type_: str) -> LineageEvent:
        body = DatasetEvent(
            dataset=DatasetRef("n", "d"), schema=SchemaDefinition((SchemaField(path="id", type=type_),))
        )
        return build.lineage_event(body, producer="test", event_time=datetime(2025, 1, day, tzinfo=UTC))

    events = [reported(3, "int"), reported(1, "int"), reported(5, "int"), reported(4, "bigint")]
    with graph.session() as session:
        session.execute_write(write, fold(events[:1]))
    race(graph, fold(events[1:2]), fold(events[2:]))
    assert list(dump(graph, internal=True)) == list(oracle(fold(events), internal=True))


def race_declarations_of_a_job(graph: Driver) -> None:
    """Declare fewer and fewer datasets."""

    def declared(day: int, inputs: str, outputs: str) -> LineageEvent:
        body = JobEvent(
            inputs=tuple(DatasetRef("n", name) for name in inputs),
            outputs=tuple(DatasetRef("n", name) for name in outputs),
        )
        time_ = datetime(2025, 1, day, tzinfo=UTC)
        return build.lineage_event(body, job=JobRef("n", "j"), producer="test", event_time=time_)

    before, fewer, last = declared(1, "abc", "xyz"), declared(2, "ab", "xy"), declared(3, "a", "x")
    expected = list(oracle(fold([before, fewer, last]), internal=True))
    for first, second in ((fewer, last), (last, fewer)):
        empty(graph)
        with graph.session() as session:
            session.execute_write(write, fold([before]))
        race(graph, fold([first]), fold([second]))
        assert list(dump(graph, internal=True)) == expected
