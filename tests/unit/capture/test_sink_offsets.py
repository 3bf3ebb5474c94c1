"""Bounds of what a Kafka sink's micro-batches wrote, and how its cluster is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from confluent_kafka import KafkaError, TopicPartition
from confluent_kafka.admin import ClusterMetadata, PartitionMetadata, TopicMetadata

from headwater_producers.spark.connectors.kafka.end_offsets import KafkaEndOffsets, translated
from headwater_producers.spark.connectors.kafka.sink_offsets import SinkOffsets, counted, writing_ended
from headwater_producers.spark.plan import PlanOutput, SourceKind
from headwater_producers.spark.streaming.progress import Progress, parse_progress
from headwater_schemas.events import Certainty, DatasetRef, DatasetUse, KafkaRanges, OffsetRange, Position
from headwater_schemas.kafka.settings import KafkaSettings
from support.capture import recorded

TOPIC = PlanOutput(dataset=DatasetRef("kafka://k", "out"), kind=SourceKind.KAFKA)
USE = DatasetUse(dataset=TOPIC.dataset, rows=5)
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def batch(begin: float, end: float, before_write_ms: int = 0) -> Progress:
    """A micro-batch from one second to another."""
    progress = parse_progress(recorded("kafka_next_batch"))
    duration = int((end - begin) * 1000)
    return replace(progress, started_at=at(begin), duration_ms=duration, before_write_ms=before_write_ms)


@dataclass
class Cluster:
    """A topic whose ends change, a clock that it moves, and how often it was asked."""

    clock: float = 0.0
    answer: Mapping[int, int] | None = field(default_factory=dict)
    takes: float = 0.1
    asked: int = 0

    def now(self) -> datetime:
        return at(self.clock)

    def pause(self, seconds: float) -> None:
        self.clock += seconds

    def end_offsets(self, output: PlanOutput) -> Mapping[int, int] | None:
        self.asked += 1
        self.clock += self.takes
        return self.answer


def observed(cluster: Cluster, sinks: SinkOffsets, seconds: float, answer: Mapping[int, int] | None) -> None:
    cluster.clock, cluster.answer = seconds, answer
    sinks.observe([TOPIC])


def ranges(use: DatasetUse) -> dict[int, tuple[int, int]] | None:
    if use.position is None or use.position.kafka is None:
        return None
    return {part.partition: (part.from_, part.to_exclusive) for part in use.position.kafka.ranges}


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def sinks(cluster: Cluster) -> SinkOffsets:
    return SinkOffsets(cluster, cluster.now, cluster.pause)


def test_from_the_last_answer_before_to_the_first_question_after(cluster: Cluster, sinks: SinkOffsets) -> None:
    for seconds, end in ((0, 10), (1, 20), (2, 30), (3, 40), (4, 50)):
        observed(cluster, sinks, seconds, {0: end, 1: end})
    use = sinks.bounded(USE, batch(1.5, 2.5))
    assert ranges(use) == {0: (20, 40), 1: (20, 40)}
    assert (use.certainty, use.rows) == (Certainty.UPPER_BOUND, 5)


def test_an_answer_that_came_while_it_may_have_written_bounds_nothing(cluster: Cluster, sinks: SinkOffsets) -> None:
    observed(cluster, sinks, 0, {0: 10})
    observed(cluster, sinks, 0.95, {0: 20})  # answered at 1.05
    observed(cluster, sinks, 2.5, {0: 30})
    assert ranges(sinks.bounded(USE, batch(1, 2))) == {0: (10, 30)}
    assert ranges(sinks.bounded(USE, batch(1, 2, before_write_ms=100))) == {0: (20, 30)}, "it couldn't write yet"
    observed(cluster, sinks, 3.0, {0: 40})
    assert ranges(sinks.bounded(USE, batch(1, 2.52))) == {0: (10, 40)}, "asked before its end: it may lack some"


def test_a_progress_that_is_here_before_its_rounded_end_is_asked_after_that(
    cluster: Cluster, sinks: SinkOffsets
) -> None:
    observed(cluster, sinks, 0, {0: 10})
    cluster.clock, cluster.answer = 2, {0: 20}
    sinks.observe([TOPIC], since=writing_ended(batch(1, 2)))
    assert ranges(sinks.bounded(USE, batch(1, 2))) == {0: (10, 20)}


def test_a_clock_that_was_set_back_is_not_waited_for(cluster: Cluster, sinks: SinkOffsets) -> None:
    cluster.clock, cluster.answer = 2, {0: 20}
    sinks.observe([TOPIC], since=at(3_600))
    assert cluster.clock < 3


def test_nothing_is_claimed_without_an_answer_on_both_sides(cluster: Cluster, sinks: SinkOffsets) -> None:
    assert sinks.bounded(USE, batch(1, 2)) is USE
    observed(cluster, sinks, 3, {0: 10})
    assert sinks.bounded(USE, batch(1, 2)) is USE, "nothing before"
    assert sinks.bounded(USE, batch(4, 5)) is USE, "nothing after"
    observed(cluster, sinks, 6, None)
    assert sinks.bounded(USE, batch(4, 5)) is USE, "no answer"


def test_a_new_partition_and_a_topic_made_anew(cluster: Cluster, sinks: SinkOffsets) -> None:
    observed(cluster, sinks, 0, {0: 10})
    observed(cluster, sinks, 3, {0: 12, 1: 4})
    assert ranges(sinks.bounded(USE, batch(1, 2))) == {0: (10, 12), 1: (0, 4)}
    observed(cluster, sinks, 6, {0: 3, 1: 0})
    assert sinks.bounded(USE, batch(4, 5)) is USE
    observed(cluster, sinks, 9, {0: 5})
    assert sinks.bounded(USE, batch(7, 8)) is USE


def test_it_is_asked_once_for_batches_that_waited_together(cluster: Cluster, sinks: SinkOffsets) -> None:
    first, second = batch(1, 2), batch(2, 3)
    observed(cluster, sinks, 0, {0: 0})
    cluster.clock, cluster.answer = 5, {0: 9}
    for progress in (first, second):
        sinks.observe(
            [TOPIC, PlanOutput(dataset=DatasetRef("file", "/x"), kind=SourceKind.FILE)], writing_ended(progress)
        )
        assert ranges(sinks.bounded(USE, progress)) == {0: (0, 9)}
    assert cluster.asked == 2


def test_the_same_answer_when_it_is_emitted_again(cluster: Cluster, sinks: SinkOffsets) -> None:
    observed(cluster, sinks, 0, {0: 0})
    observed(cluster, sinks, 3, {0: 9})
    before = sinks.bounded(USE, batch(1, 2))
    observed(cluster, sinks, 4, {0: 20})
    assert sinks.bounded(USE, batch(1, 2)) == before


def within(topic: str, *spans: tuple[int, int]) -> DatasetUse:
    ranges = tuple(OffsetRange(number, *span) for number, span in enumerate(spans))
    return DatasetUse(
        dataset=DatasetRef("kafka://b", topic),
        position=Position(kafka=KafkaRanges(topic, ranges)),
        certainty=Certainty.UPPER_BOUND,
    )


def test_a_range_that_the_rows_fill_is_exact() -> None:
    one = counted((within("a", (4, 6), (9, 12)),), 5)
    assert [(use.certainty, use.rows) for use in one] == [(Certainty.EXACT, 5)]
    two = counted((within("a", (4, 6)), within("b", (7, 7))), 2)
    assert [(use.certainty, use.rows) for use in two] == [(Certainty.EXACT, 2), (Certainty.EXACT, 0)]


def test_one_offset_more_and_whose_it_is_is_unknown() -> None:
    uses = (within("a", (4, 6)), within("b", (7, 8)))
    assert counted(uses, 2) == uses
    known = (within("a", (4, 6)), DatasetUse(dataset=DatasetRef("kafka://b", "b")))
    assert counted(known, 2) == known, "another topic isn't bounded: some of the rows may be there"
    beside = (within("a", (4, 6)), DatasetUse(dataset=DatasetRef("file", "/x"), rows=2))
    assert counted(beside, 2) == beside


SCRAM = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="job" password="p=w;\\"d";'


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"bootstrap.servers": "a:1"}, {"bootstrap.servers": "a:1"}),
        (
            {
                "bootstrap.servers": "a:1",
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "SCRAM-SHA-512",
                "sasl.jaas.config": SCRAM,
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": "/ca.pem",
                "ssl.endpoint.identification.algorithm": "",
                "acks": "all",
            },
            {
                "bootstrap.servers": "a:1",
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "SCRAM-SHA-512",
                "sasl.username": "job",
                "sasl.password": 'p=w;"d',
                "ssl.ca.location": "/ca.pem",
                "ssl.endpoint.identification.algorithm": "none",
            },
        ),
        ({"bootstrap.servers": "a:1", "ssl.truststore.location": "/ca.jks"}, None),
        ({"bootstrap.servers": "a:1", "sasl.jaas.config": "com.x.MyModule required;"}, None),
        ({"bootstrap.servers": "a:1", "sasl.login.callback.handler.class": "com.x.Handler"}, None),
        ({}, None),
    ],
)
def test_a_java_client_s_connection_in_librdkafka_s_words(
    options: dict[str, str], expected: dict[str, str] | None
) -> None:
    assert translated(options) == expected


def test_capture_s_own_connection_serves_for_the_same_brokers() -> None:
    own = KafkaSettings(bootstrap_servers="b:9092,a:9092", client_properties={"client.rack": "r"})
    config = KafkaEndOffsets(own)._config({"bootstrap.servers": "a,b"})
    assert config is not None
    assert config["client.rack"] == "r"
    assert KafkaEndOffsets(own)._config({"bootstrap.servers": "c"}) is not None
    assert KafkaEndOffsets(own)._config({"bootstrap.servers": "a,b", "acks": "1"}) is None, "the end may be behind"


def test_a_cluster_that_does_not_answer_costs_one_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    end_offsets = KafkaEndOffsets()
    output = replace(TOPIC, connection=(("bootstrap.servers", "127.0.0.1:1"),))
    begin = datetime.now(UTC)
    assert end_offsets.end_offsets(output) is None
    assert end_offsets.end_offsets(output) is None
    assert datetime.now(UTC) - begin < timedelta(seconds=10)
    monkeypatch.setattr(end_offsets, "_ask", lambda *_: pytest.fail("it pauses"))
    assert end_offsets.end_offsets(output) is None
    end_offsets.close()


def test_a_topic_that_is_not_there_keeps_nobody_from_the_others() -> None:
    class Client:
        def list_topics(self, topic: str, timeout: float) -> ClusterMetadata:
            found = ClusterMetadata()
            found.topics = {topic: TopicMetadata()}
            found.topics[topic].partitions = {0: PartitionMetadata()}
            if topic == "gone":
                found.topics[topic].error = KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)
            return found

        def get_watermark_offsets(self, partition: TopicPartition, timeout: float) -> tuple[int, int]:
            return 3, 7

    end_offsets = KafkaEndOffsets()
    there = replace(TOPIC, connection=(("bootstrap.servers", "b:9092"),))
    gone = replace(there, dataset=DatasetRef("kafka://k", "gone"))
    config = end_offsets._config(dict(there.connection))
    assert config is not None
    end_offsets._clients[tuple(sorted(config.items()))] = Client()
    assert end_offsets.end_offsets(gone) is None
    assert end_offsets.end_offsets(there) == {0: 7}


def test_credentials_are_never_shown() -> None:
    output = replace(TOPIC, connection=(("sasl.jaas.config", SCRAM),))
    assert "password" not in repr(output)
    assert output == TOPIC
