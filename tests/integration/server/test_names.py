"""Every command and endpoint that takes a dataset takes each of its names, and answers the same."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from headwater.cli import main
from headwater_graph.fold import fold
from headwater_graph.keys import dataset_key
from headwater_graph.write import GraphWriter
from headwater_schemas.events import (
    Certainty,
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    JobRef,
    LifecycleChange,
    LineageEvent,
    Position,
    ProcessingType,
    RunEvent,
    RunEventType,
    RunRef,
    SchemaDefinition,
    SchemaField,
    Symlink,
    TableSnapshot,
    TransformationKind,
    TransformationType,
    build,
)

if TYPE_CHECKING:
    import httpx
    from neo4j import Driver

pytestmark = pytest.mark.stack

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
SOURCE, BEFORE, TABLE, SINK = (DatasetRef("file", path) for path in ("/in", "/w/before", "/w/t", "/out"))
NAMES = (
    *(
        "/w/t",
        "file:/w/t",
        "file:///w/t",
        "db.t",
        "spark_catalog.db.t",
        "my_catalog.db.t",
        "thrift://metastore:9083/db.t",
    ),
    *("/w/before", "file:/w/before"),
)
"""By path, in a catalog, with a session's name of it, with the catalog's own namespace; as it was called once."""
KEY = dataset_key("default", TABLE.namespace, TABLE.name)


def event(body: DatasetEvent, at: int) -> LineageEvent:
    return build.lineage_event(body, producer="test", event_time=BEGIN + timedelta(seconds=at))


def column_plan(job: str, source: DatasetRef, target: DatasetRef) -> LineageEvent:
    copied = ColumnEdge(
        input=0,
        input_field="c",
        output=1,
        output_field="c",
        type=TransformationType.DIRECT,
        kind=TransformationKind.COPY,
    )
    body = ColumnLineage(datasets=(source, target), edges=(copied,))
    return build.lineage_event(body, job=JobRef("default", job), producer="test", event_time=BEGIN)


def ran(job: str, source: DatasetRef, target: DatasetRef, at: int, plan: LineageEvent) -> LineageEvent:
    def use(dataset: DatasetRef) -> DatasetUse:
        if dataset in (BEFORE, TABLE):
            position = Position(table_snapshot=TableSnapshot(format="delta", snapshot_id="1"))
            return DatasetUse(dataset=dataset, position=position, certainty=Certainty.EXACT)
        return DatasetUse(dataset=dataset)

    body = RunEvent(
        type=RunEventType.COMPLETE,
        processing_type=ProcessingType.BATCH,
        inputs=(use(source),),
        outputs=(use(target),),
        plan_digest=plan.plan_event.digest if plan.plan_event else None,
        started_at=BEGIN + timedelta(seconds=at),
        ended_at=BEGIN + timedelta(seconds=at + 5),
    )
    return build.lineage_event(
        body,
        job=JobRef("default", job),
        run=RunRef(f"{job}-0"),
        producer="test",
        event_time=BEGIN + timedelta(seconds=at),
    )


@pytest.fixture
def table(clean_database: Driver) -> None:
    """A table of a Hive metastore, which was moved since it was written."""
    schema = SchemaDefinition((SchemaField(path="c", type="string"),))
    symlink = Symlink("thrift://metastore:9083", "db.t", "TABLE")
    moved = DatasetEvent(
        dataset=TABLE, lifecycle=LifecycleChange.RENAME, previous=BEFORE, symlinks=(symlink,), schema=schema
    )
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    made, taken = column_plan("make", SOURCE, BEFORE), column_plan("take", TABLE, SINK)
    events = [made, taken, ran("make", SOURCE, BEFORE, 0, made), event(moved, 10), ran("take", TABLE, SINK, 20, taken)]
    writer.apply(fold(events))
    clean_database.execute_query("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")


COMMANDS = (
    "show {}",
    "show {} --kind dataset",
    "show {}#c",
    "upstream {}",
    "downstream {}",
    "upstream {} --column c",
    "downstream {} --column c",
    "impact {} --type data_incorrect",
    "impact {} --column c --change removed",
    "runs list {}",
    "runs list {} --read",
    "runs versions {}",
    "may-delete {}",
    "gate {}",
    "incident list --dataset {}",
    "privacy {} --as PII",
    "privacy {} --column c --as PII",
    "trace --version {} 1",
    "diff --dataset {} --before 2026-01-01",
    "export contract {} --id x",
)


@pytest.mark.nightly
def test_commands(
    subtests: pytest.Subtests, table: None, settings_of_stack: None, capsys: pytest.CaptureFixture[str]
) -> None:
    def asked(command: str, name: str) -> tuple[int, Any]:
        capsys.readouterr()
        status = main([part.format(name) for part in command.split(" ")] + ["--json"])
        return status, without(json.loads(capsys.readouterr().out))

    for command in COMMANDS:
        with subtests.test(command):
            status, expected = asked(command, KEY)
            assert status in (0, 5), expected
            for name in NAMES:
                assert asked(command, name) == (status, expected), name


ENDPOINTS = (
    "/assets/{}",
    "/assets/{}/upstream",
    "/assets/{}/downstream",
    "/assets/{}/runs",
    "/assets/{}/versions",
    "/assets/{}/last-good",
    "/assets/{}/timeline",
    "/assets/{}/timeline/overview",
    "/columns/{}%23c",
    "/columns/{}/c/upstream",
    "/columns/{}/c/downstream",
    "/graph?asset={}",
    "/neighbours?asset={}&direction=UPSTREAM",
    "/impact?dataset={}&type=DATA_INCORRECT",
    "/may-delete?dataset={}",
    "/gate?dataset={}",
    "/incidents?dataset={}",
    "/privacy?dataset={}&as=PII",
    "/traces?dataset={}&version=1",
    "/diff?dataset={}&before=2026-01-01T00:00:00Z&after=2026-02-01T00:00:00Z",
)


@pytest.mark.nightly
def test_endpoints(subtests: pytest.Subtests, table: None, client: httpx.Client) -> None:
    def asked(endpoint: str, name: str) -> Any:
        answer = client.get(f"/api/v1{endpoint.format(quote(name, safe=''))}")
        return answer.status_code, without(answer.json())

    for endpoint in ENDPOINTS:
        with subtests.test(endpoint):
            status, expected = asked(endpoint, KEY)
            assert status == 200, expected
            for name in NAMES:
                assert asked(endpoint, name) == (200, expected), name


def without(document: Any) -> Any:
    """The document, without what repeats the question: the name as it was asked for, and a time before now."""
    if isinstance(document.get("change"), dict):
        document["change"].pop("dataset")
    document.pop("since", None)
    return document


def test_search_and_posted_questions(subtests: pytest.Subtests, table: None, client: httpx.Client) -> None:
    for name in NAMES:
        with subtests.test(name):
            body = {"dataset": name, "type": "DATA_INCORRECT"}
            answers = [
                client.post("/api/v1/impact/analyze", json={**body, "dataset": each}).json() for each in (name, KEY)
            ]
            assert without(answers[0]) == without(answers[1])
            found = client.get("/api/v1/search", params={"q": name}).json()["items"]
            assert "file:/w/t" in {f"{item['asset']['namespace']}:{item['asset']['name']}" for item in found}


def test_every_endpoint_that_takes_a_dataset_is_tried(client: httpx.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    taking = {
        path.removeprefix("/api/v1")
        for path, methods in paths.items()
        for method in methods.values()
        if path.removeprefix("/api/v1").startswith(("/assets/{", "/columns/{"))
        or {"dataset", "asset"} & {each["name"] for each in method.get("parameters", ())}
    }
    tried = {each.partition("?")[0].replace("%23c", "") for each in ENDPOINTS}
    same = {each.replace("{id}", "{}").replace("{asset}", "{}").replace("{column}", "c") for each in taking}
    assert same == tried
