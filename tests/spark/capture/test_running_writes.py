"""A batch write is known while it runs: START with its inputs, heartbeats, one end. A killed driver leaves it open."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_producers.spark import attach
from headwater_producers.spark.events.batch import HEARTBEAT
from headwater_producers.spark.plan.operators import PlanReader
from headwater_schemas.events import RunEventType
from spark.gates import Gate
from support.capture import FLUSH_SECONDS, Captured, RecordingSink, body
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("announced_writes")]

START, RUNNING, COMPLETE, FAIL = RunEventType.START, RunEventType.RUNNING, RunEventType.COMPLETE, RunEventType.FAIL


@pytest.fixture
def beating(spark: SparkSession) -> Iterator[Captured]:
    sink = RecordingSink()
    options: dict[str, Any] = {"capture_drain_timeout_seconds": FLUSH_SECONDS, "capture_heartbeat_seconds": 0.5}
    with attach(spark, sink=sink, job_name="job", **options) as capture:
        yield Captured(spark, sink, capture)


@pytest.fixture
def plans_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The plans whose columns were read, by how many nodes they have: with many columns that is nearly all the cost."""
    read: list[int] = []
    reading = PlanReader.read

    def counted(reader: PlanReader, nodes: Any) -> Any:
        read.append(len(nodes))
        return reading(reader, nodes)

    monkeypatch.setattr(PlanReader, "read", counted)
    return read


def held(gate: Gate, *, fails: bool = False) -> Any:
    """A column whose values are computed when the gate is open."""
    return F.udf(gate.function(fails=fails), "long")(F.col("id"))


@contextmanager
def writing(write: Any, gate: Gate) -> Iterator[None]:
    """While the block runs, the write does; then it is let through to its end."""
    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield
    finally:
        gate.open()
        thread.join(patience(60))
        assert not thread.is_alive()


def test_a_write_that_runs_is_announced_with_its_inputs_and_ends_once(beating: Captured, tmp_path: Path) -> None:
    spark, sink, gate = beating.spark, beating.sink, Gate(tmp_path / "gate")
    spark.range(3).write.parquet(str(tmp_path / "in"))
    frame = spark.read.parquet(str(tmp_path / "in")).withColumn("held", held(gate))
    with writing(lambda: frame.write.parquet(str(tmp_path / "out")), gate):
        eventually(lambda: sink.run_types("job.out").count(RUNNING) >= 2, expecting="two heartbeats of the write")
        start = body(sink.runs("job.out")[0])
        assert start.type is START
        assert [use.dataset.name for use in start.inputs] == [str(tmp_path / "in")]
        assert not start.outputs, "nothing is committed"
        assert set(sink.run_types("job.out")) == {START, RUNNING}
    beating.flushed()
    runs = sink.runs("job.out")
    assert len({event.run.run_id for event in runs if event.run}) == 1
    types = sink.run_types("job.out")
    assert (types[0], types[-1], set(types[1:-1])) == (START, COMPLETE, {RUNNING})
    end = sink.last_run("job.out")
    assert [(use.dataset.name, use.rows) for use in end.outputs] == [(str(tmp_path / "out"), 3)]
    assert end.started_at == start.started_at
    assert len({event.event_id for event in runs}) == len(runs)


def test_a_heartbeat_says_when_the_next_is_due_and_the_application_has_one(beating: Captured) -> None:
    eventually(lambda: RUNNING in beating.sink.run_types("job"), expecting="a heartbeat of the application")
    beat = next(body(event) for event in beating.sink.runs("job") if body(event).type is RUNNING)
    assert '"seconds": 0.5' in beat.run_facets[HEARTBEAT]


@pytest.mark.nightly
def test_a_write_that_fails_while_it_runs_ends_as_the_run_that_was_announced(beating: Captured, tmp_path: Path) -> None:
    sink, gate = beating.sink, Gate(tmp_path / "gate")
    frame = beating.spark.range(3).withColumn("held", held(gate, fails=True))

    def write() -> None:
        with pytest.raises(Exception, match="no such day"):
            frame.write.parquet(str(tmp_path / "out"))

    with writing(write, gate):
        eventually(lambda: START in sink.run_types("job.out"), expecting="START of the write")
    beating.flushed()
    types = sink.run_types("job.out")
    assert (types.count(START), types[-1]) == (1, FAIL)
    assert len({event.run.run_id for event in sink.runs("job.out") if event.run}) == 1


