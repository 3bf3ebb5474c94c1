"""Writes of a job whose inputs hold bad data: each is refused before anything is written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_analysis.runs.notes import notes
from headwater_producers.spark import TaintedInputError, attach
from headwater_producers.spark.driver import input_gate
from headwater_schemas.events import RunEventType
from support.capture import FLUSH_SECONDS, Captured, RecordingSink
from support.played_gate import PlayedGate, folder
from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def _answers_hold_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Longer than any test takes on a slow machine."""
    monkeypatch.setattr(input_gate, "CACHE_SECONDS", 3_600.0)
    monkeypatch.setattr(input_gate, "WARN_SECONDS", 3_600.0)


@contextmanager
def refusing(spark: SparkSession, gate: PlayedGate, **more: Any) -> Iterator[Captured]:
    """The session, attached with `refuse_tainted_inputs`."""
    sink = RecordingSink()
    settings: dict[str, Any] = {
        "job_name": "job",
        "capture_drain_timeout_seconds": FLUSH_SECONDS,
        "refuse_tainted_inputs": True,
        "gate_url": gate.url,
        "gate_timeout_seconds": patience(30),
        **more,
    }
    with attach(spark, sink=sink, **settings) as capture:
        yield Captured(spark, sink, capture)


@pytest.fixture
def orders(spark: SparkSession, gate: PlayedGate, tmp_path: Path) -> Path:
    """A folder with bad data."""
    spark.range(3).selectExpr("id", "cast(id AS string) AS name").write.parquet(str(tmp_path / "orders"))
    gate.hold(tmp_path / "orders")
    return tmp_path / "orders"


@pytest.fixture
def kept(spark: SparkSession, tmp_path: Path) -> Iterator[Callable[[], int]]:
    """A table `kept` with one row; returns the number of its rows."""
    spark.sql(f"CREATE TABLE kept (id BIGINT, name STRING) USING parquet LOCATION '{tmp_path / 'kept'}'")
    spark.sql("INSERT INTO kept VALUES (7, 'x')")
    yield lambda: spark.table("kept").count()
    spark.sql("DROP TABLE kept")


def refused(write: Callable[[], object], path: Path) -> None:
    with pytest.raises(TaintedInputError, match=re.escape(f"Refused: file:{path} holds bad data of INC-")):
        write()


def writes(frame: DataFrame, out: str) -> dict[str, Callable[[], object]]:
    """Every method that writes a frame, by name."""
    writer, names = frame.write, frame.select("name").write
    found: dict[str, Callable[[], object]] = {
        "save": lambda: writer.save(out),
        "save as": lambda: writer.save(path=out, format="json", mode="overwrite"),
        "parquet": lambda: writer.parquet(out),
        "csv": lambda: writer.csv(out),
        "json": lambda: writer.json(path=out),
        "orc": lambda: writer.orc(out),
        "text": lambda: names.text(out),
        "jdbc": lambda: writer.jdbc("jdbc:derby:memory:none;create=true", "t"),
        "saveAsTable": lambda: writer.saveAsTable("made"),
        "insertInto": lambda: writer.insertInto("kept"),
        "insertInto, overwriting": lambda: writer.insertInto("kept", overwrite=True),
        "create": lambda: frame.writeTo("made").using("parquet").create(),
        "replace": lambda: frame.writeTo("kept").using("parquet").replace(),
        "createOrReplace": lambda: frame.writeTo("made").using("parquet").createOrReplace(),
        "append": lambda: frame.writeTo("kept").append(),
        "overwrite": lambda: frame.writeTo("kept").overwrite(F.lit(True)),
        "overwritePartitions": lambda: frame.writeTo("kept").overwritePartitions(),
    }
    if hasattr(writer, "xml"):
        found["xml"] = lambda: writer.xml(out, rowTag="row")
    if hasattr(frame, "mergeInto"):
        found["merge"] = lambda: frame.mergeInto("kept", F.lit(False)).whenNotMatched().insertAll().merge()
    return found


