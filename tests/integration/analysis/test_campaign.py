"""Backfill campaigns on small graphs: what their runs restated, whose bad data they replaced, and what is left."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
import pytest

from headwater.cli import main
from headwater_analysis.declaring.files import read_file
from headwater_analysis.errors import NotFoundError, QuestionError
from headwater_analysis.incidents.campaigns import repaired, restated
from headwater_analysis.incidents.campaigns.campaign import campaign, campaigns
from headwater_analysis.incidents.campaigns.campaign_answers import Campaign, Restatement, RunsInState
from headwater_analysis.reader import Reader, reading_driver
from headwater_analysis.settings import AnalysisSettings
from headwater_graph.connection import Neo4jTarget
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    IncidentAction,
    IncidentResolution,
    IncidentScope,
    JobRef,
    LineageEvent,
    NotificationChange,
    NotifiedRecipient,
    ProcessingType,
    PublicationState,
    RunContext,
    RunEvent,
    RunEventType,
    RunRef,
)
from headwater_schemas.events.build import lineage_event
from headwater_server.asking import Graph
from headwater_server.settings import ServeSettings
from integration.analysis.test_incident_plan import DAILY, MONTHLY
from integration.analysis.test_incident_repairs import version
from integration.analysis.test_incidents import AFTER
from support.analysis.chains import (
    BEGIN,
    Stream,
    files_use,
    in_tens,
    kafka_use,
    overwriting,
    ran,
    replacing,
    write,
)
from support.analysis.incident_events import INCIDENT, LATER, act, opened
from support.api import client_of

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

COMPLETE, FAIL, START = RunEventType.COMPLETE, RunEventType.FAIL, RunEventType.START
CLEAN, MONTHS = DatasetRef("file", "/lake/clean"), DatasetRef("file", "/lake/months")
GOOD = overwriting(files_use("/lake/clean", ["dt=2025-01-01/y"]), "dt=2025-01-01")
OF_MONTHS = ([files_use("/lake/clean", ["dt=2025-01-01/y"])], [replacing(MONTHS)])
DECLARED = """\
set: s
namespace: file
consumers:
  - {name: board, reads: [/lake/clean], owners: [team:board], contact: board@example.com}
  - {name: desk, reads: [/lake/months]}
