"""Round trips between Python and the JVM for a micro-batch: each costs processor time on both sides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark.driver.running_writes import RunningWrites
from headwater_producers.spark.jvm.files import JvmFiles
from headwater_producers.spark.streaming.flow import StreamFlow
from support.capture import Captured
from support.round_trips import RoundTrips
from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = pytest.mark.spark

FEW, MANY = 4, 24


def run(captured: Captured, folder: Path, sink: str, count: int) -> RoundTrips:
    """Round trips of a query of so many micro-batches, from its start to its end."""
    (folder / "in").mkdir(parents=True)
    for number in range(count):
        (folder / "in" / f"{number:03}.json").write_text(json.dumps({"a": number}) + "\n", encoding="utf-8")
    with RoundTrips() as counted:
        stream = captured.spark.readStream.schema("a INT").option("maxFilesPerTrigger", 1).json(str(folder / "in"))
        writer = stream.writeStream.format(sink).option("checkpointLocation", str(folder / "cp"))
        query: StreamingQuery = writer.trigger(availableNow=True).start(str(folder / "out"))
        assert query.awaitTermination(int(patience(100)))
        captured.flushed()
    return counted


# Of a sink of Spark's newer kind each micro-batch is also a query of its own, which looks like the program's `collect`
# until the root of its plan is asked for.
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("sink", "listeners", "asked_of_a_plan"),
    [
        pytest.param("noop", 2, {"analyzed", "getClass", "getName"}, marks=pytest.mark.nightly),
        ("parquet", 1, set[str]()),
    ],
)
def test_of_a_micro_batch(
    captured: Captured,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sink: str,
    listeners: int,
    asked_of_a_plan: set[str],
) -> None:
    # What is done by the clock, not by the micro-batch; a query that was not announced is by its first progress.
    monkeypatch.setattr(RunningWrites, "look", lambda _writes: None)
    monkeypatch.setattr(StreamFlow, "announce_planned", lambda _flow: None)
    few, many = (run(captured, tmp_path / str(count), sink, count) for count in (FEW, MANY))
    between = MANY - FEW
    # What is asked for a query is asked less often. One question: the progress, as text.
    questions = {method: count for method, count in (many.calls - few.calls).items() if count >= between / 2}
    assert {*questions} == {"json", *asked_of_a_plan}
    assert max(questions.values()) / between <= 1.2
    # A call of each listener: one gets the progress, one the micro-batch's own query, where Spark reports it.
    # The session may have others.
    asked = {listener: count - few.callbacks[listener] for listener, count in many.callbacks.items()}
    assert sum(count >= between for count in asked.values()) >= listeners
    assert max(asked.values()) / between <= 1.2


def test_of_a_file_elsewhere(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / str(number)).write_text("v1\n{}", encoding="utf-8")
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    mount = "fs.viewfs.mounttable.counted.link./data"
    configuration.set(mount, f"file://{tmp_path}")
    try:
        files = JvmFiles(spark.sparkContext)
        assert files.read("viewfs://counted/data/0") == "v1\n{}"
        with RoundTrips(every_thread=True) as counted:
            assert files.read("viewfs://counted/data/1") == "v1\n{}"
        assert counted.calls.total() <= 6
    finally:
        configuration.unset(mount)
