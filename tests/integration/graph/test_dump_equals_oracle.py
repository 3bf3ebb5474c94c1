"""The graph in a real Neo4j is byte for byte the oracle's, whatever the order of the events and however many write."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from headwater_benchmarks.workload import Mixture, Proportions
from headwater_graph.dump import dump
from headwater_graph.fold import disjoint, fold
from headwater_graph.oracle import oracle
from headwater_graph.write import GraphWriter, PartsWriter, prepare_delta
from support.gate import first_in_gate, named_in_gate
from support.graph.cases import EACH_KIND, Case, load_cases
from support.graph.colliding import Pools, colliding_events, ending_events
from support.graph.picture import picture
from support.graph.writing import write_by_two, write_in_batches

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = pytest.mark.stack

EVENTS = 150
CASES = load_cases()
STREAMS = [case for case in CASES if any(event.kind == "INTERVAL" for event in case.events)]
LAYOUTS = "8 blocks of 64", "2 blocks of 2"
MORE = {
    "chain_with_gap_and_overlap",
    "dataset_registers",
    "declaration_of_marks_and_approvals",
    "interval_observed_and_reconciled",
    "interval_of_several_inputs_and_outputs",
    "run_of_a_batch_job",
    "segment_of_several_runs",
}
"""Goldens of the gate beside those of each kind: they have the most other properties."""


@pytest.fixture(params=first_in_gate(1, reversed(LAYOUTS)), autouse=True)
def layout(request: pytest.FixtureRequest) -> None:
    """Segments as they are, and smaller ones."""
    if request.param == "2 blocks of 2":
        request.getfixturevalue("small_segments")


def name_of(case: Case) -> str:
    return case.path.stem


@pytest.mark.parametrize("layout", LAYOUTS[:1], indirect=True)
@pytest.mark.parametrize("case", named_in_gate(EACH_KIND | MORE, CASES, name_of))
def test_each_golden_event_by_event(graph: Driver, writer: GraphWriter, case: Case) -> None:
    write_event_by_event(graph, writer, case)


@pytest.mark.parametrize("layout", LAYOUTS[1:], indirect=True)
@pytest.mark.parametrize(
    "case", named_in_gate({"interval_late_into_what_is_full", "interval_of_reports_that_overlap"}, STREAMS, name_of)
)
def test_each_stream_event_by_event_into_small_segments(graph: Driver, writer: GraphWriter, case: Case) -> None:
    write_event_by_event(graph, writer, case)


def write_event_by_event(graph: Driver, writer: GraphWriter, case: Case) -> None:
    for event in reversed(case.events):
        writer.apply(fold([event]))
    assert picture(dump(graph)) == list(case.graph), case.says
    assert list(dump(graph, internal=True)) == list(oracle(fold(case.events), internal=True))


@pytest.mark.parametrize("seed", first_in_gate(1, range(4)))
def test_one_writer_any_order(graph: Driver, writer: GraphWriter, seed: int) -> None:
    dice = random.Random(seed)
    events = colliding_events(dice, EVENTS, Pools(declarations=seed % 2 * 15, incidents=8))
    expected = list(oracle(fold(events), internal=True))
    dice.shuffle(events)
    write_in_batches(writer, events, dice)
    assert list(dump(graph, internal=True)) == expected


def test_late_and_repeated_micro_batches(graph: Driver, writer: GraphWriter) -> None:
    proportions = Proportions(queries=3, jobs=2, tables=4, intervals=0.9, runs=0.08, late_by=20)
    events = list(Mixture(7, proportions).take(400))
    write_in_batches(writer, events, random.Random(7))
    assert list(dump(graph, internal=True)) == list(oracle(fold(events), internal=True))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", first_in_gate(1, range(100, 106)))
def test_two_writers_at_once(graph: Driver, writer: GraphWriter, seed: int) -> None:
    dice = random.Random(seed)
    events = colliding_events(dice, EVENTS, Pools(declarations=seed % 2 * 15, incidents=8))
    expected = list(oracle(fold(events), internal=True))

    write_by_two(writer, events, seed)
    assert list(dump(graph, internal=True)) == expected


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2))
def test_batches_in_parts(graph: Driver, writer: GraphWriter, seed: int) -> None:
    """Write like the consumer, but for the size: here a part is worth it however small it is."""
    dice = random.Random(seed)
    events = colliding_events(
        dice, 2 * EVENTS, Pools(jobs=6, datasets=12, retentions=seed % 2, declarations=seed % 2 * 15, incidents=8)
    )
    expected = list(oracle(fold(events), internal=True))
    dice.shuffle(events)
    parts_writer, sizes = PartsWriter([writer, GraphWriter(graph, "neo4j")]), set()
    while events:
        parts = disjoint(events[:20], 2, least=1)
        sizes.add(len(parts))
        parts_writer.apply([prepare_delta(fold(part)) for part in parts])
        events = events[20:]
    assert 2 in sizes
    assert list(dump(graph, internal=True)) == expected


@pytest.mark.parametrize("seed", first_in_gate(1, range(20)))
def test_ends_that_are_inferred_in_any_order(graph: Driver, writer: GraphWriter, seed: int) -> None:
    """Also after every batch, so that what was inferred is taken back and inferred otherwise on the way."""
    dice = random.Random(f"ends {seed}")
    events = ending_events(dice, 60)
    dice.shuffle(events)
    done = 0
    while done < len(events):
        size = dice.choice([1, 1, 2, 5, 20])
        writer.apply(fold(events[done : done + size]))
        done += size
        assert list(dump(graph, internal=True)) == list(oracle(fold(events[:done]), internal=True))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", first_in_gate(1, range(6)))
def test_ends_that_two_writers_infer_at_once(graph: Driver, writer: GraphWriter, seed: int) -> None:
    dice = random.Random(f"ends at once {seed}")
    events = ending_events(dice, 80)
    expected = list(oracle(fold(events), internal=True))

    write_by_two(writer, events, seed)
    assert list(dump(graph, internal=True)) == expected


def test_applying_again_changes_nothing(graph: Driver, writer: GraphWriter) -> None:
    events = colliding_events(random.Random(7), EVENTS)
    writer.apply(fold(events))
    before = list(dump(graph, internal=True))
    again = writer.apply(fold(events))
    assert {again.nodes_created, again.relationships_created, again.nodes_deleted, again.relationships_deleted} == {0}
    assert list(dump(graph, internal=True)) == before


def test_pages_do_not_show(graph: Driver, writer: GraphWriter) -> None:
    writer.apply(fold(colliding_events(random.Random(8), EVENTS)))
    assert list(dump(graph, internal=True, page_nodes=3)) == list(dump(graph, internal=True))
