"""Versions of reference data that outputs were made with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headwater.show import runs as show_runs
from headwater_analysis.known import dataset_details
from headwater_analysis.reader import Reader
from headwater_analysis.runs import run
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    DeclarationEvent,
    DeclarationSetEvent,
    FileSet,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    LineageEvent,
    Position,
    Provenance,
    RunEvent,
    RunEventType,
    RunRef,
    TableSnapshot,
)
from headwater_schemas.events.build import lineage_event
from headwater_schemas.identity import declaration_digest
from support.graph.writing import store

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

DAY = datetime(2025, 1, 1, tzinfo=UTC)
RATES, AIRPORTS, SALES = (DatasetRef("lake", name) for name in ("rates", "airports", "sales"))
REVENUE, TRAFFIC = (DatasetRef("lake", name) for name in ("revenue", "traffic"))
JOB = JobRef("f", "report")


def table(dataset: DatasetRef, version: int, **more: Any) -> DatasetUse:
    position = Position(table_snapshot=TableSnapshot(format="delta", snapshot_id=str(version)))
    return DatasetUse(dataset=dataset, position=position, certainty=Certainty.EXACT, **more)


def ran(number: int, *, state: str = "COMPLETE", **body: Any) -> LineageEvent:
    at = DAY + timedelta(hours=number)
    event = RunEvent(type=RunEventType(state), started_at=at, ended_at=at, **body)
    return lineage_event(event, job=JOB, run=RunRef(f"r{number}"), producer="test", event_time=at)


def declared(*references: DatasetRef) -> list[LineageEvent]:
    bodies: list[Any] = [DeclarationEvent(set="s", dataset=dataset, reference=True) for dataset in references]
    lists = DeclarationSetEvent(set="s", revision=1, items=tuple(sorted(declaration_digest(body) for body in bodies)))
    return [lineage_event(body, producer="test", event_time=DAY) for body in (*bodies, lists)]


def write(driver: Driver, *events: LineageEvent) -> None:
    store(driver, events)


def test_each_output_has_those_that_it_was_made_from(clean_database: Driver, reader: Reader) -> None:
    files = FileSet(count=1, bytes=10, manifest_digest="ab" * 32, paths=("/airports/2025.csv",))
    airports = DatasetUse(dataset=AIRPORTS, position=Position(files=files), certainty=Certainty.EXACT)
    outputs = (table(REVENUE, 7, inputs=(SALES, RATES)), table(TRAFFIC, 8))
    write(
        clean_database,
        *declared(RATES, AIRPORTS),
        ran(1, inputs=(table(SALES, 3), table(RATES, 41), airports), outputs=outputs),
        ran(2, inputs=(table(SALES, 4), table(RATES, 42)), outputs=(table(REVENUE, 9),)),
    )
    found = [
        (each.reference.dataset.name, each.reference.version, [output.name for output in each.outputs])
        for each in run(reader, "r1").business_versions
    ]
    assert found == [("airports", "ab" * 32, ["traffic"]), ("rates", "41", ["revenue", "traffic"])]
    assert show_runs.business_text(run(reader, "r1").business_versions) == (
        "lake/airports: 2025.csv, in traffic\nlake/rates: delta 41, in revenue, traffic"
    )
    # Of a dataset, as the latest run left it.
    [last] = dataset_details(reader, "revenue").business_versions
    assert (last.run_id, last.reference.version) == ("r2", "42")
    assert len(dataset_details(reader, "traffic").business_versions) == 2
    assert dataset_details(reader, "sales").business_versions == ()


def test_what_is_no_reference_gives_no_version(clean_database: Driver, reader: Reader) -> None:
    write(
        clean_database,
        *declared(RATES),
        # Reference data of itself, and without an output.
        ran(1, inputs=(table(RATES, 41),), outputs=(table(RATES, 42),)),
        ran(2, inputs=(table(RATES, 42),)),
        ran(3, inputs=(table(SALES, 3),), outputs=(table(REVENUE, 1),)),
        ran(4, state="FAIL", inputs=(table(RATES, 43),), outputs=(table(REVENUE, 2),)),
    )
    assert [run(reader, f"r{number}").business_versions for number in (1, 2, 3)] == [(), (), ()]
    # The run that failed isn't what the table was made by.
    assert dataset_details(reader, "revenue").business_versions == ()
    withdrawn = DeclarationSetEvent(set="s", revision=2, items=())
    write(
        clean_database,
        lineage_event(withdrawn, producer="test", event_time=DAY),
        ran(5, inputs=(table(RATES, 44),), outputs=(table(REVENUE, 3),)),
    )
    assert run(reader, "r5").business_versions == ()


@pytest.mark.nightly
def test_a_streaming_query_has_what_its_run_read_when_it_began(clean_database: Driver, reader: Reader) -> None:
    body = RunEvent(type=RunEventType.START, query_id="q", inputs=(table(RATES, 41),))
    interval = IntervalEntry(batch_id=0, processing_time=DAY, inputs=(table(SALES, 3),), outputs=(table(REVENUE, 5),))
    write(
        clean_database,
        *declared(RATES),
        lineage_event(body, job=JOB, run=RunRef("r1"), producer="test", event_time=DAY),
        lineage_event(
            IntervalEvent(query_id="q", entries=(interval,), provenance=Provenance.OBSERVED),
            job=JOB,
            run=RunRef("r1"),
            producer="test",
            event_time=DAY,
        ),
    )
    [found] = dataset_details(reader, "revenue").business_versions
    assert (found.run_id, found.reference.version, [output.name for output in found.outputs]) == (
        "r1",
        "41",
        ["revenue"],
    )
