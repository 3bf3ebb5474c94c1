"""`mode("ignore")` and IF NOT EXISTS: the first write is emitted, the second writes nothing and emits nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark.events.batch import NOTHING_WRITTEN
from headwater_schemas.events import PublicationState, RunEventType
from spark.gates import Gate
from spark.sources.cases import sql
from spark.sources.watching import Watched, run_lines, short
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from pyspark.sql import DataFrameWriter, SparkSession


pytestmark = pytest.mark.spark


def ignoring(spark: SparkSession) -> DataFrameWriter:
    # No rows at all: that there is something afterwards is what counts.
    return spark.sql("SELECT 1 AS id WHERE false").coalesce(1).write.mode("ignore")


# Derby comes with Spark.
JDBC, DERBY = "jdbc:derby:memory:ignored;create=true", "org.apache.derby.jdbc.EmbeddedDriver"
TABLE = "CREATE TABLE IF NOT EXISTS ignored_partition (id INT, day STRING) USING parquet PARTITIONED BY (day)"
INTO = "INSERT OVERWRITE ignored_partition PARTITION (day = '1') IF NOT EXISTS SELECT 1"

WRITES: dict[str, Callable[[SparkSession, Path], object]] = {
    "ignored-files": lambda s, f: ignoring(s).parquet(str(f / "ignored-files")),
    "ignored_table": lambda s, _: ignoring(s).format("parquet").saveAsTable("ignored_table"),
    "ignored_sql": lambda s, _: s.sql("CREATE TABLE IF NOT EXISTS ignored_sql USING parquet AS SELECT 1 AS id"),
    "ignored-delta": lambda s, f: ignoring(s).format("delta").save(str(f / "ignored-delta")),
    "ignored_delta_table": lambda s, _: ignoring(s).format("delta").saveAsTable("ignored_delta_table"),
    "ignored_jdbc": lambda s, _: ignoring(s).jdbc(JDBC, "ignored_jdbc", properties={"driver": DERBY}),
    "ignored_partition": lambda s, _: s.sql(INTO),
    "ignored_iceberg": sql(
        "CREATE NAMESPACE IF NOT EXISTS ice.db",
        "CREATE TABLE IF NOT EXISTS ice.db.ignored_iceberg USING iceberg AS SELECT 1 AS id",
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_only_the_first_is_emitted(watched: Watched, tmp_path: Path, name: str) -> None:
    watched.spark.sql(TABLE)
    watched.new_events()
    WRITES[name](watched.spark, tmp_path)
    first = watched.new_events()
    assert [line.split()[:2] for line in run_lines(first)] == [["wrote", name]]
    WRITES[name](watched.spark, tmp_path)
    second = watched.new_events()
    assert run_lines(second) == []
    assert [short(e.dataset_event.dataset.name) for e in second if e.dataset_event is not None] == []


@pytest.mark.nightly
@pytest.mark.usefixtures("announced_writes")
def test_one_that_was_announced_ends_as_a_run_that_wrote_nothing(watched: Watched, tmp_path: Path) -> None:
    """OPTIMIZE of partitions that aren't there: it takes as long as its condition, and finds nothing to do."""
    spark, sink, gate = watched.spark, watched.sink, Gate(tmp_path / "gate")
    spark.sql("CREATE TABLE slowly_left_alone (id INT, day STRING) USING delta PARTITIONED BY (day)")
    spark.sql("INSERT INTO slowly_left_alone VALUES (1, 'monday')")
    watched.new_events()
    spark.udf.register("held", gate.function())
    before = len(sink.events)
    writing = threading.Thread(target=lambda: spark.sql("OPTIMIZE slowly_left_alone WHERE held(day) = 'sunday'"))
    writing.start()
    try:
        eventually(
            lambda: any(e.run_event and e.run_event.type is RunEventType.START for e in sink.events[before:]),
            60,
            expecting="START of the OPTIMIZE",
        )
    finally:
        gate.open()
        writing.join(patience(60))
        assert not writing.is_alive()
    found = watched.new_events()
    assert run_lines(found) == [], "as if it had not been announced"
    runs = [(event.run.run_id, event.run_event) for event in found if event.run and event.run_event]
    assert len({run_id for run_id, _ in runs}) == 1
    _, end = runs[-1]
    assert (end.type, end.publication) == (RunEventType.COMPLETE, PublicationState.UNPUBLISHED)
    assert json.loads(end.run_facets[NOTHING_WRITTEN])["reason"] == "the command found nothing to write"
