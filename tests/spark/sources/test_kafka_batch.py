"""Batch reads and writes of Kafka, on a real broker."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient, NewTopic

from headwater_producers.spark import attach
from headwater_producers.spark.connectors.kafka import observed_topics, topic_states
from headwater_producers.spark.connectors.kafka.clusters import KafkaClusters
from headwater_producers.spark.execution import describe
from headwater_producers.spark.plan import PlanSettings
from headwater_schemas.events import Certainty, DatasetUse, KafkaRanges, OffsetRange
from support.capture import Captured, RecordingSink
from support.stack import StackUnderTest
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytestmark = [pytest.mark.spark, pytest.mark.stack, pytest.mark.timeout(400)]


@pytest.fixture
def topic(stack: StackUnderTest, topic_prefix: str) -> str:
    """A topic of two partitions, which isn't made yet."""
    return f"{topic_prefix}-letters"


def make(stack: StackUnderTest, topic: str, partitions: int = 2) -> str:
    """Makes a topic, anew where it is there; its id as another client has it."""
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    if topic in admin.list_topics(timeout=patience(30)).topics:
        admin.delete_topics([topic], operation_timeout=patience(30))[topic].result()
        eventually(
            lambda: topic not in admin.list_topics(timeout=patience(30)).topics, 60, expecting="the topic is gone"
        )
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result()
    ids: list[str] = []

    def is_known() -> bool:
        try:
            ids.append(str(admin.describe_topics(TopicCollection([topic]))[topic].result().topic_id))
        except KafkaException:  # made, and not known yet
            return False
        return True

    eventually(is_known, 60, expecting="the new topic is known")
    return ids[-1]


def kafka_of(use: DatasetUse) -> KafkaRanges:
    assert use.position is not None
    assert use.position.kafka is not None
    return use.position.kafka


def test_batch_runs_emit_the_offsets_that_they_came_to(
    spark: SparkSession, stack: StackUnderTest, topic: str, tmp_path: Path
) -> None:
    topic_id = make(stack, topic)
    kafka = {"kafka.bootstrap.servers": stack.bootstrap_servers}
    rows = spark.sql("SELECT CAST(id AS STRING) AS value, CAST(id % 2 AS INT) AS partition FROM range(5)")
    sink = RecordingSink()
    with patient(), attach(spark, sink=sink, job_name="job", capture_topic_wait_seconds=30.0) as capture:
        captured = Captured(spark, sink, capture)
        rows.write.format("kafka").options(**kafka, topic=topic).save()
        captured.flushed()
        [first] = sink.last_run(f"job.{topic}").outputs
        rows.write.save(format="kafka", mode="append", topic=topic, **kafka)
        captured.flushed()
        [second] = sink.last_run(f"job.{topic}").outputs
        reader = spark.read.format("kafka").options(**kafka, subscribe=topic)
        reader.load().select("value").write.parquet(str(tmp_path / "whole"))
        captured.flushed()
        bounds = {
            "startingOffsets": json.dumps({topic: {"0": 1, "1": 0}}),
            "endingOffsets": json.dumps({topic: {"0": 3, "1": 2}}),
        }
        reader.options(**bounds).load().select("value").write.parquet(str(tmp_path / "part"))
        captured.flushed()
        later = {"startingOffsets": json.dumps({topic: {"0": 5, "1": -2}}), "endingOffsets": "latest"}
        reader.options(**later).load().select("value").write.parquet(str(tmp_path / "later"))
        captured.flushed()

    [whole], [part], [some] = (sink.last_run(f"job.{name}").inputs for name in ("whole", "part", "later"))
    assert {use.dataset.name for use in (first, second, whole, part, some)} == {topic}
    assert {kafka_of(use).topic_id for use in (first, second, whole, part, some)} == {topic_id}
    assert (kafka_of(first).ranges, first.certainty) == (ranges((0, 3), (0, 2)), Certainty.UPPER_BOUND)
    assert (kafka_of(second).ranges, second.certainty) == (ranges((3, 6), (2, 4)), Certainty.UPPER_BOUND)
    assert (kafka_of(whole).ranges, whole.certainty, whole.rows) == (ranges((0, 6), (0, 4)), Certainty.EXACT, 10)
    assert (kafka_of(part).ranges, part.certainty, part.rows) == (ranges((1, 3), (0, 2)), Certainty.EXACT, 4)
    assert (kafka_of(some).ranges, some.certainty, some.rows) == (ranges((0, 6), (0, 4)), Certainty.UPPER_BOUND, 5)


