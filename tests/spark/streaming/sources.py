"""The streaming sources that docs/sources-and-sinks.md lists, each in a query to `noop`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from spark.streaming.world import Case, World, register_python_sources

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def noop(frame: DataFrame) -> DataStreamWriter:
    return frame.writeStream.format("noop")


def do(*acts: Any) -> Any:
    def run(world: World) -> None:
        for act in acts:
            act(world)

    return run


def sql(*statements: str) -> Any:
    """`{t}` is the case's own table."""

    def run(world: World) -> None:
        for statement in statements:
            world.spark.sql(statement.format(t=world.table("t")))

    return run


def _stream_of(world: World, table: str, **options: Any) -> DataFrame:
    frame: DataFrame = world.spark.readStream.options(**options).table(table)
    return frame


def _rows(count: int) -> str:
    return "SELECT /*+ REPARTITION(" + str(count) + ") */ CAST(id AS INT) AS id FROM range(" + str(count) + ")"


def _rate(world: World) -> DataStreamWriter:
    return noop(world.spark.readStream.format("rate").option("rowsPerSecond", 1_000).load())


def _rate_batches(world: World) -> DataStreamWriter:
    source = world.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 3)
    return noop(source.option("startTimestamp", 1_700_000_000_000).load())


def _six(world: World) -> DataStreamWriter:
    frame = world.files("in0")
    for number in range(1, 6):
        frame = frame.union(world.files(f"in{number}"))
    return noop(frame)


def _joined(world: World) -> DataStreamWriter:
    left = world.kafka(subscribe=world.topic("left")).select(F.col("value").cast("string").cast("int").alias("id"))
    return noop(left.join(_stream_of(world, world.table("t")), "id"))


def _twice(world: World) -> DataStreamWriter:
    frame = world.files()
    return noop(frame.union(frame))


def _assigned(world: World) -> DataStreamWriter:
    return noop(world.kafka(assign=json.dumps({world.topic("in"): [0, 2]})))


SOURCES = (
    Case(
        "Kafka, `subscribe` to two topics; a partition that is new",
        lambda w: noop(w.kafka(subscribe=f"{w.topic('a')},{w.topic('b')}")),
        (
            do(lambda w: w.put("a", 2, 1), lambda w: w.put("b", 1)),
            do(lambda w: w.grow_topic("a", 3), lambda w: w.put("a", 0, 1, 2)),
        ),
        prepare=do(lambda w: w.make_topic("a", 2), lambda w: w.make_topic("b")),
    ),
    Case(
        "Kafka, `subscribePattern`; a topic that comes later",
        lambda w: noop(w.kafka(subscribePattern=f"{w.prefix}-p.*")),
        (
            do(lambda w: w.make_topic("p1"), lambda w: w.put("p1", 2)),
            do(lambda w: w.make_topic("p2"), lambda w: w.put("p2", 3)),
        ),
    ),
    Case(
        "Kafka, `assign` of two partitions out of three",
        _assigned,
        (lambda w: w.put("in", 2, 9, 1), lambda w: w.put("in", 1)),
        prepare=lambda w: w.make_topic("in", 3),
    ),
    Case(
        "Kafka, a topic that vanishes (`failOnDataLoss=false`)",
        lambda w: noop(w.kafka(subscribePattern=f"{w.prefix}-v.*", failOnDataLoss="false")),
        (
            do(lambda w: w.put("v1", 2), lambda w: w.put("v2", 1)),
            do(lambda w: w.delete_topic("v2"), lambda w: w.put("v1", 1)),
        ),
        prepare=do(lambda w: w.make_topic("v1"), lambda w: w.make_topic("v2")),
    ),
    Case(
        "files, one a micro-batch",
        lambda w: noop(w.files()),
        (do(lambda w: w.drop(2), lambda w: w.drop(3)), lambda w: w.drop(1)),
    ),
    Case(
        "Delta: the table as it is, then its versions",
        lambda w: noop(_stream_of(w, w.table("t"))),
        (
            sql("INSERT INTO {t} VALUES (1)"),
            sql("INSERT INTO {t} VALUES (2)", "INSERT INTO {t} VALUES (3)"),
        ),
        prepare=sql("CREATE TABLE {t} (id INT) USING delta"),
    ),
    Case(
        "Delta, `maxFilesPerTrigger`: parts of a version",
        lambda w: noop(_stream_of(w, w.table("t"), maxFilesPerTrigger=2)),
        (sql("INSERT INTO {t} " + _rows(3)), sql("INSERT INTO {t} " + _rows(3))),
        prepare=sql("CREATE TABLE {t} (id INT) USING delta"),
    ),
    Case(
        "Delta, `startingVersion=2`",
        lambda w: noop(_stream_of(w, w.table("t"), startingVersion=2)),
        (sql("INSERT INTO {t} VALUES (3)"), sql("INSERT INTO {t} VALUES (4)")),
        prepare=sql(
            "CREATE TABLE {t} (id INT) USING delta", "INSERT INTO {t} VALUES (1)", "INSERT INTO {t} VALUES (2)"
        ),
    ),
    Case(
        "Iceberg, its snapshots",
        lambda w: noop(_stream_of(w, f"ice.db.{w.table('t')}")),
        (
            sql("INSERT INTO ice.db.{t} VALUES (1)"),
            sql("INSERT INTO ice.db.{t} VALUES (2)", "INSERT INTO ice.db.{t} VALUES (3)"),
        ),
        prepare=sql("CREATE TABLE ice.db.{t} (id INT) USING iceberg"),
    ),
    Case(
        "Iceberg, `streaming-max-files-per-micro-batch`: parts of a snapshot",
        lambda w: noop(_stream_of(w, f"ice.db.{w.table('t')}", **{"streaming-max-files-per-micro-batch": 2})),
        (sql("INSERT INTO ice.db.{t} " + _rows(3)), sql("INSERT INTO ice.db.{t} " + _rows(1))),
        prepare=sql("CREATE TABLE ice.db.{t} (id INT) USING iceberg"),
        live=True,
    ),
    Case("rate-micro-batch", _rate_batches, (lambda _: None, lambda _: None)),
    Case(
        "a Python data source, `streamReader`",
        lambda w: noop(w.spark.readStream.format("counting").option("rows", 5).load()),
        (lambda _: None,),
        prepare=register_python_sources,
        again=False,
    ),
    Case(
        "a Python data source, `simpleStreamReader`",
        lambda w: noop(w.spark.readStream.format("simple_counting").option("rows", 5).load()),
        (lambda _: None,),
        prepare=register_python_sources,
        again=False,
    ),
    Case(
        "Kafka joined with Delta",
        _joined,
        (
            do(lambda w: w.put("left", 2), sql("INSERT INTO {t} VALUES (1)")),
            lambda w: w.put("left", 1),
            sql("INSERT INTO {t} VALUES (2)"),
        ),
        prepare=do(lambda w: w.make_topic("left"), sql("CREATE TABLE {t} (id INT) USING delta")),
    ),
    Case(
        "six folders, united",
        _six,
        (
            do(*(lambda w, n=n: w.drop(n + 1, f"in{n}") for n in range(6))),
            do(lambda w: w.drop(7, "in4"), lambda w: w.drop(8, "in1")),
        ),
    ),
    Case("one folder, united with itself", _twice, (lambda w: w.drop(2), lambda w: w.drop(1))),
)
