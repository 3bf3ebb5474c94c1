"""`headwater reconcile` as a user runs it: a checkpoint, a graph that lacks some of it, and the graph afterwards."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from headwater.cli import main
from headwater.errors import ExitCode
from headwater_graph.dump import dump
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_producers.spark.jvm.files import LocalTextFiles
from headwater_producers.spark.plan import PlanInput, SourceKind
from headwater_producers.spark.streaming.checkpoint import QueryLog
from headwater_producers.spark.streaming.rebuild import Rebuilder
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    EmissionReason,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    Provenance,
    RunEvent,
    RunEventType,
    RunRef,
    Versions,
    build,
)
from support.checkpoints import QUERY, kafka_checkpoint, written

if TYPE_CHECKING:
    from neo4j import Driver


pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("settings_of_pipeline")]
IN, OUT = DatasetRef("kafka://here", "in"), DatasetRef("kafka://here", "out")
JOB = JobRef("default", "app.copy")
BEGAN = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Micro-batches 2 to 7; 0 and 1 purged, 8 not committed."""
    made = kafka_checkpoint(8)
    made.purge(2)
    made.plan(8, {"in": {"0": 95}})
    return written(made, tmp_path / "cp")


def observed(checkpoint: Path, batch: int) -> LineageEvent:
    """Event that capture emitted while it ran, with facts that a checkpoint doesn't have."""
    ends = Position(kafka=KafkaRanges("out", (OffsetRange(0, 10 * batch, 10 * batch + 10),)))
    source = PlanInput(dataset=IN, kind=SourceKind.KAFKA, source_index=0)
    entry = Rebuilder(QueryLog(str(checkpoint), LocalTextFiles()), LocalTextFiles(), inputs=[source], sources=1).entry(
        batch
    )
    begin = OffsetRange(0, 5 + 10 * batch, 15 + 10 * batch)
    entry = msgspec.structs.replace(
        entry,
        inputs=(
            DatasetUse(
                dataset=IN, position=Position(kafka=KafkaRanges("in", (begin,))), certainty=Certainty.EXACT, rows=10
            ),
        ),
        outputs=(DatasetUse(dataset=OUT, position=ends, certainty=Certainty.UPPER_BOUND, rows=10),),
        processing_time=BEGAN + timedelta(seconds=batch, milliseconds=-7),
        duration_ms=120,
        rows_in=10,
        rows_out=10,
    )
    body = IntervalEvent(
        query_id=QUERY,
        entries=(entry,),
        query_name="copy",
        checkpoint_location=f"file:{checkpoint}",
        versions=Versions(code="abc", capture="test"),
        reason=EmissionReason.CHECKPOINT,
        provenance=Provenance.OBSERVED,
    )
    return build.lineage_event(
        body, job=JOB, run=RunRef("run-1"), producer="urn:test", event_time=BEGAN + timedelta(seconds=batch)
    )


def intervals(graph: Driver) -> dict[int, dict[str, Any]]:
    """Properties of the Interval nodes, by batch id."""
    nodes = [json.loads(line) for line in dump(graph)]
    found = [
        node["properties"] for node in nodes if node.get("labels") == ["Interval"] or node.get("label") == "Interval"
    ]
    return {properties["batch_id"]: properties for properties in found}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "--json"]) == ExitCode.DONE, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def started(sink: str | None) -> LineageEvent:
    """A start of the query, which says what its sink is."""
    facets = {} if sink is None else {"headwater_sink": sink}
    body = RunEvent(type=RunEventType.START, started_at=BEGAN, query_id=QUERY, run_facets=facets)
    return build.lineage_event(body, job=JOB, run=RunRef("run-1"), producer="urn:test", event_time=BEGAN)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("sink", "emitted"),
    [
        ('{"name": "kafka", "callback": false}', {IN.name, OUT.name}),
        # It may have written in this micro-batch and not in that one; and so may a sink that nobody reported.
        pytest.param('{"name": "foreachBatch", "callback": true}', {IN.name}, marks=pytest.mark.nightly),
        pytest.param(None, {IN.name}, marks=pytest.mark.nightly),
    ],
)
def test_an_output_is_emitted_where_the_sink_writes_each_micro_batch(
    graph: Driver,
    writer: GraphWriter,
    checkpoint: Path,
    capsys: pytest.CaptureFixture[str],
    sink: str | None,
    emitted: set[str],
) -> None:
    writer.apply(fold([started(sink), observed(checkpoint, 2)]))
    assert run(capsys, "reconcile", str(checkpoint))["sent"] == 6
    assert main(["consume", "--until-caught-up"]) == ExitCode.DONE
    lines = [json.loads(line) for line in dump(graph)]
    names = {line["key"]: line["properties"]["name"] for line in lines if line.get("labels") == ["Dataset"]}
    fourth = intervals(graph)[4]["key"]
    used = {
        names[line["end"]] for line in lines if line.get("type") in {"CONSUMED", "PRODUCED"} and line["start"] == fourth
    }
    assert used == emitted


@pytest.mark.timeout(300)
def test_the_chain_is_whole_and_nothing_is_blanked(
    graph: Driver, writer: GraphWriter, checkpoint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    writer.apply(fold([observed(checkpoint, batch) for batch in (2, 3, 5)]))
    before = intervals(graph)
    assert set(before) == {2, 3, 5}

    dry = run(capsys, "reconcile", str(checkpoint), "--dry-run")
    [emitted] = dry["checkpoints"]
    assert emitted["job"] == {"namespace": "default", "name": "app.copy"}, "the graph knows its job, and its cluster"
    assert emitted["batches"] == {"count": 6, "first": 2, "last": 7}
    assert (emitted["not_emitted"], emitted["uncommitted"], emitted["unreadable"]) == ([4, 6, 7], [8], [])
    assert (emitted["purged"], emitted["gaps"]) == (2, [{"first": 0, "last": 1}])
    assert dry["sent"] == 0

    assert run(capsys, "reconcile", str(checkpoint))["sent"] == 6
    assert main(["consume", "--until-caught-up"]) == ExitCode.DONE
    capsys.readouterr()
    after = intervals(graph)
    assert {batch: after[batch] for batch in before} == before, "what was observed stays as it was observed"
    assert {batch: each["provenance"] for batch, each in after.items()} == {
        2: "OBSERVED",
        3: "OBSERVED",
        4: "RECONCILED",
        5: "OBSERVED",
        6: "RECONCILED",
        7: "RECONCILED",
    }
    page = run(capsys, "runs", "intervals", "app.copy", "--job")
    assert [item["batch_id"] for item in page["items"]] == list(range(2, 8))
    faults = [(item["missing"], item["gaps"], item["overlaps"], item["conflicts"]) for item in page["items"]]
    assert faults == [(2, [], [], 0), *[(0, [], [], 0)] * 5], "batches 0 and 1 are missing; else it is one chain"

    whole = list(dump(graph))
    assert run(capsys, "reconcile", str(checkpoint))["checkpoints"][0]["not_emitted"] == []
    assert main(["consume", "--until-caught-up"]) == ExitCode.DONE
    assert list(dump(graph)) == whole, "sending it again changes nothing"