def test_each_writer_is_refused_before_it_writes(
    spark: SparkSession, gate: PlayedGate, orders: Path, kept: Callable[[], int], tmp_path: Path, subtests: Any
) -> None:
    out = tmp_path / "out"
    with refusing(spark, gate) as captured:
        frame = spark.read.parquet(str(orders)).join(spark.range(2), "id")
        for name, write in writes(frame, str(out)).items():
            with subtests.test(name):
                refused(write, orders)
                assert not out.exists()
                assert not spark.catalog.tableExists("made")
                assert kept() == 1
        assert gate.asked == [folder(orders)], "one question: answers hold for some seconds"
        assert captured.flushed().jobs() == {"job"}, "no run of a write that never began"
        assert captured.sink.run_types("job") == [RunEventType.START]


def test_a_free_input_is_written_and_recorded(spark: SparkSession, gate: PlayedGate, tmp_path: Path) -> None:
    spark.range(3).write.parquet(str(tmp_path / "in"))
    with refusing(spark, gate, gate_token="hw_1", gate_max_severity="sev2", gate_unavailable="refuse") as captured:
        for name in ("a", "b"):
            spark.read.parquet(str(tmp_path / "in")).write.parquet(str(tmp_path / name))
            assert captured.flushed().run_types(f"job.{name}") == [RunEventType.START, RunEventType.COMPLETE]
            [read] = captured.sink.last_run(f"job.{name}").inputs
            assert gate.questions == [
                {"dataset": f"{read.dataset.namespace}/{read.dataset.name}", "max_severity": "SEV2"}
            ], "named as in the event"
        assert gate.tokens == ["Bearer hw_1"]


def test_a_write_that_goes_on_unchecked_is_noted_in_the_applications_run(
    spark: SparkSession, gate: PlayedGate, orders: Path, tmp_path: Path
) -> None:
    gate.scripted.append((503, {}, b""))
    with refusing(spark, gate) as captured:
        spark.read.parquet(str(orders)).write.parquet(str(tmp_path / "out"))
    facets = captured.sink.last_run("job").run_facets
    [note] = notes({name: json.loads(text) for name, text in facets.items()})
    assert note == (
        f"the inputs of 1 write weren't checked for bad data, and the write went on; latest reason: the gate at "
        f"{gate.url}: it answers 503"
    )


def test_only_the_partitions_that_would_be_read_count(
    spark: SparkSession, gate: PlayedGate, tmp_path: Path, subtests: Any
) -> None:
    """The names of folders count: `hour=03` is read as the number 3."""
    days = tmp_path / "days"
    for day, hour in (("2026-11-26", "03"), ("2026-11-27", "03"), ("2026-11-27", "04")):
        spark.range(2).write.parquet(str(days / f"day={day}" / f"hour={hour}"))
    gate.hold(days, "day=2026-11-27/hour=03")
    free: dict[str, DataFrame] = {
        "a day": spark.read.parquet(str(days)).where("day = '2026-11-26'"),
        "an hour": spark.read.parquet(str(days)).where("hour > 3 AND id = 1").select("id"),
        "a folder": spark.read.parquet(str(days / "day=2026-11-27" / "hour=04")),
    }
    held = {
        "an hour": spark.read.parquet(str(days)).where("hour = 3"),
        "a folder": spark.read.parquet(str(days / "day=2026-11-27" / "hour=03")),
    }
    whole = {
        "everything": spark.read.parquet(str(days)),
        "in a subquery, too": free["a day"].where(F.col("id") >= F.lit(0)).join(spark.read.parquet(str(days)), "id"),
    }
    with refusing(spark, gate):
        for name, frame in free.items():
            with subtests.test(name):
                frame.write.mode("overwrite").parquet(str(tmp_path / "out"))
        for name, frame in held.items():
            with (
                subtests.test(f"{name}, held"),
                pytest.raises(TaintedInputError, match="partition day=2026-11-27/hour=03,"),
            ):
                frame.write.parquet(str(tmp_path / "not"))
        for name, frame in whole.items():
            with subtests.test(f"{name}, held"), pytest.raises(TaintedInputError):
                frame.write.parquet(str(tmp_path / "not"))
        spark.read.parquet(str(days)).createOrReplaceTempView("days")
        into = f"INSERT OVERWRITE DIRECTORY '{tmp_path / 'out'}' USING parquet SELECT id FROM days WHERE"
        spark.sql(f"{into} day = '2026-11-26'")
        with pytest.raises(TaintedInputError):
            spark.sql(f"{into} day = '2026-11-26' AND id IN (SELECT id FROM days WHERE hour = 3)")
        assert not (tmp_path / "not").exists()


