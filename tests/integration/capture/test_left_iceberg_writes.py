"""A driver is killed in the midst of its writes to Iceberg tables and started again; the graph was derived by hand.

The catalog is one of Hadoop's, whose metadata files show by themselves which snapshot is current. Of job `daily` are in
flight when it is killed:

    orders     an append, which commits just before the kill: nobody has reported it
    days       an overwrite of the second day's partition, held in its only task: nothing of it is committed

The second driver, of the same job, does the second day again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headwater_graph.write import GraphWriter
from support.left_writes import END, History, Left, graph_of, killed_and_restarted, shown
from support.stack import StackUnderTest

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.nightly, pytest.mark.spark, pytest.mark.stack, pytest.mark.timeout(900)]

BEGIN = """
def day(number, frame):
    frame.withColumn("day", F.lit(number)).writeTo("ice.shop.days").overwritePartitions()
"""

FIRST = """
spark.range(3).write.parquet(f"{folder}/in")
spark.range(3).writeTo("ice.shop.orders").create()
spark.range(2).withColumn("day", F.lit(1)).writeTo("ice.shop.days").partitionedBy(F.col("day")).create()
assert capture.flush(600)

read = spark.read.parquet(f"{folder}/in")
in_flight = [
    lambda: read.withColumn("id", held("orders-gate")).writeTo("ice.shop.orders").append(),
    lambda: day(2, read.withColumn("id", held("never"))),
]
"""

SECOND = """
day(2, spark.read.parquet(f"{folder}/in"))
"""

LEFT = Left(
    format="iceberg",
    conf={
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": "{folder}/ice",
    },
    begin=BEGIN,
    first=FIRST,
    second=SECOND,
    jobs=frozenset({"daily.orders", "daily.days"}),
    gate="orders-gate",
    committed="ice/shop/orders/metadata/v2.metadata.json",
)


@pytest.fixture(scope="module")
def history(stack: StackUnderTest, tmp_path_factory: pytest.TempPathFactory) -> History:
    return killed_and_restarted(LEFT, stack, tmp_path_factory.mktemp("daily"))


def snapshots(history: History, table: str, version: int) -> list[tuple[str, str | None]]:
    """Ids of each snapshot of a table's metadata file and of its parent, in the order in which they were made."""
    path = history.folder / "ice" / "shop" / table / "metadata" / f"v{version}.metadata.json"
    found = json.loads(path.read_text(encoding="utf-8"))["snapshots"]
    ids = {each["snapshot-id"]: str(each["snapshot-id"]) for each in found}
    return [(ids[each["snapshot-id"]], ids.get(each.get("parent-snapshot-id"))) for each in found]


def test_a_killed_driver_s_snapshot_completes_its_run(
    clean_database: Driver, writer: GraphWriter, history: History
) -> None:
    """Nobody reported the append to `orders`; its snapshot names the application and its run."""
    hanging = graph_of(clean_database, writer, history.hanging)
    in_flight = hanging.runs("daily.orders")[-1]
    assert shown(in_flight, *END) == ("RUNNING", None, None, True)
    assert hanging.names("PRODUCED", in_flight["key"]) == []
    found = graph_of(clean_database, writer, history.events)
    created, appended = found.runs("daily.orders")
    assert shown(created, *END) == ("COMPLETE", None, "PUBLISHED", None)
    assert shown(appended, *END) == ("COMPLETE", "RECONCILED", "PUBLISHED", None)
    assert appended["key"] == in_flight["key"]
    assert found.names("CONSUMED", appended["key"]) == ["in"]
    (first, _), (second, parent) = snapshots(history, "orders", 2)
    assert parent == first
    [produced] = found.related("PRODUCED", appended["key"])
    properties = produced["properties"]
    assert {name: properties.get(name) for name in ("format", "snapshot_id", "parent_id", "operation")} == {
        "format": "iceberg",
        "snapshot_id": second,
        "parent_id": first,
        "operation": "append",
    }
    assert (properties["certainty"], properties["rows"]) == ("INFERRED", 3)
    # The plan was kept with the write: orders.id is made of in.id.
    [plan] = [r["end"] for r in found.related("USED", appended["key"])]
    derived = [r for r in found.relationships if r["type"] == "DERIVES" and r["properties"]["plan"] == plan]
    assert {(found.nodes[r["start"]]["name"], found.nodes[r["end"]]["name"]) for r in derived} == {("id", "id")}


def test_a_write_without_a_snapshot_ends_as_nothing_written(
    clean_database: Driver, writer: GraphWriter, history: History
) -> None:
    """Day 2 was begun twice: the first time nothing was committed, which the table's metadata show."""
    found = graph_of(clean_database, writer, history.events)
    runs = found.runs("daily.days")
    assert [shown(run, *END) for run in runs] == [
        ("COMPLETE", None, "PUBLISHED", None),  # day 1
        ("ABORT", "RECONCILED", "UNPUBLISHED", None),  # day 2, killed
        ("COMPLETE", None, "PUBLISHED", None),  # day 2 again
    ]
    (first, _), (second, _) = snapshots(history, "days", 2)
    made = [[r["properties"]["snapshot_id"] for r in found.related("PRODUCED", run["key"])] for run in runs]
    assert made == [[first], [], [second]]
    before, after = found.runs("daily")
    assert shown(before, "state", "provenance", "open") == ("ABORT", "RECONCILED", None)
    assert shown(after, "state", "provenance", "open") == ("COMPLETE", None, None)
