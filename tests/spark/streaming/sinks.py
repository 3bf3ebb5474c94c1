"""The streaming sinks that docs/sources-and-sinks.md lists, each fed with files, one a micro-batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from spark.streaming.sources import do, sql
from spark.streaming.world import Case, World, register_python_sources

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

TWO = (lambda w: w.drop(2), lambda w: w.drop(3))


def _kafka(world: World, topic: str | None = "out", frame: DataFrame | None = None) -> DataStreamWriter:
    rows = world.files().select(F.col("b").alias("value")) if frame is None else frame
    writer = rows.writeStream.format("kafka").option("kafka.bootstrap.servers", world.brokers)
    return writer.option("topic", world.topic(topic)) if topic is not None else writer


def _by_column(world: World) -> DataStreamWriter:
    topic = F.when(F.col("a") % 2 == 0, world.topic("even")).otherwise(world.topic("odd"))
    return _kafka(world, None, world.files().select(topic.alias("topic"), F.col("b").alias("value")))


def _by_data(world: World) -> DataStreamWriter:
    return _kafka(world, None, world.files().select(F.col("b").alias("topic"), F.col("b").alias("value")))


def _counts(world: World) -> DataFrame:
    return world.files().groupBy("b").count()


def _to(world: World, kind: str, **options: Any) -> DataStreamWriter:
    return world.files().writeStream.format(kind).options(**options)


def _both(world: World) -> DataStreamWriter:
    delta, plain = str(world.folder / "delta"), str(world.folder / "plain")

    def write(frame: DataFrame, _batch: int) -> None:
        frame.write.format("delta").mode("append").save(delta)
        frame.select("a").write.mode("append").parquet(plain)

    return world.files().writeStream.foreachBatch(write)


def _foreach(world: World) -> DataStreamWriter:
    return world.files().writeStream.foreach(lambda _row: None)


class ToTable(Case):
    """A query that ends in `toTable`."""

    def start(self, world: World) -> Any:
        writer = self.query(world).option("checkpointLocation", str(world.folder / "cp"))
        name = world.table("t")
        return writer.trigger(**self.trigger).toTable(f"ice.db.{name}" if "Iceberg" in self.title else name)


SINKS = (
    Case("Kafka, one topic", _kafka, TWO, live=True, prepare=lambda w: w.make_topic("out", 1)),
    Case(
        "Kafka, another writer of the topic",
        _kafka,
        (do(lambda w: w.put("out", 1), lambda w: w.drop(2)), lambda w: w.drop(3)),
        live=True,
        prepare=lambda w: w.make_topic("out", 1),
    ),
    Case(
        "Kafka, the topic by a column of known values",
        _by_column,
        TWO,
        live=True,
        prepare=do(lambda w: w.make_topic("even"), lambda w: w.make_topic("odd")),
    ),
    Case(
        "Kafka, the topic by a column of the data",
        _by_data,
        (lambda w: w.drop(2, text=w.topic("out")),),
        live=True,
        prepare=lambda w: w.make_topic("out"),
    ),
    Case("parquet files", lambda w: _to(w, "parquet", path=str(w.folder / "out")), TWO),
    Case(
        "json files, partitioned",
        lambda w: _to(w, "json", path=str(w.folder / "out")).partitionBy("b"),
        (lambda w: w.drop(2), lambda w: w.drop(3, text="y")),
    ),
    ToTable("a table of parquet files, `toTable`", lambda w: w.files().writeStream.format("parquet"), TWO),
    Case("Delta, a path", lambda w: _to(w, "delta", path=str(w.folder / "out")), TWO),
    ToTable(
        "Delta, `toTable`, with others that write to it",
        lambda w: w.files().writeStream.format("delta"),
        (lambda w: w.drop(2), do(sql("INSERT INTO {t} VALUES (1, 'x')"), lambda w: w.drop(3))),
        prepare=sql("CREATE TABLE {t} (a INT, b STRING) USING delta"),
    ),
    Case(
        "Delta, output mode complete",
        lambda w: _counts(w).writeStream.format("delta").outputMode("complete").option("path", str(w.folder / "out")),
        TWO,
    ),
    ToTable(
        "Iceberg, `toTable`, with others that write to it",
        lambda w: w.files().writeStream.format("iceberg"),
        (lambda w: w.drop(2), do(sql("INSERT INTO ice.db.{t} VALUES (1, 'x')"), lambda w: w.drop(3))),
        prepare=sql("CREATE TABLE ice.db.{t} (a INT, b STRING) USING iceberg"),
    ),
    Case("foreachBatch, a Delta table and files", _both, TWO),
    Case("foreach", _foreach, TWO),
    Case("memory", lambda w: _to(w, "memory").queryName(w.table("q")), TWO, live=True, again=False),
    Case("console", lambda w: _to(w, "console"), TWO, live=True, again=False),
    Case("noop", lambda w: _to(w, "noop"), TWO),
    Case(
        "a Python data source, `streamWriter`",
        lambda w: w.files().select(F.col("a").alias("n")).writeStream.format("counting").option("rows", 0),
        TWO,
        prepare=register_python_sources,
    ),
)
