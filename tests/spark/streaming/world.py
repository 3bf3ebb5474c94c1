"""World of the cases of streaming sources and sinks: a session, a broker, a folder; and one query's run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from headwater_producers.spark import Capture
from support.capture import FLUSH_SECONDS, RecordingSink
from support.spark_versions import where_spark_can
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery


@dataclass
class World:
    """One case's place: topics, folders and tables under names that no other case uses."""

    spark: SparkSession
    brokers: str
    prefix: str
    folder: Path
    capture: Capture
    sink: RecordingSink
    _files: int = 0
    _admin: Any = field(default=None, repr=False)

    def flush(self) -> None:
        assert self.capture.flush(FLUSH_SECONDS)
        status = self.capture.status()
        assert (status.failed, status.dropped, status.publish_failed) == (0, 0, 0), status.last_error

    @property
    def admin(self) -> AdminClient:
        self._admin = self._admin or AdminClient({"bootstrap.servers": self.brokers, "log_level": 2})
        found: AdminClient = self._admin
        return found

    def topic(self, name: str) -> str:
        return f"{self.prefix}-{name}"

    def make_topic(self, name: str, partitions: int = 1) -> None:
        [made] = self.admin.create_topics([NewTopic(self.topic(name), partitions, 1)]).values()
        made.result(patience(30))
        # The controller has made it; the broker may not know of it yet.
        eventually(
            lambda: (
                self.admin.list_topics(self.topic(name), timeout=patience(30)).topics[self.topic(name)].error is None
            ),
            60,
            expecting="the broker knows the topic",
        )

    def grow_topic(self, name: str, partitions: int) -> None:
        [grown] = self.admin.create_partitions([NewPartitions(self.topic(name), partitions)]).values()
        grown.result(patience(30))

    def delete_topic(self, name: str) -> None:
        [deleted] = self.admin.delete_topics([self.topic(name)], operation_timeout=patience(30)).values()
        deleted.result()

    def put(self, name: str, *counts: int) -> None:
        """So many records into each partition."""
        producer = Producer({"bootstrap.servers": self.brokers, "log_level": 2})
        for partition, count in enumerate(counts):
            for number in range(count):
                producer.produce(self.topic(name), value=str(number), partition=partition)
        assert producer.flush(patience(30)) == 0

    def kafka(self, **options: Any) -> DataFrame:
        reader = self.spark.readStream.format("kafka").option("kafka.bootstrap.servers", self.brokers)
        frame: DataFrame = reader.options(startingOffsets="earliest", **options).load()
        return frame

    def drop(self, rows: int = 2, folder: str = "in", text: str = "x") -> None:
        """A file of rows into a folder; the source takes one a micro-batch, in this order."""
        self._files += 1
        place = self.folder / folder
        place.mkdir(exist_ok=True)
        part = place / f".{self._files}"
        part.write_text("".join(json.dumps({"a": n, "b": text}) + "\n" for n in range(rows)), encoding="utf-8")
        os.utime(part, (1_700_000_000 + self._files,) * 2)
        part.rename(place / f"{self._files}.json")

    def files(self, folder: str = "in") -> DataFrame:
        (self.folder / folder).mkdir(exist_ok=True)
        reader = self.spark.readStream.schema("a INT, b STRING").option("maxFilesPerTrigger", 1)
        frame: DataFrame = reader.json(str(self.folder / folder))
        return frame

    def table(self, name: str) -> str:
        return re.sub(r"\W", "_", f"{self.prefix}_{name}")


Act = Callable[[World], Any]


@dataclass(frozen=True)
class Case:
    """A query, and what happens before each of its starts; or, where it is `live`, while it runs.

    Attributes:
        title: as the page has it.
        query: makes its writer.
        feeds: in order.
        live: started once, before anything is there; each feed is processed before the next.
        prepare: before the first start.
        trigger: of each start.
        sources: what a person would have to tell `headwater reconcile` of its sources.
        again: whether it is started again from its checkpoint: some sinks can't be, and each start of Python's sources
            takes a Python of its own, which Spark gives ten seconds.
    """

    title: str
    query: Callable[[World], DataStreamWriter]
    feeds: tuple[Act, ...]
    live: bool = False
    prepare: Act = lambda _: None
    trigger: dict[str, Any] = field(default_factory=lambda: {"availableNow": True})
    sources: Callable[[World], dict[int, str]] = lambda _: {}
    again: bool = True

    @property
    def has_log(self) -> bool:
        """True when its sink, if it reports its writes, does so in a log of its own."""
        return "Kafka" not in self.title and "foreach" not in self.title

    def start(self, world: World) -> StreamingQuery:
        writer = self.query(world).option("checkpointLocation", str(world.folder / "cp"))
        if not self.live:
            writer = writer.trigger(**self.trigger)
        query: StreamingQuery = writer.start()
        return query

    def run(self, world: World) -> str:
        """Returns: Spark's id of the query."""
        self.prepare(world)
        found = self._live(world) if self.live else {self._once(feed, world) for feed in self.feeds}.pop()
        world.flush()
        return found

    def _live(self, world: World) -> str:
        query = self.start(world)
        try:
            query.processAllAvailable()
            for feed in self.feeds:
                world.flush()
                feed(world)
                query.processAllAvailable()
        finally:
            query.stop()
        return str(query.id)

    def _once(self, feed: Act, world: World) -> str:
        feed(world)
        query = self.start(world)
        assert query.awaitTermination(int(patience(120)))
        return str(query.id)


def register_python_sources(world: World) -> None:
    """Spark 3.5 has none, and no module for them."""
    with where_spark_can():
        from spark.streaming import python_source

    python_source.register(world.spark)