@pytest.mark.nightly
def test_a_table_that_is_made_of_a_query_is_one_run(beating: Captured, tmp_path: Path) -> None:
    """Spark runs a write within the command, and reports both."""
    sink, gate = beating.sink, Gate(tmp_path / "gate")
    frame = beating.spark.range(2).withColumn("held", held(gate))
    with writing(lambda: frame.write.saveAsTable("slowly_made"), gate):
        eventually(
            lambda: any(body(e).type is START for e in sink.of_kind("RUN") if e.job and "slowly" in e.job.name),
            expecting="START of the table's run",
        )
    try:
        beating.flushed()
        runs = [event for event in sink.of_kind("RUN") if event.job and "slowly_made" in event.job.name]
        assert len({event.run.run_id for event in runs if event.run}) == 1
        assert body(runs[-1]).type is COMPLETE
    finally:
        beating.spark.sql("DROP TABLE slowly_made")


@pytest.mark.nightly
def test_a_query_that_only_reads_is_neither_announced_nor_read(
    beating: Captured, tmp_path: Path, plans_read: list[int]
) -> None:
    """A write that began after the query is announced, so capture has looked at the query long enough, too."""
    gate = Gate(tmp_path / "gate")
    frame = beating.spark.range(2).withColumn("held", held(gate))
    with writing(frame.collect, gate):
        gate.wait_until_reached()
        with writing(lambda: frame.write.parquet(str(tmp_path / "out")), gate):
            eventually(lambda: START in beating.sink.run_types("job.out"), expecting="START of the write")
    sink = beating.flushed()
    assert sink.jobs() == {"job", "job.out"}
    assert len(plans_read) == 1, "the write's alone"


def test_a_streaming_query_beats_too(beating: Captured, tmp_path: Path) -> None:
    rate = beating.spark.readStream.format("rate").load().writeStream.format("noop")
    query = rate.option("checkpointLocation", str(tmp_path / "checkpoint")).queryName("beats").start()
    try:
        eventually(
            lambda: beating.sink.run_types("job.beats").count(RUNNING) >= 2, expecting="two heartbeats of the query"
        )
    finally:
        query.stop()
    sink = beating.flushed()
    assert len({event.run.run_id for event in sink.runs("job.beats") if event.run}) == 1


KILLED = """
import sys, time
from pyspark.sql import SparkSession, functions as F
from headwater_producers.spark import attach

class Sink:
    def publish(self, event):
        if event.run_event:
            with open(sys.argv[1] + "/events", "a") as file:
                print(event.job.name, event.run_event.type.value, file=file)

    def flush(self, timeout_seconds):
        return 0

    def close(self):
        pass

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
attach(spark, job_name="killed", sink=Sink())
spark.range(3).write.parquet(sys.argv[1] + "/in")

def wait(value):
    time.sleep(600)
    return value

frame = spark.read.parquet(sys.argv[1] + "/in").withColumn("held", F.udf(wait, "long")("id"))
frame.write.parquet(sys.argv[1] + "/out")
"""


@pytest.mark.nightly
def test_a_killed_driver_leaves_a_run_that_is_open(tmp_path: Path) -> None:
    script, events = tmp_path / "killed.py", tmp_path / "events"
    script.write_text(KILLED)
    driver = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        cwd=tmp_path,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        eventually(
            lambda: events.exists() and "killed.out START" in events.read_text(), 90, expecting="START of the write"
        )
    finally:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait(patience(30))
    assert [line for line in events.read_text().splitlines() if "killed.out" in line] == ["killed.out START"]


@pytest.mark.nightly
def test_the_plan_of_a_write_that_was_announced_is_read_once(
    beating: Captured, tmp_path: Path, plans_read: list[int]
) -> None:
    spark, sink, gate = beating.spark, beating.sink, Gate(tmp_path / "gate")
    spark.range(3).write.parquet(str(tmp_path / "in"))
    beating.flushed()
    plans_read.clear()
    read = spark.read.parquet(str(tmp_path / "in"))
    frame = read.withColumn("held", held(gate)).selectExpr("id", "held + 1 AS more")
    with writing(lambda: frame.write.parquet(str(tmp_path / "out")), gate):
        eventually(lambda: START in sink.run_types("job.out"), expecting="START of the write")
        assert len(plans_read) == 1
    beating.flushed()
    assert len(plans_read) == 1
    end = sink.last_run("job.out")
    assert [(use.dataset.name, use.rows) for use in end.outputs] == [(str(tmp_path / "out"), 3)]
    [plan] = [plan for event in sink.of_kind("PLAN") if (plan := event.plan_event) and plan.digest == end.plan_digest]
    assert {(edge.output_field, edge.input_field) for edge in plan.lineage.edges} == {("id", "id"), ("more", "id")}
