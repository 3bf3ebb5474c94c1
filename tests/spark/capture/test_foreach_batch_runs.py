from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_schemas.events import Provenance, RunEventType, TransformationType
from support.capture import Captured
from support.micro_batches import run_over_files, three_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


pytestmark = pytest.mark.spark


@pytest.fixture
def run(captured: Captured, tmp_path: Path) -> Callable[[Callable[[DataFrame, int], None]], None]:
    """Runs a foreachBatch function over three micro-batches of 2, 4 and 6 rows."""
    three_files(tmp_path / "in")
    return partial(run_over_files, captured.spark, tmp_path / "in", tmp_path / "cp")


def outputs(captured: Captured) -> list[dict[str, int | None]]:
    entries = captured.flushed().entries("job.fb")
    assert [entry.batch_id for entry in entries] == [0, 1, 2]
    return [{use.dataset.name.rsplit("/", 1)[1]: use.rows for use in entry.outputs} for entry in entries]


def test_the_writes_inside_are_the_intervals_outputs(captured: Captured, tmp_path: Path, run: Any) -> None:
    def func(frame: DataFrame, batch_id: int) -> None:
        frame.write.mode("append").parquet(str(tmp_path / "rows"))
        frame.groupBy("k").count().write.mode("append").json(str(tmp_path / "counts"))

    run(func)
    assert outputs(captured) == [{"rows": 2 * n, "counts": 2} for n in (1, 2, 3)]
    sink = captured.sink
    assert sink.jobs() == {"job", "job.fb"}, "no runs of their own"
    assert sink.run_types("job.fb") == [RunEventType.START, RunEventType.RUNNING, RunEventType.COMPLETE]
    [plan] = [event.plan_event for event in sink.of_kind("PLAN") if event.plan_event]
    lineage = plan.lineage
    direct = {
        (lineage.datasets[edge.output].name.rsplit("/", 1)[1], edge.output_field, edge.input_field)
        for edge in lineage.edges
        if edge.type is TransformationType.DIRECT
        and edge.input is not None
        and lineage.datasets[edge.input].name == str(tmp_path / "in")
    }
    assert {("rows", "b", "a"), ("rows", "k", "k"), ("counts", "k", "k")} <= direct, "through to the stream's source"
    assert {entry.plan_digest for entry in sink.entries()} == {plan.digest}


@pytest.mark.nightly
def test_whatever_thread_or_session_writes(captured: Captured, tmp_path: Path, run: Any) -> None:
    def func(frame: DataFrame, batch_id: int) -> None:
        def beside() -> None:
            frame.where("b > 0").write.mode("append").parquet(str(tmp_path / "thread"))

        thread = threading.Thread(target=beside)
        thread.start()
        thread.join()
        # Through the main session, by a view of the frame; and rows that have nothing to do with the frame.
        frame.createOrReplaceTempView("batch")
        frame.sparkSession.sql("SELECT k FROM batch").write.mode("append").csv(str(tmp_path / "view"))
        frame.sparkSession.range(1).write.mode("append").json(str(tmp_path / "audit"))

    run(func)
    assert outputs(captured) == [{"thread": 2 * n, "view": 2 * n, "audit": 1} for n in (1, 2, 3)]
    assert captured.sink.jobs() == {"job", "job.fb"}


def test_a_cached_or_checkpointed_frame_is_still_the_batchs(captured: Captured, tmp_path: Path, run: Any) -> None:
    def func(frame: DataFrame, batch_id: int) -> None:
        frame.persist()
        frame.write.mode("append").parquet(str(tmp_path / "cached"))
        frame.localCheckpoint().write.mode("append").parquet(str(tmp_path / "checkpointed"))
        frame.unpersist()

    run(func)
    assert outputs(captured) == [{"cached": 2 * n, "checkpointed": 2 * n} for n in (1, 2, 3)]


def test_what_is_made_of_the_batchs_number_makes_no_new_plan(captured: Captured, tmp_path: Path, run: Any) -> None:
    def func(frame: DataFrame, batch_id: int) -> None:
        stamped = frame.withColumn("batch", F.lit(batch_id)).withColumn("name", F.lit(f"batch {batch_id} of 2024"))
        stamped.where(F.lit(batch_id + 3) > 1).write.mode("append").parquet(str(tmp_path / "stamped"))

    run(func)
    assert outputs(captured) == [{"stamped": 2 * n} for n in (1, 2, 3)]
    [plan] = [event.plan_event for event in captured.sink.of_kind("PLAN") if event.plan_event]
    texts = {expression.text for expression in plan.lineage.expressions}
    assert {"#", "'batch # of #'"} <= texts
    assert "(a + 1)" in texts, "what the stream itself computes is the same in each batch, and is emitted as it is"
    assert {entry.plan_digest for entry in captured.sink.entries()} == {plan.digest}


