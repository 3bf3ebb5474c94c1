"""Overwrites: those of everything that was there, and those of one of its partitions or rows."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_producers.spark.execution import describe
from headwater_producers.spark.jvm.versions import jvm_sessions
from headwater_producers.spark.plan import WriteMode
from headwater_schemas.events import Certainty, LineageEvent
from spark.sources.cases import Step, sql
from spark.sources.watching import Watched, short
from support.capture import files_of
from support.gate import named_in_gate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession


pytestmark = pytest.mark.spark

MODE = "spark.sql.sources.partitionOverwriteMode"
WHERE = "city = 'm1'"


@pytest.fixture(scope="module")
def folder(watched: Watched, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With `files`, `delta-files`, `delta-two` in it, and the tables `cut`, `delta_cut`: all partitioned by city."""
    folder = tmp_path_factory.mktemp("overwrites")
    writer(watched.spark).parquet(str(folder / "files"))
    writer(watched.spark).format("delta").save(str(folder / "delta-files"))
    two = watched.spark.sql("SELECT * FROM VALUES (1, 'm1'), (2, 'm2') AS v(id, city)").coalesce(1)
    two.write.partitionBy("city").format("delta").save(str(folder / "delta-two"))
    for table, provider in (("cut", "parquet"), ("delta_cut", "delta")):
        watched.spark.sql(f"CREATE TABLE {table} (id INT, city STRING) USING {provider} PARTITIONED BY (city)")
    watched.new_events()
    return folder


def rows(spark: SparkSession) -> DataFrame:
    return spark.sql("SELECT 1 AS id, 'm1' AS city").coalesce(1)


def writer(spark: SparkSession) -> DataFrameWriter:
    return rows(spark).write.mode("overwrite").partitionBy("city")


def with_session(step: Step) -> Step:
    """Under the session's own setting, which is unset as soon as the write has been made."""

    def run(spark: SparkSession, folder: Path) -> None:
        spark.conf.set(MODE, "dynamic")
        try:
            step(spark, folder)
        finally:
            spark.conf.unset(MODE)

    return run


ALL: dict[str, Step] = {
    "files": lambda s, f: writer(s).parquet(str(f / "files")),
    "cut": sql("INSERT OVERWRITE cut SELECT 2, 'm1'"),
    "delta-files": lambda s, f: writer(s).format("delta").save(str(f / "delta-files")),
    "delta_cut": sql("INSERT OVERWRITE delta_cut SELECT 2, 'm1'"),
}
SOME: dict[str, tuple[str, Step]] = {
    "a static partition": ("cut", sql("INSERT OVERWRITE cut PARTITION (city = 'm1') SELECT 2")),
    "a partition's folder": ("files", lambda s, f: rows(s).write.mode("overwrite").json(str(f / "files" / "city=m1"))),
    "the writer's option": (
        "files",
        lambda s, f: writer(s).option("partitionOverwriteMode", "dynamic").json(str(f / "files")),
    ),
    "the session, by the writer": ("files", with_session(lambda s, f: writer(s).json(str(f / "files")))),
    "the session, by SQL": ("cut", with_session(sql("INSERT OVERWRITE cut SELECT 2, 'm1'"))),
    "Delta, replaceWhere": (
        "delta-files",
        lambda s, f: writer(s).format("delta").option("replaceWhere", WHERE).save(str(f / "delta-files")),
    ),
    "Delta, replaceWhere of a table": (
        "delta_cut",
        lambda s, _: writer(s).format("delta").option("replaceWhere", WHERE).saveAsTable("delta_cut"),
    ),
    "Delta, the writer's option, a table": (
        "delta_cut",
        lambda s, _: writer(s).format("delta").option("partitionOverwriteMode", "dynamic").saveAsTable("delta_cut"),
    ),
    "Delta, a static partition": ("delta_cut", sql("INSERT OVERWRITE delta_cut PARTITION (city = 'm1') SELECT 2")),
    "Delta, the session, by the writer": (
        "delta-two",
        with_session(lambda s, f: writer(s).format("delta").save(str(f / "delta-two"))),
    ),
    "Delta, the session, by SQL": ("delta_cut", with_session(sql("INSERT OVERWRITE delta_cut SELECT 2, 'm1'"))),
}


IN_GATE = {
    "a static partition",
    "a partition's folder",
    "the writer's option",
    "the session, by SQL",
    "Delta, replaceWhere",
    "Delta, the session, by the writer",
}
"""Each way to choose partitions once. The nightly run has the others."""


@pytest.mark.parametrize("name", named_in_gate({"cut", "delta_cut"}, ALL, str))
def test_all_that_was_there_is_gone(watched: Watched, folder: Path, name: str) -> None:
    ALL[name](watched.spark, folder)
    assert emitted(watched.new_events()) == [(name, "OVERWRITE")]


