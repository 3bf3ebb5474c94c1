"""A record that ends every process that comes to it is found, and nothing else is set aside."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError

from headwater_consumers.kafka.attempts import Attempts
from headwater_consumers.kafka.kafka_source import KafkaSource, SourceConfig
from headwater_consumers.kafka.notices import Notices
from headwater_consumers.kafka.offsets import committed_metadata, read_metadata
from headwater_consumers.kafka.records import FetchedRecord, Partition
from support.materializer.clock import FakeClock

P0 = Partition("t", 0, "now")
BATCH = 4_000


class Group:
    """Records and offsets of a partition with `end` records, of which some end the process that is handed them."""

    def __init__(self, end: int, *killers: int) -> None:
        self.end, self.killers = end, killers
        self.offset, self.metadata = 0, ""
        self.deaths = 0
        self.set_aside: list[int] = []

    def commit(self, offset: int, begun_by: tuple[str, ...]) -> None:
        assert offset >= self.offset
        self.offset, self.metadata = offset, committed_metadata("now", begun_by)

    def lose(self, attempts: Attempts) -> None:
        """One process loses its session with a record on its hands, and lives."""
        attempts.assigned(P0, read_metadata(self.metadata)[1])
        record = FetchedRecord(P0, self.offset, b"")
        for partition, offset in attempts.begins([record]).items():
            self.commit(offset, attempts.beginning(partition))
        self.set_aside += [each.offset for each in attempts.handing([record]) if each.ends_consumers]
        attempts.forget(P0)

    def consume(self) -> None:
        """One process, until it ends, or the partition does."""
        attempts, position = Attempts(), self.offset
        attempts.assigned(P0, read_metadata(self.metadata)[1])
        while position < self.end:
            at_once = attempts.at_once
            assert at_once != 0
            last = min(position + (at_once or BATCH), self.end)
            records = [FetchedRecord(P0, offset, b"") for offset in range(position, last)]
            for partition, offset in attempts.begins(records).items():
                self.commit(offset, attempts.beginning(partition))
            handed = attempts.handing(records)
            if last == self.end and attempts.at_end(P0):
                self.commit(last, ())
            for record in handed:
                if record.ends_consumers:
                    self.set_aside.append(record.offset)
                elif record.offset in self.killers:
                    self.deaths += 1
                    return
            assert at_once is None or attempts.at_once == 0, "nothing more before these are committed"
            self.commit(last, attempts.begun_by(P0))
            attempts.committed({P0: last})
            position = last

    def run(self) -> None:
        while self.offset < self.end:
            self.consume()
            assert self.deaths < 100


@pytest.mark.parametrize("killer", [0, 1, 255, 256, 4_097, 11_999])
def test_it_is_found_and_all_others_are_applied(killer: int) -> None:
    group = Group(13_000, killer)
    group.run()
    assert group.set_aside == [killer]
    assert group.deaths == 6 + (killer >= BATCH), "one more where a batch went well before"
    assert group.metadata == committed_metadata("now"), "the ids are gone"


def test_several_are_each_found(subtests: pytest.Subtests) -> None:
    for seed in range(3):
        killers = sorted(random.Random(seed).sample(range(9_000), 3))
        with subtests.test(seed=seed):
            group = Group(9_000, *killers, killers[0] + 1)
            group.run()
            assert group.set_aside == sorted({*killers, killers[0] + 1})


def test_processes_that_end_before_they_come_to_a_record_set_none_aside() -> None:
    group = Group(0)
    for _ in range(9):
        group.consume()
    group.end = 5
    group.run()
    assert (group.set_aside, group.deaths, group.offset) == ([], 0, 5)


def test_sessions_that_are_lost_at_a_record_set_it_not_aside() -> None:
    """An outage of the brokers: two processes live on, and come to the same record again and again."""
    group, processes = Group(5), [Attempts(), Attempts()]
    for number in range(40):
        group.lose(processes[number // 3 % 2])
    assert group.set_aside == []
    group.run()
    assert (group.set_aside, group.offset) == ([], 5)


def test_ends_count_besides_sessions_that_are_lost() -> None:
    group, survivor = Group(5, 2), Attempts()
    while group.offset < group.end:
        group.lose(survivor)
        group.consume()
    assert group.set_aside == [2]
    assert group.deaths <= 6


def test_a_record_that_keeps_processes_from_polling_is_set_aside() -> None:
    group, processes = Group(5), [Attempts(), Attempts()]
    for number in range(7):
        group.lose(processes[number % 2])
        processes[number % 2].stalled()
    assert group.set_aside == [0]


class _NotPolled:
    """librdkafka's message that `max.poll.interval.ms` has passed."""

    def error(self) -> KafkaError:
        return KafkaError(KafkaError._MAX_POLL_EXCEEDED)

    def __getattr__(self, _: str) -> Callable[[], None]:
        return lambda: None


def test_a_source_that_was_kept_from_polling_takes_another_id() -> None:
    logged: list[str] = []
    config = SourceConfig({"bootstrap.servers": "127.0.0.1:1"}, "t", "g")
    source = KafkaSource(config, clock=FakeClock(), notices=Notices(logged.append, FakeClock()))
    before = source._attempts.beginning(P0)
    source._received([cast("Any", _NotPolled())])
    assert source._attempts.beginning(P0) != before
    assert logged


def test_the_end_of_a_partition_ends_the_care() -> None:
    attempts = Attempts(lambda: "self")
    attempts.assigned(P0, ("a", "b", "c"))
    attempts.handing([FetchedRecord(P0, 7, b"")])
    assert attempts.at_once == 0
    attempts.committed({P0: 8})
    assert (attempts.at_once, attempts.begun_by(P0)) == (16, ("a", "b", "c", "self"))
    assert attempts.at_end(P0), "nothing else would take its number away"
    assert not attempts.is_recorded(P0)
    assert [attempts.at_once, bool(attempts.begun_by(P0))] == [None, False]


def test_metadata_of_others_has_no_attempts(subtests: pytest.Subtests) -> None:
    for metadata, read in [
        (None, ("", ())),
        ("attempts 3", ("", ())),
        ("headwater topic-id x", ("x", ())),
        ("headwater topic-id x attempts 1f 2e", ("x", ("1f", "2e"))),
    ]:
        with subtests.test(metadata=metadata):
            assert read_metadata(metadata) == read
