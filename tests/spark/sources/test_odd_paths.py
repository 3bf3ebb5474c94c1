"""Paths with `[`, `{`, `*`, `?` and spaces: writers take them literally, readers escaped, and both name one dataset."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_schemas.events import DatasetRef, DatasetUse, LineageEvent
from spark.sources.watching import Watched
from support.gate import named_in_gate
from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("active_lake")]

ODD = "a [1]{b,c}*?"
# Spark makes no V1 table where a reader would see a glob. What a catalog percent-encodes is odd enough.
ODD_TABLE = "a b%20c"


def rows(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT id, 'x' AS name FROM VALUES (1), (2) AS v(id)").coalesce(1)


def streamed(spark: SparkSession, path: str, provider: str) -> None:
    source = f"{path}-source"
    rows(spark).write.parquet(source)
    frame = spark.readStream.schema("id INT, name STRING").parquet(escaped(source))
    writer = frame.writeStream.format(provider).option("checkpointLocation", f"{path}-checkpoint")
    query = writer.trigger(availableNow=True).start(path)
    assert query.awaitTermination(int(patience(60)))


def as_text(spark: SparkSession, path: str) -> None:
    spark.sparkContext.parallelize(["1"], 1).saveAsTextFile(path)


def escaped(path: str) -> str:
    r"""Spelling of a path for a reader: `/a\[1\]`."""
    return re.sub(r"([\[\]{}*?,\\])", r"\\\1", path)


def read_text(spark: SparkSession, path: str) -> None:
    # Of the two parties it is Hadoop's that splits at commas, an escaped one or not: that name is without.
    spark.sparkContext.textFile(escaped(path)).saveAsTextFile(f"{path}-copy")


def read_as(provider: str) -> Callable[[SparkSession, str], None]:
    def read(spark: SparkSession, path: str) -> None:
        # Delta's reader takes a path literally, too.
        given = path if provider == "delta" else escaped(path)
        spark.read.format(provider).load(given).write.mode("overwrite").format("noop").save()

    return read


def save(provider: str) -> Callable[[SparkSession, str], None]:
    return lambda spark, path: rows(spark).write.format(provider).save(path)


def save_as_table(table: str, provider: str) -> Callable[[SparkSession, str], None]:
    return lambda spark, path: rows(spark).write.format(provider).option("path", path).saveAsTable(table)


def statement(text: str) -> Callable[[SparkSession, str], None]:
    def run(spark: SparkSession, path: str) -> None:
        rows(spark).createOrReplaceTempView("odd_rows")
        spark.sql(text.format(path=path))

    return run


CASES: dict[str, tuple[Callable[[SparkSession, str], Any], str]] = {
    # how it is written: and its format
    "save": (save("csv"), "csv"),
    "save delta": (save("delta"), "delta"),
    "saveAsTable": (save_as_table("odd_saved", "parquet"), "parquet"),
    "saveAsTable delta": (save_as_table("odd_saved_delta", "delta"), "delta"),
    "CTAS": (statement("CREATE TABLE odd_ctas USING orc LOCATION '{path}' AS SELECT * FROM odd_rows"), "orc"),
    "CTAS delta": (
        statement("CREATE TABLE odd_ctas_delta USING delta LOCATION '{path}' AS SELECT * FROM odd_rows"),
        "delta",
    ),
    "DIRECTORY": (statement("INSERT OVERWRITE DIRECTORY '{path}' USING json SELECT * FROM odd_rows"), "json"),
    "stream": (lambda spark, path: streamed(spark, path, "parquet"), "parquet"),
    "stream delta": (lambda spark, path: streamed(spark, path, "delta"), "delta"),
    # As it stands in the sink's name: the others are completed by Spark.
    "stream delta, relative": (lambda spark, path: streamed(spark, os.path.relpath(path), "delta"), "delta"),
    "RDD": (as_text, "text"),
}
V1_TABLES = {"saveAsTable", "CTAS"}


@pytest.mark.parametrize("case", named_in_gate({"save", "saveAsTable delta", "stream", "RDD"}, CASES, str))
def test_writer_and_reader_of_an_odd_path_name_one_dataset(watched: Watched, tmp_path: Path, case: str) -> None:
    write, provider = CASES[case]
    path = str(tmp_path / (ODD_TABLE if case in V1_TABLES else ODD))
    dataset = DatasetRef("file", path)

    write(watched.spark, path)
    assert [use.dataset for use in last_uses(watched.new_events(), "outputs")] == [dataset]

    read_as(provider)(watched.spark, path)
    assert [use.dataset for use in last_uses(watched.new_events(), "inputs")] == [dataset]


def test_an_insert_and_a_table_scan_name_what_lies_there(watched: Watched, tmp_path: Path) -> None:
    path = str(tmp_path / ODD_TABLE)
    watched.spark.sql(f"CREATE TABLE odd_inserted (id INT) USING parquet LOCATION '{path}'")
    watched.spark.sql("INSERT INTO odd_inserted VALUES (1)")
    watched.spark.table("odd_inserted").write.format("noop").mode("overwrite").save()
    new_events = watched.new_events()
    ends = [e.run_event for e in new_events if e.run_event is not None and e.run_event.type.is_terminal]
    inserted, scanned = ends[-2:]
    assert [use.dataset for use in inserted.outputs] == [use.dataset for use in scanned.inputs]
    assert inserted.outputs[0].dataset == DatasetRef("file", path)


def test_a_stream_and_an_rdd_of_an_escaped_path_read_what_was_written(watched: Watched, tmp_path: Path) -> None:
    path = str(tmp_path / ODD)
    as_text(watched.spark, path)
    watched.new_events()
    read_text(watched.spark, path)
    # What the application has read before follows, as possible inputs.
    assert last_uses(watched.new_events(), "inputs")[0].dataset == DatasetRef("file", path)

    frame = watched.spark.readStream.text(escaped(path))
    query = frame.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "c")).start()
    query.processAllAvailable()
    query.stop()
    entries = [each for e in watched.new_events() if e.interval_event is not None for each in e.interval_event.entries]
    assert {use.dataset for entry in entries for use in entry.inputs} == {DatasetRef("file", path)}


def last_uses(events: list[LineageEvent], of: str) -> list[DatasetUse]:
    """Inputs or outputs of the last run that ended, or of the last micro-batch."""
    found: list[Any] = [e.run_event for e in events if e.run_event is not None and e.run_event.type.is_terminal]
    found = [each for each in found if getattr(each, of)] or [
        each for e in events if e.interval_event is not None for each in e.interval_event.entries
    ]
    return list(getattr(found[-1], of))
