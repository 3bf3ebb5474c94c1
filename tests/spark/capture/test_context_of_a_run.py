"""Context of a run from Spark itself: the SQL statement, rejected rows, the user; comments as descriptions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_producers.spark import attach
from headwater_schemas.events import DatasetEvent
from support.capture import FLUSH_SECONDS, Captured, RecordingSink

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def with_sql(spark: SparkSession) -> Iterator[Captured]:
    sink = RecordingSink()
    options: dict[str, Any] = {"capture_drain_timeout_seconds": FLUSH_SECONDS, "capture_sql": True}
    with attach(spark, sink=sink, job_name="job", job_campaign="backfill-7", **options) as capture:
        yield Captured(spark, sink, capture)


def statement(captured: Captured, job: str) -> str | None:
    context = captured.flushed().last_run(job).context
    assert context is not None
    assert (context.user, context.campaign) == (captured.spark.sparkContext.sparkUser(), "backfill-7")
    return context.statement


def test_a_run_has_its_statement_without_credentials(with_sql: Captured, tmp_path: Path) -> None:
    spark, folder = with_sql.spark, tmp_path / "out"
    text = f"INSERT OVERWRITE DIRECTORY '{folder}' USING parquet SELECT 1 AS id, 'password=hunter2' AS note"
    spark.sql(text)
    found = statement(with_sql, "job.out")
    assert found is not None
    assert found.startswith("INSERT OVERWRITE DIRECTORY")
    assert "hunter2" not in found


def test_a_frame_that_is_written_has_the_statement_of_its_query(with_sql: Captured, tmp_path: Path) -> None:
    with_sql.spark.sql("SELECT 1 AS id").write.parquet(str(tmp_path / "queried"))
    assert statement(with_sql, "job.queried") == "SELECT 1 AS id"
    with_sql.spark.range(1).write.parquet(str(tmp_path / "plain"))
    assert statement(with_sql, "job.plain") is None


def test_no_statement_unless_it_is_asked_for(captured: Captured, tmp_path: Path) -> None:
    captured.spark.sql("SELECT 1 AS id").write.parquet(str(tmp_path / "quiet"))
    context = captured.flushed().last_run("job.quiet").context
    assert context is not None
    assert context.statement is None


def test_rows_that_a_query_observed_as_rejected(captured: Captured, tmp_path: Path) -> None:
    rejected = F.count_if(F.col("id") >= 7).alias("rows_rejected")
    captured.spark.range(10).observe("bad", rejected).where("id < 7").write.parquet(str(tmp_path / "kept"))
    assert captured.flushed().last_run("job.kept").rows_rejected == 3
    captured.spark.range(1).write.parquet(str(tmp_path / "all"))
    assert captured.flushed().last_run("job.all").rows_rejected is None


def test_comments_of_a_table_and_its_columns_are_descriptions(captured: Captured) -> None:
    spark = captured.spark
    spark.sql(
        "CREATE TABLE commented (id INT COMMENT 'the flight', s STRUCT<a: INT COMMENT 'inside', b: INT>) USING parquet "
        "COMMENT 'flights of a day'"
    )
    try:
        made = _last_of(captured, "commented")
        assert made.description == "flights of a day"
        assert made.schema is not None
        assert {field.path: field.description for field in made.schema.fields} == {
            "id": "the flight",
            "s": None,
            "s.a": "inside",
            "s.b": None,
        }
        spark.sql("COMMENT ON TABLE commented IS 'of a night'")
        assert _last_of(captured, "commented").description == "of a night"
        spark.sql("COMMENT ON TABLE commented IS NULL")
        assert _last_of(captured, "commented").description == ""
    finally:
        spark.sql("DROP TABLE commented")


def _last_of(captured: Captured, name: str) -> DatasetEvent:
    found = [event.dataset_event for event in captured.flushed().of_kind("DATASET")]
    return [each for each in found if each is not None and name in each.dataset.name][-1]
