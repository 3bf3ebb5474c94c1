"""Batch reads and writes of Kafka, on a real broker."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark import attach
from headwater_schemas.events import Certainty, OffsetRange
from support.capture import Captured, RecordingSink

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from support.stack import StackUnderTest

pytestmark = [pytest.mark.spark, pytest.mark.stack, pytest.mark.timeout(400)]


def test_a_batch_read_tells_the_offsets_that_it_came_to(
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
