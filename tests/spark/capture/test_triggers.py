"""Events under each trigger, and of sources that only live as long as their query: rate and socket."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_producers.spark.jvm.files import JvmFiles
from headwater_producers.spark.streaming.checkpoint import QueryLog
from headwater_schemas.events import DatasetRef, EmissionReason, IntervalEntry, LineageEvent, Provenance
from support.capture import FLUSH_SECONDS, Captured, body
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


pytestmark = pytest.mark.spark


def drop(folder: Path, number: int) -> None:
    folder.mkdir(exist_ok=True)
    part = folder / f".{number}"
    part.write_text(json.dumps({"a": number}) + "\n")
    part.rename(folder / f"{number}.json")


@pytest.mark.parametrize(
    ("trigger", "batches"),
    [
        ({"once": True}, [[3]]),  # whatever is there, in one micro-batch: the limit doesn't count
        ({"availableNow": True}, [[1], [1], [1]]),
        ({"processingTime": "0 seconds"}, [[1], [1], [1]]),
    ],
)
def test_triggers(captured: Captured, tmp_path: Path, trigger: dict[str, Any], batches: list[list[int]]) -> None:
    for number in range(3):
        drop(tmp_path / "in", number)
    frame = captured.spark.readStream.schema("a INT").option("maxFilesPerTrigger", 1).json(str(tmp_path / "in"))
    writer = frame.writeStream.format("noop").queryName("q").option("checkpointLocation", str(tmp_path / "cp"))
    query = writer.trigger(**trigger).start()
    if "processingTime" in trigger:
        query.processAllAvailable()
        query.stop()
    else:
        assert query.awaitTermination(int(patience(120)))
    entries = captured.flushed().entries("job.q")
    assert [[use.files for use in entry.inputs] for entry in entries] == batches
    assert [entry.rows_in for entry in entries] == [sum(batch) for batch in batches]


def opaque(entry: IntervalEntry) -> tuple[str | None, str | None]:
    [use] = entry.inputs
    assert use.position is not None
    assert use.position.opaque is not None
    return use.position.opaque.from_json, use.position.opaque.to_json


def until_committed(query: StreamingQuery, batches: int, folder: Path, captured: Captured) -> None:
    """Wait until so many micro-batches, or epochs, are committed."""

    def are_committed() -> bool:
        assert query.exception() is None, query.exception()
        return len(QueryLog(str(folder / "cp"), JvmFiles(captured.spark.sparkContext)).committed()) >= batches

    eventually(are_committed, 120, every=0.1, expecting=f"{batches} micro-batches are committed")


def test_a_continuous_trigger_is_emitted_from_its_checkpoint(captured: Captured, tmp_path: Path) -> None:
    """Spark's listeners get a start and an end, and no progress in between."""
    frame = captured.spark.readStream.format("rate").option("numPartitions", 1).option("rowsPerSecond", 50).load()
    writer = frame.select("value").writeStream.format("noop").queryName("continuous")
    query = writer.option("checkpointLocation", str(tmp_path / "cp")).trigger(continuous="200 milliseconds").start()
    try:
        until_committed(query, 3, tmp_path, captured)
        assert query.lastProgress is None
    finally:
        query.stop()
    sink = captured.flushed()
    committed = QueryLog(str(tmp_path / "cp"), JvmFiles(captured.spark.sparkContext)).committed()
    intervals = [e.interval_event for e in sink.of_kind("INTERVAL") if e.interval_event]
    assert {each.provenance for each in intervals} == {Provenance.RECONCILED}
    entries = sink.entries("job.continuous")
    assert [entry.batch_id for entry in entries] == committed
    ends = [opaque(entry) for entry in entries]
    assert [before[1] for before in ends[:-1]] == [after[0] for after in ends[1:]], "each goes on where one ended"
    assert {(entry.rows_in, entry.rows_out) for entry in entries} == {(None, None)}
    [plan] = [e.plan_event.digest for e in sink.of_kind("PLAN") if e.plan_event]
    assert {entry.plan_digest for entry in entries} == {plan}
    assert {use.dataset.name for entry in entries for use in entry.outputs} == {"noop"}


