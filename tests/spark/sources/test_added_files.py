"""The files of a table's version: those that the write has added, batch or stream, as they lie there."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater_schemas.events import DatasetUse
from headwater_schemas.facets import ADDED_FILES_FACET, AddedFiles, added_files
from spark.sources.watching import Watched

pytestmark = pytest.mark.spark


def written(watched: Watched) -> AddedFiles | None:
    """Files that the one write since the last question has added."""
    uses: list[DatasetUse] = []
    for event in watched.new_events():
        uses += event.run_event.outputs if event.run_event else ()
        uses += [use for entry in event.interval_event.entries for use in entry.outputs] if event.interval_event else ()
    [text] = {use.facets.get(ADDED_FILES_FACET) for use in uses if use.position is not None}
    return added_files(text)


def data_files(folder: Path) -> list[str]:
    return sorted(f"file:{path}" for path in folder.rglob("*.parquet") if "_delta_log" not in path.parts)


def test_files_of_delta(watched: Watched, tmp_path: Path) -> None:
    spark, table, source = watched.spark, tmp_path / "table", tmp_path / "source"
    frame = spark.sql("SELECT id, concat('Å ', id) AS city FROM range(0, 2, 1, 1)")
    frame.write.format("delta").partitionBy("city").save(str(table))
    first = data_files(table)
    assert written(watched) == AddedFiles(2, tuple(first))
    frame.write.parquet(str(source))
    watched.new_events()
    streamed = spark.readStream.schema(frame.schema).parquet(str(source)).writeStream.format("delta")
    query = streamed.partitionBy("city").option("checkpointLocation", str(tmp_path / "cp")).trigger(availableNow=True)
    query.start(str(table)).awaitTermination()
    assert written(watched) == AddedFiles(2, tuple(each for each in data_files(table) if each not in first))


def test_files_of_iceberg(watched: Watched, tmp_path: Path) -> None:
    """A batch write, a streaming query, and a procedure that rewrites both."""
    spark = watched.spark
    spark.sql("CREATE TABLE ice.db.added (id BIGINT) USING iceberg")
    watched.new_events()
    known: set[str] = set()

    def new() -> AddedFiles:
        files = {row[0] for row in spark.sql("SELECT file_path FROM ice.db.added.files").collect()} - known
        known.update(files)
        return AddedFiles(len(files), tuple(sorted(files)))

    spark.sql("INSERT INTO ice.db.added SELECT id FROM range(0, 2, 1, 1)")
    assert written(watched) == new()
    source = str(tmp_path / "source")
    spark.range(2).write.parquet(source)
    watched.new_events()
    streamed = spark.readStream.schema("id BIGINT").parquet(source).writeStream.format("iceberg")
    query = streamed.option("checkpointLocation", str(tmp_path / "cp")).trigger(availableNow=True)
    query.toTable("ice.db.added").awaitTermination()
    assert written(watched) == new()
    spark.sql(
        "CALL ice.system.rewrite_data_files(table => 'db.added', options => map('rewrite-all', 'true'))"
    ).collect()
    assert written(watched) == new()
    spark.sql("DROP TABLE ice.db.added")