@pytest.mark.parametrize("title", named_in_gate(IN_GATE, SOME, str))
def test_other_partitions_stay(watched: Watched, folder: Path, title: str) -> None:
    name, step = SOME[title]
    try:
        step(watched.spark, folder)
    finally:
        # What Spark refuses is emitted as a run that failed, which is no concern of the next test.
        new_events = watched.new_events()
    assert emitted(new_events) == [(name, None)]
    assert partitions(new_events, "headwater_partitions") == ["city=m1"]
    assert [e.dataset_event.lifecycle for e in new_events if e.dataset_event and e.dataset_event.lifecycle] == []


@pytest.mark.nightly
def test_partitions_that_a_condition_empties_in_part(watched: Watched, folder: Path) -> None:
    """Rows that it leaves of a partition are there still: no partition counts as overwritten."""
    where = "city = 'm1' AND id > 0"
    writer(watched.spark).format("delta").option("replaceWhere", where).save(str(folder / "delta-files"))
    assert partitions(watched.new_events(), "headwater_partitions") is None


@pytest.mark.nightly
def test_the_partitions_that_a_query_reads(watched: Watched, folder: Path, subtests: pytest.Subtests) -> None:
    """By the files that its scans chose; of what a subquery reads besides, nothing is claimed."""
    spark = watched.spark
    days = spark.sql("SELECT * FROM VALUES (1, 24), (2, 25), (3, 26) AS v(id, day)").repartition("day")
    for name, format_ in (("days", "parquet"), ("delta-days", "delta")):
        days.write.partitionBy("day").format(format_).save(str(folder / name))
        spark.read.format(format_).load(str(folder / name)).createOrReplaceTempView(f"read_{name.replace('-', '_')}")
    days.write.partitionBy("day").saveAsTable("days_table")
    watched.new_events()
    cases = [
        ("days_table", "SELECT id FROM days_table WHERE day = 26", ["day=26"], 1),
        (
            "days",
            "SELECT id FROM read_days WHERE day = 24 UNION ALL SELECT id FROM read_days WHERE day > 25",
            ["day=24", "day=26"],
            2,
        ),
        ("days", "SELECT id FROM read_days WHERE id = 3", ["day=24", "day=25", "day=26"], 3),
        ("days", "SELECT id FROM read_days WHERE day = 26 AND id > (SELECT avg(id) FROM read_days)", None, 3),
        ("delta-days", "SELECT id FROM read_delta_days WHERE day = 26", ["day=26"], None),
    ]
    for name, query, expected, files in cases:
        with subtests.test(query=query):
            spark.sql(query).write.mode("overwrite").parquet(str(folder / "out"))
            events = watched.new_events()
            assert partitions(events, "subset", read=True) == expected
            [end] = [e.run_event for e in events if e.run_event is not None and e.run_event.type.is_terminal]
            [use] = end.inputs
            assert short(use.dataset.name) == name
            if files is not None:
                assert (files_of(use.position).count, len(files_of(use.position).paths)) == (files, files)
                assert use.certainty is (Certainty.EXACT if expected else Certainty.UPPER_BOUND)


def test_a_look_at_a_running_write_settles_nothing(watched: Watched, folder: Path) -> None:
    """A command reads the session's overwrite mode when it is first asked for it, on whichever thread that is."""
    spark = watched.spark
    jvm: Any = spark._jvm
    state = spark._jsparkSession.sessionState()
    jvm_sessions(jvm).setActiveSession(spark._jsparkSession)  # as on the thread that runs a query of it
    spark.conf.set(MODE, "dynamic")
    try:
        plan = state.sqlParser().parsePlan("INSERT OVERWRITE cut SELECT 2, 'm1'")
        execution = state.executePlan(plan, jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP())
        command = execution.executedPlan().cmd()
        with ThreadPoolExecutor(1) as worker:
            description = worker.submit(describe, execution, session=spark, is_running=True).result()
        assert [output.mode for output in description.outputs] == [WriteMode.OVERWRITE_PARTITIONS]
        assert command.dynamicPartitionOverwrite()
    finally:
        spark.conf.unset(MODE)
    watched.new_events()


def partitions(events: list[LineageEvent], facet: str, *, read: bool = False) -> list[str] | None:
    """Partitions that the only input or output of the only run has in a facet; None without one."""
    [end] = [e.run_event for e in events if e.run_event is not None and e.run_event.type.is_terminal]
    [use] = end.inputs if read else end.outputs
    found = json.loads(use.facets.get(facet, "{}"))
    if facet == "headwater_partitions":
        overwritten: list[str] | None = found["overwritten"]
        return overwritten
    named = found.get("inputCondition", {}).get("partitions")
    return None if named is None else [each["identifier"] for each in named]


def emitted(events: list[LineageEvent]) -> list[tuple[str, str | None]]:
    """Each output of each run's end: its name, and what the run says becomes of it."""
    ends = [e.run_event for e in events if e.run_event is not None and e.run_event.type.is_terminal]
    found = []
    for use in (use for end in ends for use in end.outputs):
        facet = json.loads(use.facets.get("lifecycleStateChange", "{}"))
        found.append((short(use.dataset.name), facet.get("lifecycleStateChange")))
    return found