def test_a_cached_frame_counts_as_a_whole(spark: SparkSession, gate: PlayedGate, tmp_path: Path) -> None:
    days = tmp_path / "days"
    spark.range(4).selectExpr("id", "id AS day").write.partitionBy("day").parquet(str(days))
    gate.hold(days, "day=3")
    with refusing(spark, gate):
        cached = spark.read.parquet(str(days)).cache()
        try:
            cached.count()
            with pytest.raises(TaintedInputError):
                cached.where("day = 1").write.parquet(str(tmp_path / "out"))
        finally:
            cached.unpersist()


def test_statements_that_write_are_refused(
    spark: SparkSession, gate: PlayedGate, orders: Path, kept: Callable[[], int], tmp_path: Path, subtests: Any
) -> None:
    source, out = f"parquet.`{orders}`", tmp_path / "out"
    spark.range(3).selectExpr("id", "cast(id AS string) AS name").write.parquet(str(tmp_path / "clean"))
    spark.read.parquet(str(tmp_path / "clean")).createOrReplaceTempView("clean")
    spark.read.parquet(str(orders)).createOrReplaceTempView("bad")
    statements = [
        f"INSERT INTO kept SELECT * FROM {source}",
        "/* a comment */ insert overwrite kept SELECT * FROM bad",
        "INSERT INTO kept BY NAME SELECT * FROM bad",
        f"CREATE TABLE made USING parquet AS SELECT * FROM {source}",
        "CREATE TABLE IF NOT EXISTS made USING parquet AS SELECT max(id) AS id FROM bad",
        f"INSERT OVERWRITE DIRECTORY '{out}' USING json SELECT * FROM bad",
        "WITH x AS (SELECT * FROM bad) INSERT INTO kept SELECT * FROM x",
        "INSERT INTO kept WITH x AS (SELECT * FROM bad) SELECT * FROM x",
        "INSERT INTO kept SELECT * FROM clean WHERE id IN (SELECT id FROM bad)",
        "INSERT INTO kept SELECT id, (SELECT max(name) FROM bad) FROM clean",
        "FROM bad INSERT INTO kept SELECT id, name INSERT INTO kept SELECT id, 'b'",
    ]
    with refusing(spark, gate) as captured:
        for statement in statements:
            with subtests.test(statement):
                refused(lambda statement=statement: spark.sql(statement), orders)  # type: ignore[misc]
        into = "INSERT INTO kept SELECT * FROM"
        parameterized: dict[str, Callable[[], object]] = {
            "by name": lambda: spark.sql(f"{into} bad WHERE id = :id", args={"id": 1}),
            "by position": lambda: spark.sql(f"{into} bad WHERE id = ?", args=[1]),
            "a frame": lambda: spark.sql(f"{into} {{df}}", df=spark.read.parquet(str(orders))),
        }
        for name, write in parameterized.items():
            with subtests.test(name):
                refused(write, orders)
        assert kept() == 1
        assert not out.exists()
        assert not spark.catalog.tableExists("made")
        assert captured.flushed().jobs() == {"job"}


@pytest.mark.nightly
def test_other_statements_run_as_ever(
    spark: SparkSession, gate: PlayedGate, orders: Path, kept: Callable[[], int], tmp_path: Path
) -> None:
    spark.read.parquet(str(orders)).where("id < 2").write.parquet(str(tmp_path / "clean"))
    clean = spark.read.parquet(str(tmp_path / "clean"))
    with refusing(spark, gate, gate_unavailable="refuse"):
        assert spark.sql(f"SELECT 'insert' AS a FROM parquet.`{orders}`").count() == 3
        spark.sql(f"CREATE OR REPLACE TEMP VIEW bad AS SELECT * FROM parquet.`{orders}`")
        spark.sql("CREATE TABLE made (id INT) USING parquet")
        spark.sql("DROP TABLE made")
        assert spark.table("bad").collect()
        assert gate.questions == []
        # A common table expression hides the view of its name.
        spark.sql(f"WITH bad AS (SELECT * FROM parquet.`{tmp_path / 'clean'}`) INSERT INTO kept SELECT * FROM bad")
        spark.sql("INSERT INTO kept SELECT * FROM {df} WHERE id < :most", args={"most": 1}, df=clean.limit(0))
        spark.sql("INSERT INTO kept VALUES (?, 'y')", args=[8])
        assert kept() == 4
        with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
            spark.sql("INSERT INTO missing SELECT * FROM bad")
        with pytest.raises(ParseException):
            spark.sql("INSERT INTO INTO kept")


