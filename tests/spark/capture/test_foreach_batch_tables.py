"""foreachBatch as it is used with tables: upserts, several sessions and threads, guards against empty frames."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses
from pyspark.sql.window import Window

from headwater_producers.spark import attach
from headwater_schemas.events import (
    Certainty,
    ColumnLineage,
    DatasetUse,
    EmissionReason,
    TransformationKind,
    TransformationType,
)
from spark.sources.conftest import foremost, lake
from support.capture import FLUSH_SECONDS, Captured, RecordingSink
from support.micro_batches import run_over_files, three_files
from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


__all__ = ["lake"]

# A test that is cut off would leave its call to the JVM half made, and all others after it would fail too.
pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.fixture
def tables(lake: SparkSession, tmp_path: Path) -> Iterator[Captured]:
    """Delta tables `one`, `two` and `three` of `k` and `b`, in folders, made before capture begins."""
    for name in ("one", "two", "three"):
        lake.sql(f"CREATE TABLE delta.`{tmp_path / name}` (k STRING, b INT) USING delta")
    sink = RecordingSink()
    with (
        foremost(lake),
        attach(lake, sink=sink, job_name="job", capture_drain_timeout_seconds=FLUSH_SECONDS) as capture,
    ):
        yield Captured(lake, sink, capture)


@pytest.fixture
def run(tables: Captured, tmp_path: Path) -> Callable[[Callable[[DataFrame, int], None]], None]:
    three_files(tmp_path / "in")
    return partial(run_over_files, tables.spark, tmp_path / "in", tmp_path / "cp")


def outputs(captured: Captured) -> list[dict[str, DatasetUse]]:
    entries = captured.flushed().entries("job.fb")
    assert [entry.batch_id for entry in entries] == [0, 1, 2]
    return [{use.dataset.name.rsplit("/", 1)[1]: use for use in entry.outputs} for entry in entries]


def version(use: DatasetUse) -> str | None:
    snapshot = use.position.table_snapshot if use.position is not None else None
    return snapshot.snapshot_id if snapshot is not None else None


def lineages(captured: Captured) -> list[ColumnLineage]:
    return [event.plan_event.lineage for event in captured.sink.of_kind("PLAN") if event.plan_event]


def direct(lineage: ColumnLineage) -> set[tuple[str, str | None, str, str | None]]:
    """Output and field, input and field, of the edges between datasets."""
    names = [dataset.name.rsplit("/", 1)[-1] for dataset in lineage.datasets]
    return {
        (names[edge.output], edge.output_field, names[edge.input], edge.input_field)
        for edge in lineage.edges
        if edge.type is TransformationType.DIRECT and edge.input is not None
    }


def merge(session: SparkSession, path: Path, frame: DataFrame) -> None:
    """An upsert by Delta's own API, which has no SQL and no session but the table's."""
    jvm: Any = session._jvm
    table = jvm.io.delta.tables.DeltaTable.forPath(session._jsparkSession, str(path)).alias("t")
    matching = table.merge(frame._jdf.alias("s"), "t.k = s.k")
    matching.whenMatched().updateAll().whenNotMatched().insertAll().execute()


def newest(frame: DataFrame) -> DataFrame:
    by_key = Window.partitionBy("k").orderBy(F.col("b").desc())
    return frame.withColumn("n", F.row_number().over(by_key)).where("n = 1").drop("n")


@pytest.mark.nightly
def test_upserts_belong_to_their_batch_whichever_way_they_are_made(tables: Captured, tmp_path: Path, run: Any) -> None:
    outer = tables.spark

    def func(frame: DataFrame, batch_id: int) -> None:
        if frame.isEmpty() or frame.rdd.isEmpty() or frame.where("b > 2").isEmpty():
            return
        updates = newest(frame).persist()
        merge(outer, tmp_path / "one", updates)
        merge(outer, tmp_path / "two", frame.localCheckpoint().groupBy("k").agg(F.max("b").alias("b")))
        updates.createOrReplaceTempView("updates")
        jvm_frame: Any = frame._jdf
        jvm_frame.sparkSession().sql(
            f"MERGE INTO delta.`{tmp_path / 'three'}` t USING updates s ON t.k = s.k "
            "WHEN MATCHED THEN UPDATE SET t.b = s.b WHEN NOT MATCHED THEN INSERT *"
        )
        updates.unpersist()

    run(func)
    none, *written = outputs(tables)
    assert none == {}, "its frame had nothing for it"
    assert [set(batch) for batch in written] == [{"one", "two", "three"}] * 2
    assert [version(batch["two"]) for batch in written] == ["1", "2"]
    assert tables.sink.jobs() == {"job", "job.fb"}, "no runs of their own"
    [lineage] = lineages(tables)
    through = direct(lineage)
    for name in ("one", "two", "three"):
        assert {(name, "b", "in", "a"), (name, "k", "in", "k")} <= through, "to the stream's source"
    assert lineage.complete
    emitted = [event.interval_event for event in tables.sink.of_kind("INTERVAL") if event.interval_event]
    assert {event.reason for event in emitted} == {EmissionReason.CHECKPOINT}, "a batch without writes changes no plan"


@pytest.mark.nightly
def test_each_output_is_made_from_what_its_own_write_reads(tables: Captured, tmp_path: Path, run: Any) -> None:
    spark = tables.spark
    for name in ("codes", "rates"):
        spark.sql("SELECT 'k0' AS k, 1 AS rate").write.parquet(str(tmp_path / name))
    codes, rates = (spark.read.parquet(str(tmp_path / name)) for name in ("codes", "rates"))

    def func(frame: DataFrame, batch_id: int) -> None:
        def append(written: DataFrame, name: str) -> None:
            written.select("k", F.col("b").cast("int")).write.format("delta").mode("append").save(str(tmp_path / name))

        append(frame.join(codes, "k"), "one")
        append(frame.join(rates, "k"), "two")
        append(rates.withColumn("b", F.col("rate")), "three")

    run(func)
    expected = {"one": {"in", "codes"}, "two": {"in", "rates"}, "three": {"rates"}}
    for batch in outputs(tables):
        assert {name: listed(use) for name, use in batch.items()} == expected
    streaming = tables.sink.last_run("job.fb")
    assert {use.dataset.name.rsplit("/", 1)[1]: listed(use) for use in streaming.outputs} == expected
    assert {use.dataset.name.rsplit("/", 1)[1] for use in streaming.inputs} == {"in", "codes", "rates"}


def listed(use: DatasetUse) -> set[str]:
    assert use.inputs is not None
    return {dataset.name.rsplit("/", 1)[1] for dataset in use.inputs}


@pytest.mark.nightly
def test_writes_through_other_sessions_that_know_nothing_of_the_frame(
    tables: Captured, tmp_path: Path, run: Any
) -> None:
    outer, other = tables.spark, tables.spark.newSession()

    def func(frame: DataFrame, batch_id: int) -> None:
        # A round trip through Python, one through an RDD, and an audit trail.
        rows: Any = frame.toPandas()
        scored = rows.assign(b=(rows.b * 2).astype("int32"))[["k", "b"]]
        outer.createDataFrame(scored, "k STRING, b INT").write.format("delta").mode("append").save(
            str(tmp_path / "one")
        )
        other.createDataFrame(frame.rdd, frame.schema).write.mode("append").parquet(str(tmp_path / "rdd"))
        other.range(1).write.mode("append").json(str(tmp_path / "audit"))
        # It shuffles: its plan is one that adapts while it runs.
        other.range(3).groupBy().count().write.mode("append").json(str(tmp_path / "counted"))
        outer.sql(f"DELETE FROM delta.`{tmp_path / 'one'}` WHERE b > 10")
        for _ in range(2):
            # Idempotent, as Delta's documents have it: the second attempt writes nothing.
            once = frame.write.format("delta").mode("append").option("txnAppId", "fb").option("txnVersion", batch_id)
            once.save(str(tmp_path / "two"))

    run(func)
    assert [set(batch) for batch in outputs(tables)] == [{"one", "two", "rdd", "audit", "counted"}] * 3
    assert tables.sink.jobs() == {"job", "job.fb"}, "no runs of their own"
    assert outputs(tables)[2]["rdd"].rows == 6
    idempotent = [batch["two"] for batch in outputs(tables)]
    assert [(version(use), use.certainty, use.rows) for use in idempotent] == [
        (str(n), Certainty.EXACT, 2 * n) for n in (1, 2, 3)
    ]
    lineage = lineages(tables)[0]
    through = direct(lineage)
    assert {("one", "k", "in", None), ("one", "b", "in", None)} <= through, (
        "of the stream's source, some column or other"
    )
    assert {("rdd", "b", "in", "a"), ("rdd", "b", "in", "k")} <= through, "code has been at its rows"
    assert not lineage.complete, "what the program handed over may come from elsewhere too"
    place = {dataset.name.rsplit("/", 1)[-1]: index for index, dataset in enumerate(lineage.datasets)}
    kinds = {edge.kind for edge in lineage.edges if edge.output == place["one"] and edge.input == place["in"]}
    assert TransformationKind.EXTERNAL in kinds
    assert TransformationKind.COPY not in kinds


@pytest.mark.nightly
def test_what_runs_beside_a_batch_is_none_of_it(tables: Captured, tmp_path: Path, run: Any) -> None:
    outer = tables.spark
    inside, beside = threading.Event(), threading.Event()

    def make(frame: DataFrame, name: str) -> None:
        # A thread of its own has an active session of its own.
        with foremost(outer):
            frame.write.format("delta").mode("append").option("path", str(tmp_path / name)).saveAsTable(name)

    def func(frame: DataFrame, batch_id: int) -> None:
        inside.set()
        assert beside.wait(patience(120))
        updates = newest(frame)
        with ThreadPoolExecutor(3) as threads:
            # Two tables at once, and two more that are made in the first batch.
            jobs = [threads.submit(merge, outer, tmp_path / name, updates) for name in ("one", "two")]
            jobs += [threads.submit(make, frame, name) for name in ("made_one", "made_two")]
            for job in jobs:
                job.result(patience(120))

    def other() -> None:
        assert inside.wait(patience(120))
        outer.range(3).write.mode("append").json(str(tmp_path / "elsewhere"))
        outer.createDataFrame([("k9", 9)], "k STRING, b INT").write.format("delta").mode("append").save(
            str(tmp_path / "three")
        )
        beside.set()

    thread = threading.Thread(target=other)
    thread.start()
    try:
        run(func)
    finally:
        beside.set()
        thread.join(patience(120))
        for name in ("made_one", "made_two"):
            outer.sql(f"DROP TABLE IF EXISTS {name}")
    assert [set(batch) for batch in outputs(tables)] == [{"one", "two", "made_one", "made_two"}] * 3
    assert [batch["made_one"].rows for batch in outputs(tables)] == [2, 4, 6]
    assert [batch["made_two"].rows for batch in outputs(tables)] == [2, 4, 6]
    assert tables.sink.jobs() == {"job", "job.fb", "job.elsewhere", "job.three"}
