"""Batch reads and writes of Kafka, on a real broker."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark import attach
from headwater_producers.spark.connectors.kafka.clusters import KafkaClusters
from headwater_producers.spark.execution import describe
from headwater_producers.spark.plan import PlanSettings
from headwater_schemas.events import Certainty, OffsetRange
from support.capture import Captured, RecordingSink
from support.stack import StackUnderTest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytestmark = [pytest.mark.spark, pytest.mark.stack, pytest.mark.timeout(400)]


def test_a_batch_read_emits_the_offsets_that_it_came_to(
    spark: SparkSession, stack: StackUnderTest, topic_prefix: str, tmp_path: Path
) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    topic = f"{topic_prefix}-letters"
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    admin.create_topics([NewTopic(topic, 2, 1)])[topic].result()
    kafka = {"kafka.bootstrap.servers": stack.bootstrap_servers}
    rows = spark.sql("SELECT CAST(id AS STRING) AS value, CAST(id % 2 AS INT) AS partition FROM range(5)")
    sink = RecordingSink()
    with attach(spark, sink=sink, job_name="job") as capture:
        rows.write.format("kafka").options(**kafka, topic=topic).save()
        whole = spark.read.format("kafka").options(**kafka, subscribe=topic).load()
        whole.select("value").write.parquet(str(tmp_path / "whole"))
        bounds = {
            "startingOffsets": json.dumps({topic: {"0": 1, "1": 0}}),
            "endingOffsets": json.dumps({topic: {"0": 3, "1": 2}}),
        }
        part = spark.read.format("kafka").options(**kafka, **bounds, subscribe=topic).load()
        part.select("value").write.parquet(str(tmp_path / "part"))
        Captured(spark, sink, capture).flushed()

    [use] = sink.last_run("job.part").inputs
    assert use.position is not None
    assert use.position.kafka is not None
    assert use.position.kafka.ranges == (OffsetRange(0, 1, 3), OffsetRange(1, 0, 2))
    assert (use.dataset.name, use.certainty, use.rows) == (topic, Certainty.EXACT, 4)
    [use] = sink.last_run("job.whole").inputs
    assert (use.dataset.name, use.position) == (topic, None), "from the earliest to the latest: Spark's tasks know"
    [written] = sink.last_run(f"job.{topic}").outputs
    assert (written.dataset.name, written.position, written.rows) == (topic, None, None), "nothing is claimed"


def test_two_ways_to_a_cluster_have_its_id_in_common(
    spark: SparkSession, stack: StackUnderTest, topic_prefix: str
) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

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