@pytest.mark.nightly
def test_an_rdd_of_the_batch_is_the_batchs_too(captured: Captured, tmp_path: Path, run: Any) -> None:
    def func(frame: DataFrame, batch_id: int) -> None:
        frame.foreachPartition(lambda rows: None)
        frame.rdd.map(lambda row: row.k).saveAsTextFile(str(tmp_path / f"text-{batch_id}"))

    run(func)
    assert outputs(captured) == [{f"text-{n}": None} for n in range(3)]
    assert captured.sink.jobs() == {"job", "job.fb"}, "no runs of their own"
    plans = [event.plan_event.lineage for event in captured.sink.of_kind("PLAN") if event.plan_event]
    assert {lineage.incomplete_reason for lineage in plans} == {"what code makes of an RDD's rows isn't known"}


@pytest.mark.nightly
def test_writes_to_one_dataset_add_up(captured: Captured, tmp_path: Path, run: Any) -> None:
    def func(frame: DataFrame, batch_id: int) -> None:
        for _ in range(2):
            frame.write.mode("append").parquet(str(tmp_path / "twice"))

    run(func)
    assert outputs(captured) == [{"twice": 4 * n} for n in (1, 2, 3)]


@pytest.mark.nightly
def test_what_code_does_with_its_own_rdds_is_the_batchs(captured: Captured, tmp_path: Path, run: Any) -> None:
    def func(frame: DataFrame, batch_id: int) -> None:
        rows = [row.k for row in frame.collect()]
        captured.spark.sparkContext.parallelize(rows).saveAsTextFile(str(tmp_path / f"text-{batch_id}"))

    run(func)
    assert outputs(captured) == [{f"text-{n}": None} for n in range(3)]
    assert captured.sink.jobs() == {"job", "job.fb"}, "no runs of their own"


def test_a_function_that_writes_nothing(captured: Captured, tmp_path: Path, run: Any) -> None:
    run(lambda frame, batch_id: frame.count())
    assert outputs(captured) == [{}, {}, {}]


def test_an_error_of_the_function_is_the_jobs_own(captured: Captured, tmp_path: Path, run: Any) -> None:
    def func(frame: DataFrame, batch_id: int) -> None:
        frame.write.mode("append").parquet(str(tmp_path / "rows"))
        if batch_id == 1:
            raise LookupError("not my day, token=hunter2")

    with pytest.raises(StreamingQueryException, match="not my day"):
        run(func)
    sink = captured.flushed()
    assert [entry.batch_id for entry in sink.entries("job.fb")] == [0], "batch 1 was never committed"
    failed = sink.last_run("job.fb")
    assert failed.type is RunEventType.FAIL
    assert failed.error is not None
    assert (failed.error.type, failed.error.message) == ("LookupError", "not my day, token=[redacted]")
    assert "hunter2" not in repr(sink.events)
    assert sink.jobs() == {"job", "job.fb"}


def test_what_was_written_before_it_failed_is_reported_and_the_next_start_emits_the_batch(
    captured: Captured, tmp_path: Path, run: Any
) -> None:
    failing = [0, 1]

    def func(frame: DataFrame, batch_id: int) -> None:
        frame.write.mode("append").parquet(str(tmp_path / f"rows-{batch_id}"))
        if batch_id in failing:
            failing.remove(batch_id)
            raise LookupError("not my day")
        frame.write.mode("append").json(str(tmp_path / "all"))

    for batch in (0, 1):
        with pytest.raises(StreamingQueryException, match="not my day"):
            run(func)
        failed = captured.flushed().last_run("job.fb")
        assert failed.type is RunEventType.FAIL
        [left] = json.loads(failed.run_facets["headwater_uncommitted"])["batches"]
        named = {"namespace": "file", "name": str(tmp_path / f"rows-{batch}"), "rows": 2 * batch + 2}
        assert left == {"batchId": batch, "outputs": [named]}
        assert named["name"] in {use.dataset.name for use in failed.outputs}
        assert failed.plan_digest in {e.plan_event.digest for e in captured.sink.of_kind("PLAN") if e.plan_event}
    run(func)
    # Once each, with what the start that committed it has written. The offsets, and so the ids, are the first try's.
    assert outputs(captured) == [{f"rows-{n}": 2 * n + 2, "all": 2 * n + 2} for n in range(3)]
    sink = captured.sink
    emitted = [event for event in sink.of_kind("INTERVAL") if event.interval_event]
    assert {event.interval_event.provenance for event in emitted if event.interval_event} == {Provenance.OBSERVED}
    assert len({event.event_id for event in emitted}) == 3
    starts = {event.run.run_id: event for event in sink.runs("job.fb") if event.run}
    assert [event.run.run_id for event in emitted if event.run] == [list(starts)[i] for i in (1, 2, 2)]
    last = sink.last_run("job.fb")
    assert last.type is RunEventType.COMPLETE
    assert "headwater_uncommitted" not in last.run_facets
    assert sink.jobs() == {"job", "job.fb"}
