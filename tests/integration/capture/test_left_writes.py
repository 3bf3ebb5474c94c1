"""A driver is killed in the midst of its batch writes and started again; the graph is the one that was derived by hand.

The first driver, job `daily`, has a MERGE that fails, a day of a backfill that is done, and three writes in flight:

    orders     an append to a Delta table, which commits just before the kill: nobody has reported it
    report     an overwrite of a folder of Parquet files, held in its only task: what was there is deleted
    days       the second day of the backfill, into a Delta table, held too: nothing of it is committed

The second driver, of the same job, does the second day again, and the third.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater_graph.write import GraphWriter
from support.left_writes import END, History, Left, graph_of, killed_and_restarted, shown
from support.stack import StackUnderTest

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.nightly, pytest.mark.spark, pytest.mark.stack]

BEGIN = """
def day(number, frame):
    rows = frame.withColumn("day", F.lit(number))
    rows.write.format("delta").mode("overwrite").option("replaceWhere", f"day = {number}").save(f"{folder}/days")
"""

FIRST = """
source = spark.range(3)
source.write.parquet(f"{folder}/in")
source.write.format("delta").save(f"{folder}/orders")
source.write.parquet(f"{folder}/report")
spark.range(0).withColumn("day", F.lit(0)).write.format("delta").save(f"{folder}/days")
day(1, spark.range(2))
try:
    spark.sql(
        f"MERGE INTO delta.`{folder}/orders` t USING parquet.`{folder}/in` s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET id = CAST(raise_error('no such order') AS BIGINT)"
    )
except Exception as error:
    assert "no such order" in str(error), error
else:
    raise AssertionError("the MERGE was to fail")
assert capture.flush(600)

read = spark.read.parquet(f"{folder}/in")
waiting = read.withColumn("id", held("orders-gate"))
in_flight = [
    lambda: waiting.write.format("delta").mode("append").save(f"{folder}/orders"),
    lambda: read.withColumn("id", held("never")).write.mode("overwrite").parquet(f"{folder}/report"),
    lambda: day(2, read.withColumn("id", held("never"))),
]
"""

SECOND = """
for number in (2, 3):
    day(number, spark.read.parquet(f"{folder}/in"))
"""

LEFT = Left(
    format="delta",
    conf={
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    },
    begin=BEGIN,
    first=FIRST,
    second=SECOND,
    jobs=frozenset({"daily.orders", "daily.report", "daily.days"}),
    gate="orders-gate",
    committed=f"orders/_delta_log/{1:020d}.json",
)


@pytest.fixture(scope="module")
def history(stack: StackUnderTest, tmp_path_factory: pytest.TempPathFactory) -> History:
    return killed_and_restarted(LEFT, stack, tmp_path_factory.mktemp("daily"))


@pytest.mark.timeout(900)
def test_a_hanging_write_is_open_and_no_flow(clean_database: Driver, writer: GraphWriter, history: History) -> None:
    found = graph_of(clean_database, writer, history.hanging)
    # A write with replaceWhere reads its table, too.
    for job, inputs in (("daily.orders", ["in"]), ("daily.days", ["days", "in"]), ("daily.report", ["in"])):
        run = found.runs(job)[-1]
        assert shown(run, *END) == ("RUNNING", None, None, True), job
        assert found.names("CONSUMED", run["key"]) == inputs
        assert found.names("PRODUCED", run["key"]) == []
        assert found.names("USED", run["key"]) == [], "no plan: no column has flowed"
    # What is there is of the writes before.
    assert [shown(run, *END) for run in found.runs("daily.report")[:-1]] == [("COMPLETE", None, "PUBLISHED", None)]
    [application] = found.runs("daily")
    assert shown(application, *END) == ("RUNNING", None, None, True)


@pytest.mark.timeout(900)
def test_a_killed_driver_s_commit_completes_its_run(
    clean_database: Driver, writer: GraphWriter, history: History
) -> None:
    """Nobody reported the append to `orders`; its commit names the application's run."""
    found = graph_of(clean_database, writer, history.events)
    created, merge, appended = found.runs("daily.orders")
    assert shown(created, *END) == ("COMPLETE", None, "PUBLISHED", None)
    assert shown(merge, "state") == ("FAIL",)
    assert shown(appended, *END) == ("COMPLETE", "RECONCILED", "PUBLISHED", None)
    assert found.names("CONSUMED", appended["key"]) == ["in"]
    [produced] = found.related("PRODUCED", appended["key"])
    properties = produced["properties"]
    assert {name: properties.get(name) for name in ("format", "snapshot_id", "parent_id", "operation")} == {
        "format": "delta",
        "snapshot_id": "1",
        "parent_id": "0",
        "operation": "WRITE",
    }
    assert (properties["certainty"], properties["rows"]) == ("INFERRED", 3)
    assert [found.nodes[r["end"]]["version"] for r in found.related("WROTE", appended["key"])] == ["1"]
    assert found.names("WRITES", found.job("daily.orders")) == ["orders"]
    # The plan was kept with the write: orders.id is made of in.id.
    [plan] = [r["end"] for r in found.related("USED", appended["key"])]
    derived = [r for r in found.relationships if r["type"] == "DERIVES" and r["properties"]["plan"] == plan]
    assert {(found.nodes[r["start"]]["name"], found.nodes[r["end"]]["name"]) for r in derived} == {("id", "id")}
    first, second = found.runs("daily")
    assert shown(first, "state", "provenance", "open") == ("ABORT", "RECONCILED", None)
    assert shown(second, "state", "provenance", "open") == ("COMPLETE", None, None)


