"""A job that attaches in three lines, its data and its lineage on a real Kafka, started twice from its checkpoints."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from headwater.stack import java_runtime
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    IntervalEntry,
    LineageEvent,
    Provenance,
    RunEventType,
    TransformationType,
)
from support.capture import body, kafka_of
from support.running import lineage, small
from support.stack import StackUnderTest
from support.waiting import patience

pytestmark = [pytest.mark.spark, pytest.mark.stack]
SECONDS = 400

JOB = """
import sys
from pyspark.sql import SparkSession, functions as F
from headwater_producers.spark import attach

brokers, prefix, folder = sys.argv[1:]
spark = SparkSession.builder.appName("pipeline").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
attach(spark, job_owner="team:flights")

kafka = {"kafka.bootstrap.servers": brokers}
source = spark.readStream.format("kafka").options(**kafka, subscribe=f"{prefix}-in", startingOffsets="earliest")
source = source.option("maxOffsetsPerTrigger", 10).load()
parsed = source.select(F.from_json(F.col("value").cast("string"), "id INT, at STRING").alias("r")).select("r.*")

def both(frame, batch_id):
    frame.groupBy("at").count().write.mode("append").parquet(f"{folder}/counts")
    out = frame.select(F.to_json(F.struct("id")).alias("value"))
    out.write.format("kafka").options(**kafka, topic=f"{prefix}-out").save()

def run(name, writer):
    writer = writer.queryName(name).option("checkpointLocation", f"{folder}/cp-{name}").trigger(availableNow=True)
    writer.start().awaitTermination()

copy = parsed.select(F.to_json(F.struct("id", "at")).alias("value"))
run("copy", copy.writeStream.format("kafka").options(**kafka, topic=f"{prefix}-out"))
run("split", parsed.writeStream.foreachBatch(both))
"""


def start(folder: Path, stack: StackUnderTest, prefix: str) -> None:
    """Runs the job to its end."""
    path = folder / "job.py"
    path.write_text(JOB, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(path), stack.bootstrap_servers, prefix, str(folder)],
        env={
            **os.environ,
            **java_runtime().environment(),
            "PYSPARK_SUBMIT_ARGS": shlex.join([*small(), "pyspark-shell"]),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": stack.bootstrap_servers,
            "HEADWATER_KAFKA_CLUSTER_NAME": "here",
            "HEADWATER_TOPIC_PREFIX": prefix,
        },
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=patience(SECONDS),
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4_000:]


def put(stack: StackUnderTest, topic: str, first: int, count: int, partitions: int) -> None:
    producer = Producer({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    for number in range(first, first + count):
        value = json.dumps({"id": number, "at": "EWR"})
        producer.produce(topic, value=value, partition=number % partitions)
    assert producer.flush(patience(30)) == 0


def chain(events: list[LineageEvent], job: str, provenance: Provenance = Provenance.OBSERVED) -> list[IntervalEntry]:
    """A query's micro-batches by their id, as they were emitted while they ran: once each."""
    entries = [
        entry
        for event in events
        if event.interval_event and event.job and event.job.name == job
        if event.interval_event.provenance is provenance
        for entry in event.interval_event.entries
    ]
    return sorted(entries, key=lambda entry: entry.batch_id)


def ranges(entry: IntervalEntry) -> dict[int, tuple[int, int]]:
    [use] = entry.inputs
    return {part.partition: (part.from_, part.to_exclusive) for part in kafka_of(use.position).ranges}