def test_a_continuous_query_names_its_topic(captured: Captured, tmp_path: Path) -> None:
    frame = captured.spark.readStream.format("rate").option("numPartitions", 1).load()
    values = frame.selectExpr("CAST(value AS STRING) AS value").writeStream.format("kafka").queryName("continuous")
    values = values.option("kafka.bootstrap.servers", "localhost:1").option("topic", "out")
    query = values.option("checkpointLocation", str(tmp_path / "cp")).trigger(continuous="1 second").start()
    try:

        def runs() -> list[LineageEvent]:
            assert query.exception() is None, query.exception()
            return captured.flushed().runs("job.continuous")

        [start, *_] = eventually(runs, 60, expecting="START of the query")
    finally:
        query.stop()
    assert [use.dataset for use in body(start).outputs] == [DatasetRef("kafka://localhost:1", "out")]
    assert [use.dataset.name for use in body(start).inputs] == ["rate"]


@pytest.mark.nightly
def test_rate(captured: Captured, tmp_path: Path) -> None:
    frame = captured.spark.readStream.format("rate").option("rowsPerSecond", 20).load()
    writer = frame.writeStream.format("noop").queryName("rate").option("checkpointLocation", str(tmp_path / "cp"))
    query = writer.trigger(processingTime="100 milliseconds").start()
    try:
        until_committed(query, 3, tmp_path, captured)
    finally:
        query.stop()
    assert captured.capture.flush(FLUSH_SECONDS)
    entries = captured.flushed().entries("job.rate")
    ends = [opaque(entry) for entry in entries]
    assert [before[1] for before in ends[:-1]] == [after[0] for after in ends[1:]]
    assert {use.dataset.name for entry in entries for use in entry.inputs} == {"rate"}
    assert [entry.rows_in for entry in entries] == [20 * (int(end or 0) - int(start or 0)) for start, end in ends], (
        "its offsets are seconds"
    )


@pytest.fixture
def lines() -> Iterator[tuple[int, Any]]:
    """A server that sends each line it is given to whoever is connected; yields its port and how to give one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        connections: list[socket.socket] = []
        come = threading.Event()

        def accept() -> None:
            connection, _ = server.accept()
            connections.append(connection)
            come.set()

        thread = threading.Thread(target=accept)
        thread.start()

        def say(line: str) -> None:
            assert come.wait(patience(60))
            connections[0].sendall(f"{line}\n".encode())

        yield server.getsockname()[1], say
        for connection in connections:
            connection.close()
        thread.join(patience(60))


def test_socket(captured: Captured, tmp_path: Path, lines: tuple[int, Any]) -> None:
    port, say = lines
    frame = captured.spark.readStream.format("socket").options(host="127.0.0.1", port=port).load()
    writer = frame.writeStream.format("noop").queryName("socket").option("checkpointLocation", str(tmp_path / "cp"))
    query = writer.start()
    try:
        query.processAllAvailable()
        for count, line in enumerate(("one", "two"), start=2):
            say(line)
            until_committed(query, count, tmp_path, captured)
    finally:
        query.stop()
    entries = captured.flushed().entries("job.socket")
    assert [opaque(entry) for entry in entries] == [(None, "-1"), ("-1", "0"), ("0", "1")], "-1 is before any line"
    assert {use.dataset.name for entry in entries for use in entry.inputs} == {f"socket[127.0.0.1:{port}]"}
    assert [entry.rows_in for entry in entries] == [0, 1, 1]
    reasons = {e.interval_event.reason for e in captured.sink.of_kind("INTERVAL") if e.interval_event}
    assert reasons <= {EmissionReason.CHECKPOINT, EmissionReason.STOP}