@pytest.mark.timeout(900)
def test_a_half_written_overwrite_ends_unknown(clean_database: Driver, writer: GraphWriter, history: History) -> None:
    """Files bear nobody's name: what was there is gone, and nothing shows whether anything is there instead."""
    assert not list((history.folder / "report").glob("part-*")), "the overwrite had deleted what was there"
    found = graph_of(clean_database, writer, history.events)
    before, overwrite = found.runs("daily.report")
    assert shown(before, *END) == ("COMPLETE", None, "PUBLISHED", None)
    assert shown(overwrite, *END) == ("ABORT", "RECONCILED", None, None)
    assert "headwater_unknownOutputs" in overwrite["facet_names"]
    assert found.names("CONSUMED", overwrite["key"]) == ["in"]
    assert found.names("PRODUCED", overwrite["key"]) == found.names("USED", overwrite["key"]) == []
    # So no rows of `in` have flowed into `report`: the only write that is known had made them itself.
    assert found.names("READS", found.job("daily.report")) == ["in"]
    job = found.job("daily.report")
    assert [r for r in found.relationships if r["type"] == "FEEDS" and r["properties"]["job"] == job] == []
    assert found.names("WRITES", job) == ["report"]


@pytest.mark.timeout(900)
def test_a_failed_merge_is_no_flow(clean_database: Driver, writer: GraphWriter, history: History) -> None:
    found = graph_of(clean_database, writer, history.events)
    merge = found.runs("daily.orders")[1]
    assert shown(merge, *END) == ("FAIL", None, None, None)
    assert "no such order" in merge["error_message"]
    [attempted] = found.related("PRODUCED", merge["key"])
    assert attempted["properties"].get("uncommitted") is True
    assert "snapshot_id" not in attempted["properties"]
    assert found.names("USED", merge["key"]) == []
    assert found.related("WROTE", merge["key"]) == []


@pytest.mark.timeout(900)
def test_a_restarted_backfill(clean_database: Driver, writer: GraphWriter, history: History) -> None:
    """Day 2 was begun twice: the first time nothing was committed, which the table's log shows."""
    found = graph_of(clean_database, writer, history.events)
    runs = found.runs("daily.days")
    assert [shown(run, *END) for run in runs] == [
        ("COMPLETE", None, "PUBLISHED", None),  # the empty table
        ("COMPLETE", None, "PUBLISHED", None),  # day 1
        ("ABORT", "RECONCILED", "UNPUBLISHED", None),  # day 2, killed
        ("COMPLETE", None, "PUBLISHED", None),  # day 2 again
        ("COMPLETE", None, "PUBLISHED", None),  # day 3
    ]
    versions = [[r["properties"]["snapshot_id"] for r in found.related("PRODUCED", run["key"])] for run in runs]
    assert versions == [["0"], ["1"], [], ["2"], ["3"]], "one version for each that has committed, and none twice"
    assert {run.get("campaign") for run in runs} == {"backfill 2013"}
    assert len({run["parent_run_id"] for run in runs[:3]}) == len({run["parent_run_id"] for run in runs[3:]}) == 1
    assert runs[2]["parent_run_id"] != runs[3]["parent_run_id"]