def test_a_stream_is_refused_at_its_start(spark: SparkSession, gate: PlayedGate, orders: Path, tmp_path: Path) -> None:
    with refusing(spark, gate) as captured:
        stream = spark.readStream.schema("id BIGINT, name STRING").parquet(str(orders))
        writer = stream.writeStream.option("checkpointLocation", str(tmp_path / "cp")).trigger(availableNow=True)
        refused(lambda: writer.format("parquet").start(str(tmp_path / "out")), orders)
        refused(lambda: writer.toTable("made"), orders)
        assert spark.streams.active == []
        assert not (tmp_path / "cp").exists()
        assert not (tmp_path / "out").exists()
        assert captured.flushed().jobs() == {"job"}


@pytest.mark.nightly
def test_a_foreach_batch_function_is_not_held_up(
    spark: SparkSession, gate: PlayedGate, orders: Path, tmp_path: Path
) -> None:
    spark.range(3).write.parquet(str(tmp_path / "in"))

    def write(frame: DataFrame, _batch: int) -> None:
        frame.join(spark.read.parquet(str(orders)), "id").write.mode("append").parquet(str(tmp_path / "out"))

    with refusing(spark, gate):
        stream = spark.readStream.schema("id BIGINT").parquet(str(tmp_path / "in"))
        query = stream.writeStream.foreachBatch(write).option("checkpointLocation", str(tmp_path / "cp"))
        assert query.trigger(availableNow=True).start().awaitTermination(int(patience(100)))
        assert gate.asked == [folder(tmp_path / "in")], "once, at the start"
    assert spark.read.parquet(str(tmp_path / "out")).count() == 3


def test_it_is_off_by_default_and_after_the_capture(
    spark: SparkSession, gate: PlayedGate, orders: Path, tmp_path: Path
) -> None:
    frame = spark.read.parquet(str(orders))
    with refusing(spark, gate):
        refused(lambda: frame.write.parquet(str(tmp_path / "a")), orders)
    asked = len(gate.questions)
    frame.write.parquet(str(tmp_path / "b"))
    with attach(spark, sink=RecordingSink(), job_name="job", gate_url=gate.url):
        frame.write.parquet(str(tmp_path / "c"))
        spark.sql(f"INSERT OVERWRITE DIRECTORY '{tmp_path / 'd'}' USING json SELECT * FROM parquet.`{orders}`")
    assert len(gate.questions) == asked


def test_a_checkpointed_frame_is_known_by_its_origin(
    spark: SparkSession, gate: PlayedGate, orders: Path, tmp_path: Path
) -> None:
    with refusing(spark, gate) as captured:
        checkpointed = spark.read.parquet(str(orders)).localCheckpoint()
        captured.flushed()
        refused(lambda: checkpointed.write.parquet(str(tmp_path / "out")), orders)
        spark.createDataFrame([(1,)], "id INT").write.parquet(str(tmp_path / "rows"))


def test_the_frame_is_as_before(spark: SparkSession, gate: PlayedGate, tmp_path: Path) -> None:
    """A look at the partitions leaves no plan behind in the frame, so a later `cache` takes effect."""
    days = tmp_path / "days"
    spark.range(4).selectExpr("id", "id AS day").write.partitionBy("day").parquet(str(days))
    gate.hold(days, "day=3")
    with refusing(spark, gate):
        frame: Any = spark.read.parquet(str(days)).where("day = 1")
        frame.write.parquet(str(tmp_path / "out"))
        frame.cache()
        try:
            assert "InMemoryTableScan" in str(frame._jdf.queryExecution().executedPlan().toString())
        finally:
            frame.unpersist()