@pytest.mark.nightly
def test_a_topic_that_is_made_anew_has_another_id_and_offsets_of_its_own(
    spark: SparkSession, stack: StackUnderTest, topic: str, tmp_path: Path
) -> None:
    kafka = {"kafka.bootstrap.servers": stack.bootstrap_servers}
    sink = RecordingSink()
    found = []
    with patient(), attach(spark, sink=sink, job_name="job", capture_topic_wait_seconds=30.0) as capture:
        captured = Captured(spark, sink, capture)
        for count in (7, 2):
            topic_id = make(stack, topic, 1)
            rows = spark.sql(f"SELECT CAST(id AS STRING) AS value FROM range({count})")
            rows.write.format("kafka").options(**kafka, topic=topic).save()
            stream = spark.readStream.format("kafka").options(
                **kafka, subscribe=topic, startingOffsets="earliest", failOnDataLoss="false", maxOffsetsPerTrigger=1
            )
            query = (
                stream.load()
                .writeStream.format("parquet")
                .trigger(availableNow=True)
                .start(str(tmp_path / str(count)), checkpointLocation=str(tmp_path / f"cp{count}"))
            )
            assert query.awaitTermination(int(patience(120)))
            captured.flushed()
            found.append((topic_id, kafka_of(sink.last_run(f"job.{topic}").outputs[0])))
    (first, wrote_first), (second, wrote_second) = found
    assert first != second
    assert wrote_first == KafkaRanges(topic, ranges((0, 7)), first)
    assert wrote_second == KafkaRanges(topic, ranges((0, 2)), second), "not 7..2, nor 7..9"
    entries = [entry for event in sink.of_kind("INTERVAL") if (body := event.interval_event) for entry in body.entries]
    read = [(kafka_of(use).topic_id, kafka_of(use).ranges) for entry in entries for use in entry.inputs]
    assert len(read) == 9
    known = [each for each in read if each[0] is not None]
    assert len(known) >= 7, "all but the first of a query, which may begin before its topic is asked for"
    assert known == [
        (topic_id, ranges((number, number + 1)))
        for topic_id, count in ((first, 7), (second, 2))
        for number in range(count)
        if (topic_id, ranges((number, number + 1))) in known
    ]


def ranges(*spans: tuple[int, int]) -> tuple[OffsetRange, ...]:
    return tuple(OffsetRange(partition, *span) for partition, span in enumerate(spans))


@contextlib.contextmanager
def patient() -> Iterator[None]:
    """A busy machine's broker may take its time to answer; which offsets are known is the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topic_states, "TIMEOUT_SECONDS", 30.0)
        patch.setattr(observed_topics, "_SOON", timedelta(seconds=60))
        yield


def test_two_ways_to_a_cluster_have_its_id_in_common(
    spark: SparkSession, stack: StackUnderTest, topic_prefix: str
) -> None:
    by_number, topic = stack.bootstrap_servers, f"{topic_prefix}-t"
    admin = AdminClient({"bootstrap.servers": by_number, "log_level": 2})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    assert by_number.startswith("127.0.0.1:")
    by_name = by_number.replace("127.0.0.1", "localhost")
    rows = spark.sql("SELECT 'x' AS value")
    sink = RecordingSink()
    with attach(spark, sink=sink, job_name="job", kafka_cluster_names={by_name: "declared"}) as capture:
        for servers in (by_number, by_name, f"{by_number},{by_name}"):
            rows.write.format("kafka").options(**{"kafka.bootstrap.servers": servers}, topic=topic).save()
        Captured(spark, sink, capture).flushed()

    emitted = {
        event.dataset_event.dataset.namespace: event.dataset_event.symlinks
        for event in sink.events
        if event.dataset_event is not None
    }
    assert emitted.keys() == {f"kafka://{by_number}", "kafka://declared"}
    [links] = set(emitted.values())
    assert links is not None
    [link] = links
    assert (link.name, link.type) == (topic, "TOPIC")
    assert link.namespace.removeprefix("kafka://") not in (by_number, by_name, "declared")


def test_brokers_that_dont_answer_leave_a_topic_its_name_by_brokers(spark: SparkSession) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        servers = f"127.0.0.1:{silent.getsockname()[1]}"
        frame = spark.readStream.format("kafka").options(**{"kafka.bootstrap.servers": servers}, subscribe="t").load()
        settings = PlanSettings(kafka_clusters=KafkaClusters())
        described = describe(frame._jdf.queryExecution(), session=spark, settings=settings)
    [source] = described.inputs
    assert (source.dataset.namespace, source.symlinks) == (f"kafka://{servers}", ())
