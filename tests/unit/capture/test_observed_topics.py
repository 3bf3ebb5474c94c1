"""Bounds of what a Kafka sink's micro-batches wrote, and how its cluster is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicCollection, TopicPartition
from msgspec.structs import replace as replaced

from headwater_producers.spark.connectors.kafka.observed_topics import (
    AskedTopic,
    ObservedTopics,
    TopicSnapshot,
    counted,
    writing_ended,
)
from headwater_producers.spark.connectors.kafka.topic_states import KafkaTopicStates, translated
from headwater_producers.spark.driver.batch_topics import BatchTopics
from headwater_producers.spark.events.batch import BatchRun
from headwater_producers.spark.plan import PlanInput, PlanOutput, PlanSettings, SourceKind
from headwater_producers.spark.streaming.interval import QueryProgress, parse_progress
from headwater_schemas.events import Certainty, DatasetRef, DatasetUse, KafkaRanges, OffsetRange, Position
from headwater_schemas.kafka.settings import KafkaSettings
from support.capture import kafka_of, recorded

TOPIC = PlanOutput(dataset=DatasetRef("kafka://k", "out"), kind=SourceKind.KAFKA)
USE = DatasetUse(dataset=TOPIC.dataset, rows=5)
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


def batch(begin: float, end: float, before_write_ms: int = 0) -> QueryProgress:
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
    questions: int = 0
    offsets: list[bool] = field(default_factory=list)
    topic_id: str | None = None

    def now(self) -> datetime:
        return at(self.clock)

    def pause(self, seconds: float) -> None:
        self.clock += seconds

    def states(self, asked: Sequence[AskedTopic]) -> list[TopicSnapshot | None]:
        self.questions += 1
        self.asked += len(asked)
        self.offsets += [each.offsets for each in asked]
        self.clock += self.takes
        return [
            TopicSnapshot(self.topic_id, self.answer if each.offsets else None) if self.answer is not None else None
            for each in asked
        ]


def observed(cluster: Cluster, sinks: ObservedTopics, seconds: float, answer: Mapping[int, int] | None) -> None:
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
def sinks(cluster: Cluster) -> ObservedTopics:
    return ObservedTopics(cluster, cluster.now, cluster.pause)


def test_from_the_last_answer_before_to_the_first_question_after(cluster: Cluster, sinks: ObservedTopics) -> None:
    for seconds, end in ((0, 10), (1, 20), (2, 30), (3, 40), (4, 50)):
        observed(cluster, sinks, seconds, {0: end, 1: end})
    use = sinks.bounded(USE, batch(1.5, 2.5))
    assert ranges(use) == {0: (20, 40), 1: (20, 40)}
    assert (use.certainty, use.rows) == (Certainty.UPPER_BOUND, 5)


def test_an_answer_that_came_while_it_may_have_written_bounds_nothing(cluster: Cluster, sinks: ObservedTopics) -> None:
    observed(cluster, sinks, 0, {0: 10})
    observed(cluster, sinks, 0.95, {0: 20})  # answered at 1.05
    observed(cluster, sinks, 2.5, {0: 30})
    assert ranges(sinks.bounded(USE, batch(1, 2))) == {0: (10, 30)}
    assert ranges(sinks.bounded(USE, batch(1, 2, before_write_ms=100))) == {0: (20, 30)}, "it couldn't write yet"
    observed(cluster, sinks, 3.0, {0: 40})
    assert ranges(sinks.bounded(USE, batch(1, 2.52))) == {0: (10, 40)}, "asked before its end: it may lack some"


def test_a_progress_that_is_here_before_its_rounded_end_is_asked_after_that(
    cluster: Cluster, sinks: ObservedTopics
) -> None:
    observed(cluster, sinks, 0, {0: 10})
    cluster.clock, cluster.answer = 2, {0: 20}
    sinks.observe([TOPIC], since=writing_ended(batch(1, 2)))
    assert ranges(sinks.bounded(USE, batch(1, 2))) == {0: (10, 20)}


def test_a_clock_that_was_set_back_is_not_waited_for(cluster: Cluster, sinks: ObservedTopics) -> None:
    cluster.clock, cluster.answer = 2, {0: 20}
    sinks.observe([TOPIC], since=at(3_600))
    assert cluster.clock < 3


def test_nothing_is_claimed_without_an_answer_on_both_sides(cluster: Cluster, sinks: ObservedTopics) -> None:
    assert sinks.bounded(USE, batch(1, 2)) is USE
    observed(cluster, sinks, 3, {0: 10})
    assert sinks.bounded(USE, batch(1, 2)) is USE, "nothing before"
    assert sinks.bounded(USE, batch(4, 5)) is USE, "nothing after"
    observed(cluster, sinks, 6, None)
    assert sinks.bounded(USE, batch(4, 5)) is USE, "no answer"


def test_a_new_partition_and_a_topic_made_anew(cluster: Cluster, sinks: ObservedTopics) -> None:
    observed(cluster, sinks, 0, {0: 10})
    observed(cluster, sinks, 3, {0: 12, 1: 4})
    assert ranges(sinks.bounded(USE, batch(1, 2))) == {0: (10, 12), 1: (0, 4)}
    observed(cluster, sinks, 6, {0: 3, 1: 0})
    assert sinks.bounded(USE, batch(4, 5)) is USE
    observed(cluster, sinks, 9, {0: 5})
    assert sinks.bounded(USE, batch(7, 8)) is USE


def test_it_is_asked_once_for_batches_that_waited_together(cluster: Cluster, sinks: ObservedTopics) -> None:
    first, second = batch(1, 2), batch(2, 3)
    observed(cluster, sinks, 0, {0: 0})
    cluster.clock, cluster.answer = 5, {0: 9}
    for progress in (first, second):
        sinks.observe(
            [TOPIC, PlanOutput(dataset=DatasetRef("file", "/x"), kind=SourceKind.FILE)], writing_ended(progress)
        )
        assert ranges(sinks.bounded(USE, progress)) == {0: (0, 9)}
    assert cluster.asked == 2


def test_the_same_answer_when_it_is_emitted_again(cluster: Cluster, sinks: ObservedTopics) -> None:
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


CONNECTIONS: list[tuple[dict[str, str], dict[str, str] | None]] = [
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
]


def test_a_java_client_s_connection_in_librdkafka_s_words(subtests: pytest.Subtests) -> None:
    for options, expected in CONNECTIONS:
        with subtests.test(options=options):
            assert translated(options) == expected


def test_capture_s_own_connection_serves_for_the_same_brokers() -> None:
    own = KafkaSettings(bootstrap_servers="b:9092,a:9092", client_properties={"client.rack": "r"})
    config = KafkaTopicStates(own)._config({"bootstrap.servers": "a,b"})
    assert config is not None
    assert config["client.rack"] == "r"
    assert KafkaTopicStates(own)._config({"bootstrap.servers": "c"}) is not None
    assert KafkaTopicStates(own)._config({"bootstrap.servers": "a,b", "acks": "1"}) is None, "the end may be behind"


def test_a_cluster_that_does_not_answer_costs_one_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    states = KafkaTopicStates()
    output = replace(TOPIC, connection=(("bootstrap.servers", "127.0.0.1:1"),))
    begin = datetime.now(UTC)
    assert states.states([AskedTopic(output, offsets=True)]) == [None]
    assert states.states([AskedTopic(output, offsets=True)]) == [None]
    assert datetime.now(UTC) - begin < timedelta(seconds=10)
    monkeypatch.setattr(states, "_ask", lambda *_, **__: pytest.fail("it pauses"))
    assert states.states([AskedTopic(output, offsets=True)]) == [None]
    states.close()


def test_a_topic_that_is_not_there_keeps_nobody_from_the_others() -> None:
    class Client:
        """An AdminClient."""

        def describe_topics(self, topics: TopicCollection, request_timeout: float) -> dict[str, Future[Any]]:
            described.append(list(topics.topic_names))
            answers: dict[str, Future[Any]] = {name: Future() for name in topics.topic_names}
            for name, answer in answers.items():
                if name == "gone":
                    answer.set_exception(KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)))
                else:
                    answer.set_result(SimpleNamespace(topic_id="an id", partitions=[SimpleNamespace(id=0, leader=1)]))
            return answers

        def list_offsets(
            self, wanted: dict[TopicPartition, Any], request_timeout: float
        ) -> dict[TopicPartition, Future[Any]]:
            listed.append([where.topic for where in wanted])
            answers: dict[TopicPartition, Future[Any]] = {where: Future() for where in wanted}
            for where, answer in answers.items():
                if where.topic == "going":
                    answer.set_exception(KafkaException(KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)))
                else:
                    answer.set_result(SimpleNamespace(offset=7))
            return answers

    described: list[list[str]] = []
    listed: list[list[str]] = []
    states = KafkaTopicStates()
    there = replace(TOPIC, connection=(("bootstrap.servers", "b:9092"),))
    gone, going, read = (replace(there, dataset=DatasetRef("kafka://k", name)) for name in ("gone", "going", "read"))
    config = states._config(dict(there.connection))
    assert config is not None
    states._clients[tuple(sorted(config.items()))] = Client()
    asked = [AskedTopic(topic, topic is not read) for topic in (gone, there, read, going)]
    assert states.states(asked) == [None, TopicSnapshot("an id", {0: 7}), TopicSnapshot("an id"), None]
    assert described == [["gone", "out", "read", "going"]], "a request for all of them"
    assert listed == [["out", "going"]]


READ = PlanInput(dataset=TOPIC.dataset, kind=SourceKind.KAFKA)


def read(*spans: tuple[int, int]) -> DatasetUse:
    return within("out", *spans) if spans else DatasetUse(dataset=TOPIC.dataset)


def id_of(use: DatasetUse) -> str | None:
    return kafka_of(use.position).topic_id


def seen_as(cluster: Cluster, sinks: ObservedTopics, seconds: float, topic_id: str | None, end: int = 9) -> None:
    cluster.topic_id = topic_id
    observed(cluster, sinks, seconds, {0: end})


def test_the_id_that_a_topic_had_before_and_after_is_what_was_read_and_written(
    cluster: Cluster, sinks: ObservedTopics
) -> None:
    seen_as(cluster, sinks, 0, "old")
    seen_as(cluster, sinks, 3, "old", 12)
    seen_as(cluster, sinks, 6, "new", 20)
    seen_as(cluster, sinks, 9, "new", 21)
    use = replaced(within("out", (4, 6)), dataset=TOPIC.dataset)
    assert id_of(sinks.identified(use, batch(1, 2))) == "old"
    assert id_of(sinks.identified(use, batch(7, 8))) == "new"
    assert sinks.identified(use, batch(4, 5)) is use, "made anew while it ran: of which, nobody knows"
    assert sinks.identified(use, batch(10, 11)) is use, "not asked since"
    assert (id_of(sinks.bounded(USE, batch(1, 2))), ranges(sinks.bounded(USE, batch(1, 2)))) == ("old", {0: (9, 12)})
    assert sinks.bounded(USE, batch(4, 5)) is USE, "12..20 would be offsets of two incarnations"
    assert id_of(sinks.bounded(USE, batch(7, 8))) == "new"


def test_the_first_micro_batch_of_a_query_begins_before_the_first_answer(
    cluster: Cluster, sinks: ObservedTopics
) -> None:
    seen_as(cluster, sinks, 2, "id")
    seen_as(cluster, sinks, 4, "id")
    use = replaced(within("out", (4, 6)), dataset=TOPIC.dataset)
    assert id_of(sinks.identified(use, batch(1, 3))) == "id"
    assert sinks.identified(use, batch(-2, 3)) is use, "Kafka may have made it anew since it began"
    assert sinks.bounded(USE, batch(1, 3)) is USE, "what it wrote isn't bounded by that"
    seen_as(cluster, sinks, 5, "another")
    assert sinks.identified(use, batch(1, 3)) is use


def test_a_broker_without_ids_has_its_offsets_all_the_same(cluster: Cluster, sinks: ObservedTopics) -> None:
    seen_as(cluster, sinks, 0, None)
    seen_as(cluster, sinks, 3, None, 12)
    assert (id_of(sinks.bounded(USE, batch(1, 2))), ranges(sinks.bounded(USE, batch(1, 2)))) == (None, {0: (9, 12)})


def test_a_topic_that_is_read_and_written_is_asked_once(cluster: Cluster, sinks: ObservedTopics) -> None:
    sinks.observe([READ, TOPIC, READ])
    assert cluster.asked == 1
    cluster.answer = {0: 3}
    sinks.observe([TOPIC], since=at(5))
    assert cluster.asked == 2


def test_a_query_that_reads_a_topic_keeps_nothing_from_another_that_writes_it(
    cluster: Cluster, sinks: ObservedTopics
) -> None:
    cluster.topic_id = "id"
    observed(cluster, sinks, 0, {0: 10})
    for number in range(100):
        cluster.clock = 10 + number / 4
        sinks.observe([READ])
    written = batch(1, 35)
    cluster.clock, cluster.answer = 35.5, {0: 12}
    sinks.observe([READ], since=writing_ended(written))
    sinks.observe([TOPIC], since=writing_ended(written))
    assert ranges(sinks.bounded(USE, written)) == {0: (10, 12)}
    asked = cluster.asked
    sinks.observe([READ], since=writing_ended(written))
    assert cluster.asked == asked, "answers with end offsets have the id, too"
    use = replaced(within("out", (4, 6)), dataset=TOPIC.dataset)
    assert id_of(sinks.identified(use, batch(30, 35))) == "id"


def test_of_very_many_topics_that_are_read_none_is_asked(cluster: Cluster, sinks: ObservedTopics) -> None:
    many = [replace(READ, dataset=DatasetRef("kafka://k", f"t{number}")) for number in range(21)]
    sinks.observe(many[1:])
    assert cluster.asked == 20
    sinks.observe([*many, TOPIC])
    assert cluster.asked == 21, "only what is written"


def test_all_topics_of_a_micro_batch_are_asked_for_together(cluster: Cluster, sinks: ObservedTopics) -> None:
    sinks.observe([replace(READ, dataset=DatasetRef("kafka://k", "in")), TOPIC])
    assert (cluster.questions, cluster.offsets) == (1, [False, True])


def test_a_batch_write_is_asked_for_late_enough_to_bound_it(cluster: Cluster, sinks: ObservedTopics) -> None:
    observed(cluster, sinks, 0, {0: 10})
    description = SimpleNamespace(inputs=(), outputs=(TOPIC,))
    write = cast("Any", SimpleNamespace(description=description, inputs=tuple, outputs=lambda: (USE,), scans=()))
    run = BatchRun(write=write, started_at=at(1), ended_at=at(2))
    # Its end is reported at once.
    cluster.clock, cluster.answer = 2, {0: 15}
    bounded = BatchTopics(sinks, PlanSettings()).bounded(run)
    assert bounded.outputs is not None
    assert [ranges(use) for use in bounded.outputs] == [{0: (10, 15)}]


@pytest.mark.parametrize(("scans", "certainty"), [(0, None), (1, Certainty.EXACT), (2, Certainty.UPPER_BOUND)])
def test_what_a_batch_run_did_not_scan_itself_has_no_bounds(
    cluster: Cluster, sinks: ObservedTopics, scans: int, certainty: Certainty | None
) -> None:
    description = SimpleNamespace(inputs=(READ,), outputs=())
    use = replaced(read(), rows=9)
    scan = SimpleNamespace(names=frozenset({READ.dataset.name}))
    write = cast(
        "Any", SimpleNamespace(description=description, inputs=lambda: (use,), outputs=tuple, scans=(scan,) * scans)
    )
    cluster.clock, cluster.answer = 2, {0: 9}
    bounded = BatchTopics(sinks, PlanSettings()).bounded(BatchRun(write=write, started_at=at(1), ended_at=at(2)))
    assert bounded.inputs is not None
    [found] = bounded.inputs
    assert (found.certainty if found is not use else None) == certainty


@pytest.mark.parametrize(
    ("rows", "scanned_once", "certainty"),
    [
        (9, True, Certainty.EXACT),
        (8, True, Certainty.UPPER_BOUND),
        (None, True, Certainty.UPPER_BOUND),
        (9, False, Certainty.UPPER_BOUND),
    ],
)
def test_what_a_batch_read_is_before_the_end_and_all_of_it_where_the_rows_fill_it(
    cluster: Cluster, sinks: ObservedTopics, rows: int | None, scanned_once: bool, certainty: Certainty
) -> None:
    cluster.clock, cluster.answer, cluster.topic_id = 3, {0: 4, 1: 5}, "id"
    found = sinks.after_read(replaced(read(), rows=rows), READ, at(2), scanned_once=scanned_once)
    assert (ranges(found), found.certainty, id_of(found)) == ({0: (0, 4), 1: (0, 5)}, certainty, "id")


def test_planned_offsets_stay_and_get_the_id_of_a_topic_that_has_them(cluster: Cluster, sinks: ObservedTopics) -> None:
    cluster.clock, cluster.answer, cluster.topic_id = 3, {0: 4}, "id"
    planned = replaced(read((1, 4)), dataset=TOPIC.dataset, certainty=Certainty.EXACT)
    found = sinks.after_read(planned, READ, at(2), scanned_once=True)
    assert (ranges(found), found.certainty, id_of(found)) == ({0: (1, 4)}, Certainty.EXACT, "id")
    further = replaced(planned, position=within("out", (1, 5)).position)
    assert sinks.after_read(further, READ, at(2), scanned_once=True) is further, "it has been made anew since"


def test_a_topic_that_is_asked_late_or_not_at_all_claims_nothing(cluster: Cluster, sinks: ObservedTopics) -> None:
    cluster.clock, cluster.answer = 20, {0: 4}
    use = read()
    assert sinks.after_read(use, READ, at(2), scanned_once=True) is use
    cluster.answer = None
    assert sinks.after_read(use, READ, at(20), scanned_once=True) is use


def test_credentials_are_never_shown() -> None:
    output = replace(TOPIC, connection=(("sasl.jaas.config", SCRAM),))
    assert "password" not in repr(output)
    assert output == TOPIC