"""


def backfilled(
    job: str,
    uses: tuple[list[Any], list[Any]],
    at: int,
    state: RunEventType = COMPLETE,
    of: str = INCIDENT,
    **body: Any,
) -> LineageEvent:
    """A run of a campaign, of 5 s if it ended."""
    event = ran(job, *uses, at, context=RunContext(campaign=of), **body)
    assert event.run_event is not None
    ended = event.run_event.ended_at if state.is_terminal else None
    return msgspec.structs.replace(
        event, run_event=msgspec.structs.replace(event.run_event, type=state, ended_at=ended)
    )


def bad_day() -> list[LineageEvent]:
    """A bad run of `daily`, of whose partition `monthly` made all of /lake/months; consumers of both; an incident."""
    declared = read_file("s.yaml", DECLARED).events(1, tenant="default", event_time=BEGIN)
    return [DAILY, MONTHLY, *declared, opened(IncidentScope(run="daily 10"))]


def notified(name: str) -> LineageEvent:
    told = NotifiedRecipient(recipient=name, channel="#lake", digest="ab" * 32, change=NotificationChange.OPENED)
    return act(IncidentAction.NOTIFIED, at=LATER + timedelta(minutes=1), notified=(told,))


def writes(found: Campaign) -> dict[str, list[tuple[Restatement, int, tuple[str, ...]]]]:
    """Kind, number of runs and replaced partitions of each write, by dataset."""
    return {
        each.dataset.name: [(write.kind, write.runs, write.partitions) for write in each.writes]
        for each in found.restated
    }


def test_a_campaign_that_repairs_an_incident(clean_database: Driver, reader: Reader) -> None:
    """`daily` fails once, and replaces its bad partition the second time; `monthly` is still to run again."""
    attempts = [
        backfilled("daily", ([], [DatasetUse(dataset=CLEAN)]), AFTER, FAIL),
        backfilled("daily", ([], [GOOD]), AFTER + 10),
    ]
    write(clean_database, events=[*bad_day(), notified("board"), *attempts])
    found = campaign(reader, INCIDENT)
    assert found.states == (RunsInState(state=COMPLETE, runs=1), RunsInState(state=FAIL, runs=1))
    assert (found.runs, found.unfinished, found.failed) == (2, 0, 1)
    began = BEGIN + timedelta(seconds=AFTER)
    assert (found.began, found.ended) == (began, began + timedelta(seconds=15))
    [job] = found.jobs
    assert (job.runs, job.failed, job.unfinished, job.latest.run_id) == (2, 1, 0, f"daily {AFTER + 10}")
    assert writes(found) == {"/lake/clean": [(Restatement.PARTITIONS, 1, ("dt=2025-01-01",))]}

    [of] = found.campaign_incidents
    assert (of.incident.incident, found.followed) == (INCIDENT, 1)
    assert [(gone.part.dataset.name, gone.part.files) for gone in of.replaced] == [
        ("/lake/clean", ("file:/lake/clean/dt=2025-01-01/x",))
    ]
    assert [each.dataset.name for each in of.bad] == ["/lake/months"]
    assert [(step.kind, step.job.name if step.job else "") for step in of.left] == [("RERUN", "monthly")]
    [consumer] = found.consumers
    assert (consumer.consumer.name, consumer.consumer.contact) == ("board", "board@example.com")
    assert [(each.incident, each.sent.recipient, each.sent.channel) for each in consumer.notified] == [
        (INCIDENT, "board", "#lake")
    ]
    # Which part of /lake/months is bad isn't reported.
    assert found.unknown == (f"the reach of {INCIDENT} (the extent in 1 dataset)",)

    write(clean_database, events=[backfilled("monthly", OF_MONTHS, AFTER + 20)])
    found = campaign(reader, INCIDENT)
    [of] = found.campaign_incidents
    assert (of.bad, of.left, of.complete, found.unknown) == ((), (), True, ())
    assert {gone.part.dataset.name for gone in of.replaced} == {"/lake/clean", "/lake/months"}
    assert writes(found)["/lake/months"] == [(Restatement.REPLACED, 1, ())]
    assert [(each.consumer.name, len(each.notified)) for each in found.consumers] == [("board", 1), ("desk", 0)]
    # Resolved incidents count, too, if they were open when the campaign began.
    resolved = act(
        IncidentAction.RESOLVED,
        at=LATER + timedelta(hours=1),
        resolution=IncidentResolution.REPAIRED,
        reason="Done.",
    )
    write(clean_database, events=[resolved])
    [of] = campaign(reader, INCIDENT).campaign_incidents
    assert (len(of.replaced), of.incident.resolution, of.left) == (2, IncidentResolution.REPAIRED, ())


def test_runs_of_another_campaign_count_for_theirs_alone(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, events=[*bad_day(), backfilled("daily", ([], [GOOD]), AFTER, of="other")])
    write(clean_database, events=[backfilled("x", ([], []), AFTER, of="unrelated")])
    [of] = campaign(reader, "other").campaign_incidents
    assert len(of.replaced) == 1
    unrelated = campaign(reader, "unrelated")
    assert (unrelated.campaign_incidents, unrelated.followed, unrelated.restated, unrelated.unknown) == ((), 1, (), ())


def test_the_incident_with_the_id_of_the_campaign_is_always_there(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, events=[*bad_day(), backfilled("x", ([], []), AFTER)])
    [of] = campaign(reader, INCIDENT).campaign_incidents
    assert (of.replaced, [step.job.name for step in of.left if step.job]) == ((), ["daily", "monthly"])


def test_what_was_written(clean_database: Driver, reader: Reader) -> None:
    """One run of each kind of write; two of them append to the same topic."""
    outputs: dict[str, list[DatasetUse]] = {
        "replaced": [replacing(files_use("/lake/a", ["x"]))],
        "partitions": [overwriting(files_use("/lake/b", ["dt=1/x"]), "dt=1", "dt=2")],
        "some partitions": [overwriting(files_use("/lake/c", ["x"]))],
        "versions": [version(3, "MERGE")],
        "records": [kafka_use("t", {0: (0, 5)}, Certainty.EXACT)],
        "further records": [kafka_use("t", {0: (5, 9)}, Certainty.EXACT)],
        "files": [files_use("/lake/d", ["x"])],
        "nothing that is known": [DatasetUse(dataset=DatasetRef("file", "/lake/e"))],
    }
    runs = [backfilled(job, ([], uses), 10 * n, of="all") for n, (job, uses) in enumerate(outputs.items())]
    write(clean_database, events=runs)
    found = campaign(reader, "all")
    assert writes(found) == {
        "/lake/a": [(Restatement.REPLACED, 1, ())],
        "/lake/b": [(Restatement.PARTITIONS, 1, ("dt=1", "dt=2"))],
        "/lake/c": [(Restatement.UNKNOWN, 1, ())],
        "/lake/t": [(Restatement.VERSIONS, 1, ())],
        "t": [(Restatement.APPENDED, 2, ())],
        "/lake/d": [(Restatement.APPENDED, 1, ())],
        "/lake/e": [(Restatement.UNKNOWN, 1, ())],
    }
    [of_topic] = [each for each in found.restated if each.dataset.name == "t"]
    [part] = of_topic.writes[0].parts
    assert [(span.partition, span.start, span.end) for span in part.offsets] == [(0, 0, 9)]
    assert found.unknown == ("what was written to, or replaced in, 2 datasets",)


@pytest.mark.parametrize(
    ("title", "body", "is_written"),
    [
        ("files", {}, True),
        ("files of which none was published", {"publication": PublicationState.UNPUBLISHED}, False),
        ("no position", {"outputs": (DatasetUse(dataset=CLEAN),)}, False),
        (
            "no position, but a publication",
            {"outputs": (DatasetUse(dataset=CLEAN),), "publication": PublicationState.PARTIAL},
            True,
        ),
    ],
)
@pytest.mark.parametrize("state", [FAIL, RunEventType.ABORT])
def test_a_run_that_failed(
    clean_database: Driver,
    reader: Reader,
    state: RunEventType,
    title: str,
    body: dict[str, Any],
    *,
    is_written: bool,
) -> None:
    event = backfilled("job", ([], [files_use("/lake/clean", ["x"])]), 10, state, of="c")
    assert event.run_event is not None
    failed = msgspec.structs.replace(event, run_event=msgspec.structs.replace(event.run_event, **body))
    write(clean_database, events=[failed])
    assert bool(campaign(reader, "c").restated) is is_written, title


def test_a_run_without_an_end(clean_database: Driver, reader: Reader) -> None:
    """Its writes aren't known yet, so the answer isn't that there are none."""
    write(clean_database, events=[backfilled("job", ([], [DatasetUse(dataset=CLEAN)]), 10, START, of="c")])
    found = campaign(reader, "c")
    assert (found.unfinished, found.failed, found.ended, found.restated) == (1, 0, None, ())
    assert found.unknown == ("what 1 run without an end wrote",)


def of_query(stream: Stream, run: int, first: int) -> LineageEvent:
    body = RunEvent(
        type=START,
        processing_type=ProcessingType.STREAMING,
        query_id=stream.query_id,
        started_at=stream.time(first),
        context=RunContext(campaign="c"),
    )
    job, start = JobRef("jobs", stream.name), RunRef(stream.run_id(run))
    return lineage_event(body, job=job, run=start, producer="test", event_time=stream.time(first))


def test_a_streaming_run(clean_database: Driver, reader: Reader) -> None:
    """The second start of the query ran batches 5 to 9, each of which appended ten records; it may still go on."""
    stream = in_tens("first", "in", "mid")
    write(clean_database, stream, events=[of_query(stream, 1, 5)])
    found = campaign(reader, "c")
    [only] = found.restated
    [written] = only.writes
    assert (written.kind, [(span.start, span.end) for part in written.parts for span in part.offsets]) == (
        Restatement.APPENDED,
        [(50, 100)],
    )
    assert (found.unfinished, found.ended, found.unknown) == (1, None, ())


def test_a_streaming_run_that_overwrites(clean_database: Driver, reader: Reader) -> None:
    stream = in_tens("first", "in", "/lake/files")
    for entry in stream.entries:
        entry.outputs = tuple(map(replacing, entry.outputs))
    write(clean_database, stream, events=[of_query(stream, 1, 5)])
    assert writes(campaign(reader, "c")) == {"/lake/files": [(Restatement.REPLACED, 1, ())]}


def test_a_streaming_run_of_which_no_micro_batch_is_known(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, events=[of_query(in_tens("first", "in", "mid"), 1, 5)])
    assert campaign(reader, "c").unknown == ("what 1 streaming run wrote",)


def test_limits_are_named(clean_database: Driver, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [backfilled(f"job {n}", ([], [files_use(f"/lake/{n}", ["x"])]), 10 * n, of="c") for n in range(3)]
    incidents = [opened(IncidentScope(run="job 0 0"), of=f"INC-{n}") for n in range(2)]
    write(clean_database, events=[*runs, *incidents])
    monkeypatch.setattr(restated, "MOST_RUNS", 2)
    monkeypatch.setattr(repaired, "MOST_OPEN", 1)
    found = campaign(reader, "c")
    assert (found.runs, [each.dataset.name for each in found.restated], found.followed) == (
        3,
        ["/lake/1", "/lake/2"],
        1,
    )
    assert found.unknown == (
        "what 1 earlier run wrote",
        "incidents beyond the latest 1 open ones and the latest 20 that were resolved since",
    )


def test_an_incident_whose_reach_is_not_known(clean_database: Driver, reader: Reader) -> None:
    scope = IncidentScope(run="nobody knows it")
    write(clean_database, events=[opened(scope), backfilled("job", ([], []), 10, of="c")])
    found = campaign(reader, "c")
    assert (found.campaign_incidents, found.followed) == ((), 1)
    assert found.unknown == ("whether it replaced bad data of 1 further incident whose reach isn't fully known",)


def test_the_list_has_the_latest_first(clean_database: Driver, reader: Reader) -> None:
    runs = [
        backfilled("a", ([], []), 10, of="early"),
        backfilled("b", ([], []), 30, FAIL, of="early"),
        backfilled("a", ([], []), 20, of="late"),
        backfilled("a", ([], []), 40, START, of="late"),
        backfilled("a", ([], []), 25, of="mid/dle x"),
        ran("none", [], [], 50),
    ]
    write(clean_database, events=runs)
    page = campaigns(reader)
    assert [(each.campaign, each.runs, each.unfinished, each.failed) for each in page.items] == [
        ("late", 2, 1, 0),
        ("early", 2, 0, 1),
        ("mid/dle x", 1, 0, 0),
    ]
    assert (page.total, page.next_cursor) == (3, None)
    late = page.items[0]
    assert (late.began, late.latest) == (BEGIN + timedelta(seconds=20), BEGIN + timedelta(seconds=40))

    first = campaigns(reader, limit=2)
    second = campaigns(reader, limit=2, cursor=first.next_cursor)
    assert ((*first.items, *second.items), second.next_cursor) == (page.items, None)
    with pytest.raises(QuestionError):
        campaigns(reader, limit=0)


def test_a_campaign_that_is_not_there(clean_database: Driver, reader: Reader) -> None:
    write(clean_database, events=[backfilled("a", ([], []), 10, of="early")])
    with pytest.raises(NotFoundError, match="No run has the campaign id 'earl'") as caught:
        campaign(reader, "earl")
    assert caught.value.nearest == ("early",)


def test_the_command_and_the_route(
    clean_database: Driver,
    target: Neo4jTarget,
    settings_of_stack: None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    attempts = [
        backfilled("daily", ([], [DatasetUse(dataset=CLEAN)]), AFTER, FAIL),
        backfilled("daily", ([], [GOOD]), AFTER + 10),
        backfilled("monthly", OF_MONTHS, AFTER + 20, START),
        backfilled("other", ([], []), AFTER - 10, of="back/fill 7"),
    ]
    write(clean_database, events=[*bad_day(), notified("board"), *attempts])
    graph = Graph(reading_driver(target), target, AnalysisSettings(), ServeSettings(port=0))

    def printed(*arguments: str, status: int = 0) -> str:
        capsys.readouterr()
        assert main(["campaign", *arguments]) == status
        return capsys.readouterr().out

    with client_of(graph) as client:
        for arguments, path in (((), "campaigns"), (("back/fill 7",), f"campaigns/{quote('back/fill 7', safe='')}")):
            answer = client.get(f"/api/v1/{path}").json()
            assert {**json.loads(printed(*arguments, "--json")), "as_of": ""} == {**answer, "as_of": ""}
        assert client.get("/api/v1/campaigns", params={"limit": 1}).json()["items"][0]["campaign"] == INCIDENT
        assert client.get("/api/v1/campaigns/none").status_code == 404
    assert json.loads(printed("none", "--json", status=3))["error"]["kind"] == "not_found"
    assert json.loads(printed(INCIDENT, "--cursor", "x", "--json", status=2))["error"]["kind"] == "bad_input"

    monkeypatch.setenv("COLUMNS", "200")
    lines = [line.rstrip() for line in printed(INCIDENT).splitlines()]
    # Every number has what isn't known in its line.
    numbers = [line for line in lines if line.startswith(("Jobs", "Datasets", "Incidents", "Consumers"))]
    assert len(numbers) == 4
    assert all("; not known: what 1 run without an end wrote" in line for line in numbers)
    assert "      RERUN  Run monthly again: 1 run" in lines
    assert [line.split(" (")[0] for line in lines if "notified" in line][-1] == f"board: notified of {INCIDENT}"
    assert any(line.startswith(INCIDENT) for line in printed().splitlines())
