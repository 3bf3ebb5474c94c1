"""Every question marks the datasets of its answer that open incidents reached."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest

from headwater_analysis.deletion import DeletionQuestion, may_delete
from headwater_analysis.drawing import draw
from headwater_analysis.impact import ChangeType, ImpactChange, analyze
from headwater_analysis.incidents.answers import IncidentMark
from headwater_analysis.incidents.marks import MarkingReader
from headwater_analysis.known.by_name import known
from headwater_analysis.lineage import ALL_HOPS, LineageDirection, LineageQuestion, lineage
from headwater_analysis.reader import Reader
from headwater_analysis.runs import Role, uses
from headwater_analysis.search import search
from headwater_analysis.trace import Offsets, trace
from headwater_graph.connection import Neo4jTarget
from headwater_schemas.events import (
    Certainty,
    DatasetEvent,
    DatasetRef,
    IncidentAction,
    IncidentResolution,
    IncidentScope,
    IncidentSeverity,
    LineageEvent,
    ReachedDataset,
    ReachedPart,
    Symlink,
)
from headwater_schemas.events.build import lineage_event
from support.analysis import incident_events as events
from support.analysis.chains import BEGIN, Entry, Stream, kafka_use, ran, topic, write
from support.analysis.incident_events import INCIDENT, act

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

Graph = Callable[..., None]
"""Writes further events into the graph."""
REPORT = DatasetRef("file", "/lake/report")
EXACT = Certainty.EXACT


def opened(*scope: IncidentScope, incident: str = INCIDENT, severity: str = "SEV2") -> LineageEvent:
    return events.opened(*scope, at=BEGIN, of=incident, severity=IncidentSeverity(severity))


def recorded(second: int, *datasets: DatasetRef, cleared: bool = False) -> LineageEvent:
    reached = tuple(
        ReachedDataset(
            dataset=dataset,
            depth=0,
            certainty=EXACT,
            since=BEGIN,
            cleared=cleared,
            parts=() if cleared else (ReachedPart(certainty=EXACT),),
            part_count=int(not cleared),
            digest="0" * 64,
        )
        for dataset in sorted(datasets)
    )
    at = BEGIN + timedelta(seconds=second)
    return act(IncidentAction.REACHED, at=at, reached=reached, as_of=at, complete=True)


@pytest.fixture
def reader(quiet_driver: Driver, target: Neo4jTarget) -> MarkingReader:
    return MarkingReader(quiet_driver, target, timeout_seconds=300)


@pytest.fixture
def graph(clean_database: Driver) -> Graph:
    """Topic `in` ─ query `first` ─▶ topic `mid` ─ job `report` ─▶ /lake/report."""
    first = Stream(
        "first",
        [
            Entry(n, (kafka_use("in", {0: (n, n + 1)}, EXACT),), (kafka_use("mid", {0: (n, n + 1)}, EXACT),))
            for n in range(3)
        ],
    )
    write(clean_database, first, events=[ran("report", [topic("mid")], [REPORT], 100)])
    return partial(write, clean_database)


def marked(reader: MarkingReader) -> tuple[IncidentMark, ...]:
    """Marks of the last answer."""
    if reader.incidents is None:
        return ()
    assert reader.incidents.total == len(reader.incidents.items) > 0
    return reader.incidents.items


def marks(reader: MarkingReader) -> list[tuple[str, str]]:
    return [(one.dataset, one.incident) for one in marked(reader)]


def _lineage(asset: str, direction: LineageDirection) -> Callable[[Reader], object]:
    return lambda reader: lineage(reader, LineageQuestion(asset, direction, depth=ALL_HOPS))


MID, WHOLE = "kafka://k/mid", {"kafka://k/mid", "file:/lake/report"}
QUESTIONS: dict[str, tuple[Callable[[Reader], object], set[str]]] = {
    "show": (lambda reader: known(reader, "mid"), {MID}),
    "upstream": (_lineage("/lake/report", LineageDirection.UPSTREAM), WHOLE),
    "downstream": (_lineage("in", LineageDirection.DOWNSTREAM), WHOLE),
    "graph": (lambda reader: draw(reader, "in", depth=None), WHOLE),
    "impact": (lambda reader: analyze(reader, ImpactChange("in", type=ChangeType.DATA_INCORRECT)), WHOLE),
    "trace": (lambda reader: trace(reader, Offsets("in", 0, 1, 2)), {MID}),
    "runs": (lambda reader: uses(reader, "report 100", Role.WROTE), {"file:/lake/report"}),
    "may-delete": (lambda reader: may_delete(reader, DeletionQuestion("mid", BEGIN)), {MID}),
    "search": (lambda reader: search(reader, "report"), {"file:/lake/report"}),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_mark_what_an_incident_reached(question: str, graph: Graph, reader: MarkingReader) -> None:
    ask, names = QUESTIONS[question]
    ask(reader)
    assert not marked(reader), "nobody has opened one"
    graph(events=[opened(), recorded(1, topic("mid"), REPORT)])
    ask(reader)
    assert set(marks(reader)) == {(name, "INC-1") for name in names}
    for mark in marked(reader):
        assert (mark.severity, mark.since, mark.certainty, mark.as_of) == (
            "SEV2",
            BEGIN,
            EXACT,
            BEGIN + timedelta(seconds=1),
        )
    resolved = {"reason": "r", "resolution": IncidentResolution.REPAIRED}
    graph(events=[act(IncidentAction.RESOLVED, at=BEGIN + timedelta(seconds=2), **resolved)])
    ask(reader)
    assert not marked(reader), "it is resolved"


def test_a_scope_marks_its_dataset_until_something_is_recorded_of_it(graph: Graph, reader: MarkingReader) -> None:
    graph(events=[opened(IncidentScope(dataset=topic("mid")))])
    known(reader, "mid")
    assert marks(reader) == [("kafka://k/mid", "INC-1")]
    [mark] = marked(reader)
    assert (mark.as_of, mark.certainty) == (None, Certainty.UNKNOWN)
    graph(events=[recorded(1, topic("mid"), cleared=True)])
    known(reader, "mid")
    assert not marked(reader), "nothing bad is left in it"


def test_the_worst_severity_comes_first_and_each_incident_once(graph: Graph, reader: MarkingReader) -> None:
    scope = IncidentScope(dataset=topic("mid"))
    graph(
        events=[
            opened(scope, incident="INC-2", severity="SEV4"),
            opened(scope, incident="INC-3", severity="SEV1"),
            opened(scope, IncidentScope(dataset=topic("mid"), partition="a=1"), incident="INC-4", severity="SEV3"),
        ]
    )
    known(reader, "mid")
    assert [incident for _, incident in marks(reader)] == ["INC-3", "INC-4", "INC-2"]


def test_a_dataset_is_marked_under_all_its_names(graph: Graph, reader: MarkingReader) -> None:
    named = DatasetEvent(dataset=REPORT, symlinks=(Symlink("db", "db.report", "TABLE"),))
    graph(
        events=[
            lineage_event(named, producer="test", event_time=BEGIN),
            opened(IncidentScope(dataset=DatasetRef("db", "db.report"))),
        ]
    )
    known(reader, "/lake/report")
    assert [incident for _, incident in marks(reader)] == ["INC-1"]


def test_answers_without_datasets_have_no_marks(graph: Graph, reader: MarkingReader) -> None:
    graph(events=[opened(IncidentScope(dataset=topic("mid")))])
    assert search(reader, "first").total == 1, "the job"
    assert not marked(reader)