@pytest.mark.timeout(900)
@pytest.mark.nightly
def test_every_offset_is_in_exactly_one_interval(stack: StackUnderTest, topic_prefix: str, tmp_path: Path) -> None:
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    source = f"{topic_prefix}-in"
    for made in admin.create_topics([NewTopic(source, 2, 1), NewTopic(f"{topic_prefix}-out", 1, 1)]).values():
        made.result(patience(30))

    put(stack, source, 0, 24, partitions=2)
    start(tmp_path, stack, topic_prefix)
    # A partition more, and the job started again from its checkpoints.
    for grown in admin.create_partitions([NewPartitions(source, 3)]).values():
        grown.result(patience(30))
    put(stack, source, 24, 21, partitions=3)
    start(tmp_path, stack, topic_prefix)

    events = lineage(stack, f"{topic_prefix}.events")
    read = DatasetRef("kafka://here", source)
    written = DatasetRef("kafka://here", f"{topic_prefix}-out")
    ends = {0: 19, 1: 19, 2: 7}
    for job in ("pipeline.copy", "pipeline.split"):
        entries = chain(events, job)
        assert [entry.batch_id for entry in entries] == list(range(len(entries)))
        assert len(entries) >= 5
        assert {use.dataset for entry in entries for use in entry.inputs} == {read}
        for partition, end in ends.items():
            parts = [part for entry in entries if (part := ranges(entry).get(partition)) is not None]
            assert parts[0][0] == 0
            assert parts[-1][1] == end
            assert all(before[1] == after[0] for before, after in pairwise(parts)), "no gap, no overlap"
        recovered = chain(events, job, Provenance.RECONCILED)
        assert recovered, "the second start emits what the checkpoint has of the first"
        observed = {entry.batch_id: ranges(entry) for entry in entries}
        for entry in recovered:
            assert {number: part for number, part in ranges(entry).items() if part[0] < part[1]} == {
                number: part for number, part in observed[entry.batch_id].items() if part[0] < part[1]
            }
        certain = [entry.inputs[0].certainty for entry in entries]
        assert certain.count(Certainty.INFERRED) == 1, "the batch that met the new partition"
        assert set(certain) == {Certainty.EXACT, Certainty.INFERRED}
        assert sum(entry.rows_in or 0 for entry in entries) == 45

        runs = [event for event in events if event.run_event and event.job and event.job.name == job]
        by_run: dict[str, list[RunEventType]] = {}
        for event in sorted(runs, key=lambda event: event.event_time):
            assert event.run is not None
            by_run.setdefault(event.run.run_id, []).append(body(event).type)
        assert [(types[0], types[-1]) for types in by_run.values()] == [(RunEventType.START, RunEventType.COMPLETE)] * 2
        queries = {
            event.interval_event.query_id
            for event in events
            if event.interval_event and event.job and event.job.name == job
        }
        assert len(queries) == 1, "the query id ties the runs together"

    assert sum(entry.rows_out or 0 for entry in chain(events, "pipeline.copy")) == 45
    check_what_was_written(stack, source, written.name, chain(events, "pipeline.copy"))
    for entry in chain(events, "pipeline.split"):
        assert [use.dataset.name for use in entry.outputs] == [str(tmp_path / "counts"), written.name]
    assert not [event for event in events if event.job and event.job.name not in JOBS]

    plans = {event.job.name: event.plan_event.lineage for event in events if event.plan_event and event.job}
    split = plans["pipeline.split"]
    sources = {
        (split.datasets[edge.output], edge.output_field, split.datasets[edge.input], edge.input_field)
        for edge in split.edges
        if edge.type is TransformationType.DIRECT and edge.input is not None
    }
    assert (written, "value.id", read, "value.id") in sources
    assert (DatasetRef("file", str(tmp_path / "counts")), "at", read, "value.at") in sources


def check_what_was_written(stack: StackUnderTest, source: str, sink: str, entries: list[IntervalEntry]) -> None:
    """Every record of a micro-batch is within the range that it claims; and nearly all of them claim one."""
    where = {json.loads(value)["id"]: (partition, offset) for partition, offset, value in read(stack, source)}
    copies = [
        (offset, where[row["id"]]) for _, offset, value in read(stack, sink) if "at" in (row := json.loads(value))
    ]
    assert len(copies) == 45
    claimed = 0
    for entry in entries:
        [use] = entry.outputs
        if use.position is None:
            continue
        claimed += 1
        assert use.certainty in (Certainty.EXACT, Certainty.UPPER_BOUND)
        assert use.position.kafka is not None
        [part] = use.position.kafka.ranges
        mine = {
            offset
            for offset, (p, o) in copies
            if ranges(entry).get(p, (0, 0))[0] <= o < ranges(entry).get(p, (0, 0))[1]
        }
        assert len(mine) == entry.rows_out
        claim = set(range(part.from_, part.to_exclusive))
        assert mine == claim if use.certainty is Certainty.EXACT else mine < claim
    assert claimed >= len(entries) - 2, "the first of each start may have begun to write before anything was asked"


def read(stack: StackUnderTest, topic: str) -> list[tuple[int, int, bytes]]:
    """Partition, offset and value of every record."""
    consumer = Consumer(
        {"bootstrap.servers": stack.bootstrap_servers, "log_level": 2, "group.id": "read", "enable.auto.commit": False}
    )
    out = []
    try:
        for number in consumer.list_topics(topic, timeout=patience(30)).topics[topic].partitions:
            _, end = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=patience(30))
            consumer.assign([TopicPartition(topic, number, 0)])
            reached = 0
            while reached < end:
                message = consumer.poll(patience(30))
                assert message is not None
                assert message.error() is None
                reached = (message.offset() or 0) + 1
                out.append((number, reached - 1, message.value() or b""))
    finally:
        consumer.close()
    return out


JOBS = {"pipeline", "pipeline.copy", "pipeline.split"}
