"""Two transactions that overlap, for every statement: the second one waits where it has to, and nothing is lost.

Each golden is cut in two in every way; one transaction writes its part and stays open while another writes the other
part, until Neo4j says that it is blocked (or it is through); then the first commits. `test_every_statement_was_raced`
keeps this honest: a statement that no golden reaches is one nobody raced.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from neo4j.exceptions import TransientError

from headwater_consumers.graph.dump import dump
from headwater_consumers.graph.oracle import oracle
from headwater_consumers.graph.statements import names
from headwater_consumers.materializer.fold import GraphDelta, fold
from headwater_consumers.materializer.write import transaction
from headwater_consumers.materializer.write.links import OBSERVED
from headwater_consumers.materializer.write.retention import move_some, retire
from headwater_consumers.materializer.write.writer import write
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
from support.graph.cases import Case, load_cases
from support.graph.colliding import Pools, colliding_events

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

CASES = load_cases()
RETAINED = [case for case in CASES if any(event.kind == "RETENTION" for event in case.events)]
STREAMS = [case for case in CASES if any(event.kind == "INTERVAL" for event in case.events)]
TINY = Pools(tenants=1, jobs=2, datasets=2, runs=2, queries=1, batches=3, times=4, columns=2, plans=2)
NOT_RACED = {
    "graph_version": "MERGE of one node under a constraint; two at once in test_schema",
    "await_indexes": "writes nothing",
}
# Statements of several parts, by the parameters that make each part do something.
PARTS = {("links", part) for part in OBSERVED}
PARTS |= {("declares", part) for part in ("datasets", "jobs", "consumers", "columns")}
PARTS |= {("plan_edges", part) for part in ("derives", "influences", "generates")}
_raced: set[str] = set()
_raced_parameters: set[tuple[str, str]] = set()


@pytest.fixture(autouse=True)
def _remember_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    run = transaction.WriteTransaction._run

    def remembering(self: transaction.WriteTransaction, name: str, parameters: dict[str, Any]) -> Any:
        _raced.add(name)
        _raced_parameters.update((name, parameter) for parameter, value in parameters.items() if value)
        return run(self, name, parameters)

    monkeypatch.setattr(transaction.WriteTransaction, "_run", remembering)


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
    thread.join(timeout=60)
    assert done.is_set()
    assert not failures, failures


def wait_until_blocked(driver: Driver, done: threading.Event) -> None:
    deadline = time.monotonic() + 30
    with driver.session() as session:
        while not done.is_set():
            assert time.monotonic() < deadline, "the second transaction neither waits nor ends"
            rows = session.run("SHOW TRANSACTIONS YIELD metaData, status WHERE metaData.race = 'second' RETURN status")
            if any(row["status"].startswith("Blocked") for row in rows):
                return
            done.wait(0.002)


def empty(driver: Driver) -> None:
    with driver.session() as session:
        session.run("MATCH (n) WHERE NOT n:HeadwaterGraph DETACH DELETE n").consume()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path.stem)
def test_every_cut_of_a_golden(graph: Driver, case: Case) -> None:
    race_every_cut(graph, case)


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case.path.stem)
def test_every_cut_of_a_stream_over_several_segments(graph: Driver, case: Case) -> None:
    race_every_cut(graph, case)


def race_every_cut(graph: Driver, case: Case) -> None:
    expected = list(oracle(fold(case.events), internal=True))
    for cut in range(1, len(case.events) + 1):
        parts = fold(case.events[:cut]), fold(case.events[cut - 1 :])
        for first, second in (parts, parts[::-1]):
            empty(graph)
            race(graph, first, second)
            assert list(dump(graph, internal=True)) == expected


@pytest.mark.timeout(300)
@pytest.mark.parametrize("case", RETAINED, ids=lambda case: case.path.stem)
def test_every_cut_of_a_golden_with_what_is_old_being_moved(graph: Driver, case: Case) -> None:
    delta = fold(case.events)
    expected = list(oracle(delta, internal=True))

    def move(tx: Any) -> None:
        for query in sorted(delta.queries):
            move_some(tx, query)

    for cut in range(1, len(case.events) + 1):
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
@pytest.mark.parametrize("seed", range(12))
def test_onto_a_graph_that_is_there(graph: Driver, seed: int) -> None:
    race_onto_a_graph(graph, seed)


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("small_segments")
@pytest.mark.parametrize("seed", range(12, 24))
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


@pytest.mark.timeout(300)
def test_a_schema_that_is_reported_earlier_and_later(graph: Driver) -> None:
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


@pytest.mark.timeout(300)
def test_a_job_that_declares_fewer_datasets(graph: Driver) -> None:
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


def test_every_statement_was_raced() -> None:
    if not _raced:
        pytest.skip("run the whole module")
    assert set(names("write")) - _raced == set(NOT_RACED)
    assert PARTS - _raced_parameters == set()
