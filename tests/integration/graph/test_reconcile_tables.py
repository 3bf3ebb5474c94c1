"""`headwater reconcile TABLE` as a user runs it: open writes in the graph, a table's log, and the graph afterwards."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.cli import main
from headwater.errors import ExitCode
from headwater_graph.dump import dump
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_producers.spark.events.left_writes import mark_of
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    JobRef,
    LineageEvent,
    ParentRun,
    Position,
    RunEvent,
    RunEventType,
    RunRef,
    TableSnapshot,
    build,
)
from headwater_schemas.facets import WRITE_FACET

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("settings_of_pipeline")]
APP = ParentRun("app-run", JobRef("default", "daily"))


def event(run_id: str, body: RunEvent, at: datetime) -> LineageEvent:
    return build.lineage_event(
        body, job=JobRef("default", "daily.orders"), run=RunRef(run_id), producer="urn:test", event_time=at
    )


def started(run_id: str, table: Path, at: datetime, command: str = "AppendData") -> LineageEvent:
    outputs = [{"namespace": "file", "name": str(table), "format": "delta", "names": [f"sales.{table.name}"]}]
    facet = {"application": "local-1", "run": "app-run", "marked": True, "command": command, "outputs": outputs}
    body = RunEvent(
        type=RunEventType.START,
        started_at=at,
        parent=APP,
        inputs=(DatasetUse(dataset=DatasetRef("file", "/in")),),
        run_facets={WRITE_FACET: json.dumps(facet)},
    )
    return event(run_id, body, at)


def commit(table: Path, version: int, at: datetime, operation: str, metadata: str | None) -> None:
    info: dict[str, Any] = {"timestamp": int(at.timestamp() * 1000), "operation": operation}
    info |= {"operationMetrics": {"numOutputRows": "7"}} | ({"userMetadata": metadata} if metadata else {})
    (table / "_delta_log").mkdir(parents=True, exist_ok=True)
    text = json.dumps({"commitInfo": info}, separators=(",", ":"))
    (table / "_delta_log" / f"{version:020d}.json").write_text(text)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "--json"]) == ExitCode.DONE, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def runs_of(graph: Driver) -> dict[str, tuple[Any, ...]]:
    """State, provenance, publication and `open` of each run of the job."""
    lines = [json.loads(line) for line in dump(graph)]
    nodes = [line["properties"] for line in lines if line.get("labels") == ["Run"] and "state" in line["properties"]]
    names = ("state", "provenance", "publication", "open")
    return {node["run_id"]: tuple(node.get(name) for name in names) for node in nodes}


@pytest.mark.timeout(300)
def test_open_writes_end_by_what_the_log_shows(
    graph: Driver, writer: GraphWriter, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four runs of one table, one of which has reported its version; and one that has only just begun."""
    table = tmp_path / "orders"
    # Not when the tests are collected: that may be an hour ago.
    now, minutes = datetime.now(UTC), timedelta(minutes=1)
    began = now - timedelta(hours=2)
    made = Position(table_snapshot=TableSnapshot(format="delta", snapshot_id="1"))
    reported = RunEvent(
        type=RunEventType.COMPLETE,
        outputs=(DatasetUse(dataset=DatasetRef("file", str(table)), position=made, certainty=Certainty.EXACT),),
    )
    commit(table, 0, began - minutes, "CREATE TABLE", None)
    commit(table, 1, began + 2 * minutes, "WRITE", mark_of("app-run"))
    commit(table, 2, began + 3 * minutes, "WRITE", mark_of("app-run"))
    events = [
        started("appended", table, began),
        started("done", table, began + minutes),
        event("done", reported, began + 2 * minutes),
        started("merged", table, began + minutes, "MergeIntoCommand"),
        started("elsewhere", tmp_path / "other", began),
        started("young", table, now, "DeleteCommand"),
    ]
    writer.apply(fold(events))

    dry = run(capsys, "reconcile", str(table), "--dry-run")
    assert {each["run_id"]: (each["became"], each["version"]) for each in dry["tables"][0]["runs"]} == {
        "appended": ("COMMITTED", "2"),
        "merged": ("NOTHING", None),
        "young": ("RUNNING", None),
    }
    assert (dry["sent"], dry["checkpoints"]) == (0, [])

    assert run(capsys, "reconcile", "sales.orders")["sent"] == 2, "by its name, too"
    assert main(["consume", "--until-caught-up"]) == ExitCode.DONE
    capsys.readouterr()
    assert runs_of(graph) == {
        "appended": ("COMPLETE", "RECONCILED", "PUBLISHED", None),
        "done": ("COMPLETE", None, None, None),
        "merged": ("ABORT", "RECONCILED", "UNPUBLISHED", None),
        "elsewhere": ("START", None, None, True),
        "young": ("START", None, None, True),
    }
    assert run(capsys, "reconcile", str(table))["sent"] == 0, "they are open no more"
    assert main(["reconcile", str(table)]) == ExitCode.DONE
    assert "RUNNING" in capsys.readouterr().out
