"""The official Python client through each of its transports, to the graph: all ways give the same one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import column_lineage_dataset, parent_run, schema_dataset, sql_job

from headwater_benchmarks.processes import serving
from headwater_server.identity import Scope
from support.api_tokens import TOKEN, tokens_file
from support.materializer.process import document_of, run_until_caught_up
from support.openlineage import PRODUCER
from support.stack import StackUnderTest
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

    from support.materializer.worlds import RealWorld

pytestmark = [pytest.mark.stack, pytest.mark.nightly, pytest.mark.timeout(300)]

RUN, PARENT = "0192f6a0-7c5e-7b1e-9f6e-3f1d2c4b5a69", "0192f6a0-0000-7b1e-9f6e-3f1d2c4b5a69"
DATABASE = "postgres://db:5432"


def events() -> list[RunEvent]:
    """Inputs in one event, outputs in another, as clients do."""
    fields = [schema_dataset.SchemaDatasetFacetFields(name=name, type="int") for name in ("id", "amount")]
    source = InputDataset(DATABASE, "shop.public.orders", facets={"schema": schema_dataset.SchemaDatasetFacet(fields)})
    made_of = column_lineage_dataset.Fields(
        inputFields=[
            column_lineage_dataset.InputField(
                DATABASE,
                "shop.public.orders",
                "amount",
                [column_lineage_dataset.Transformation(type="DIRECT", subtype="AGGREGATION")],
            )
        ]
    )
    target = OutputDataset(
        DATABASE,
        "shop.public.totals",
        facets={
            "schema": schema_dataset.SchemaDatasetFacet(
                [schema_dataset.SchemaDatasetFacetFields(name="total", type="int")]
            ),
            "columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet(fields={"total": made_of}),
        },
    )
    parent = parent_run.ParentRunFacet(
        run=parent_run.Run(runId=PARENT), job=parent_run.Job(namespace="shop", name="daily")
    )
    run = Run(runId=RUN, facets={"parent": parent})
    job = Job(
        namespace="shop",
        name="daily.totals",
        facets={"sql": sql_job.SQLJobFacet("INSERT INTO totals SELECT sum(amount) AS total FROM orders")},
    )
    states = {
        "2026-11-20T10:00:00.000Z": (RunState.START, [source], []),
        "2026-11-20T10:00:05.123456Z": (RunState.RUNNING, [], []),
        "2026-11-20T10:00:09.000Z": (RunState.COMPLETE, [], [target]),
    }
    return [
        RunEvent(eventType=state, eventTime=at, run=run, job=job, producer=PRODUCER, inputs=inputs, outputs=outputs)
        for at, (state, inputs, outputs) in states.items()
    ]


def over_http(settings: dict[str, str], _topic: str, folder: Path) -> tuple[str, ...]:
    door = {**settings, "HEADWATER_SERVE_PORT": "0", "HEADWATER_SERVE_INTAKE": "true"}
    tokens = tokens_file(folder / "tokens.json", Scope.WRITE)
    with serving({**door, "HEADWATER_SERVE_TOKENS_FILE": tokens}) as server:
        auth = {"type": "api_key", "apiKey": TOKEN}
        transport = {"type": "http", "url": server.url(), "compression": "gzip", "auth": auth, "timeout": patience(30)}
        client = OpenLineageClient(config={"transport": transport})
        for event in events():
            client.emit(event)
        assert client.close(patience(30))
        wrong = OpenLineageClient(config={"transport": {**transport, "auth": {"type": "api_key", "apiKey": "wrong"}}})
        with pytest.raises(Exception, match="401"):
            wrong.emit(events()[0])
    return ()


def over_kafka(settings: dict[str, str], topic: str, _folder: Path) -> tuple[str, ...]:
    config = {"bootstrap.servers": settings["HEADWATER_KAFKA_BOOTSTRAP_SERVERS"]}
    client = OpenLineageClient(config={"transport": {"type": "kafka", "topic": topic, "config": config}})
    for event in events():
        client.emit(event)
    assert client.close(patience(30))
    return ("--openlineage-topic", topic)


def from_a_file(settings: dict[str, str], _topic: str, folder: Path) -> tuple[str, ...]:
    transport = {"type": "file", "log_file_path": str(folder / "events.jsonl"), "append": True}
    client = OpenLineageClient(config={"transport": transport})
    for event in events():
        client.emit(event)
    document = document_of(settings, "emit", "openlineage", str(folder / "events.jsonl"))
    assert (document["read"], document["refused"]) == (3, 0)
    assert document["sent"] == document["events"]
    return ()


def from_standard_input(settings: dict[str, str], _topic: str, folder: Path) -> tuple[str, ...]:
    from openlineage.client.serde import Serde

    data = "[" + ",\n".join(map(Serde.to_json, events())) + "]"
    assert document_of(settings, "emit", "openlineage", "-", given=data)["sent"] > 0
    return ()


def graph(driver: Driver) -> dict[str, Any]:
    """Graph that the events make, in words."""

    def values(query: str) -> list[list[Any]]:
        return sorted((list(record.values()) for record in driver.execute_query(query).records), key=repr)

    return {
        "runs": values("MATCH (r:HwRun) RETURN r.run_id, r.state"),
        "parents": values("MATCH (r:HwRun)-[:CHILD_OF]->(p:HwRun) RETURN r.run_id, p.run_id"),
        "read": values("MATCH (r:HwRun)-[:CONSUMED]->(d:HwDataset) RETURN r.run_id, d.name"),
        "wrote": values("MATCH (r:HwRun)-[:PRODUCED]->(d:HwDataset) RETURN r.run_id, d.name"),
        "feeds": values("MATCH (a:HwDataset)-[:FEEDS]->(b:HwDataset) RETURN a.name, b.name"),
        "columns": values("MATCH (c:HwColumn) RETURN c.name"),
        "derives": values("MATCH (a:HwColumn)-[:DERIVES]->(b:HwColumn) RETURN a.name, b.name"),
    }


GRAPH = {
    "runs": [[PARENT, None], [RUN, "COMPLETE"]],
    "parents": [[RUN, PARENT]],
    "read": [[RUN, "shop.public.orders"]],
    "wrote": [[RUN, "shop.public.totals"]],
    "feeds": [["shop.public.orders", "shop.public.totals"]],
    "columns": [["amount"], ["id"], ["total"]],
    "derives": [["amount", "total"]],
}

WAYS: dict[str, Callable[[dict[str, str], str, Path], tuple[str, ...]]] = {
    "http": over_http,
    "kafka": over_kafka,
    "file": from_a_file,
    "stdin": from_standard_input,
}


@pytest.mark.parametrize("way", WAYS)
def test_every_transport_ends_in_the_same_graph(
    way: str,
    stack: StackUnderTest,
    world: RealWorld,
    settings: dict[str, str],
    topic: str,
    tmp_path: Path,
    neo4j_driver: Driver,
) -> None:
    arguments = WAYS[way](settings, topic, tmp_path)
    totals = run_until_caught_up(settings, *arguments)
    assert totals["dead_lettered"] == 0
    assert graph(neo4j_driver) == GRAPH
