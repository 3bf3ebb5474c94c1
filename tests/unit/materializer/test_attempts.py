"""A record that ends every process that comes to it is found, and nothing else is set aside."""

from __future__ import annotations

import random

import pytest

from headwater_consumers.kafka.attempts import Attempts
from headwater_consumers.kafka.offsets import committed_metadata, read_metadata
from headwater_consumers.kafka.records import FetchedRecord, Partition

P0 = Partition("t", 0, "now")
BATCH = 4_000


class Group:
    """Records and offsets of a partition with `end` records, of which some end the process that is handed them."""

    def __init__(self, end: int, *killers: int) -> None:
        self.end, self.killers = end, killers
        self.offset, self.metadata = 0, ""
        self.deaths = 0
        self.set_aside: list[int] = []

    def commit(self, offset: int, attempts: int) -> None:
        assert offset >= self.offset
        self.offset, self.metadata = offset, committed_metadata("now", attempts)

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
                self.commit(offset, attempts.before(partition) + 1)
            handed = attempts.handing(records)
            if last == self.end and attempts.at_end(P0):
                self.commit(last, 0)
            for record in handed:
                if record.ends_consumers:
                    self.set_aside.append(record.offset)
                elif record.offset in self.killers:
                    self.deaths += 1
                    return
            assert at_once is None or attempts.at_once == 0, "nothing more before these are committed"
            self.commit(last, attempts.number(P0))
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
    assert group.metadata == committed_metadata("now"), "the number is gone"


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


def test_the_end_of_a_partition_ends_the_care() -> None:
    attempts = Attempts()
    attempts.assigned(P0, 3)
    attempts.handing([FetchedRecord(P0, 7, b"")])
    assert attempts.at_once == 0
    attempts.committed({P0: 8})
    assert (attempts.at_once, attempts.number(P0)) == (16, 4)
    assert attempts.at_end(P0), "nothing else would take its number away"
    assert not attempts.has_number(P0)
    assert [attempts.at_once, attempts.number(P0)] == [None, 0]


def test_metadata_of_others_has_no_attempts(subtests: pytest.Subtests) -> None:
    for metadata, read in [
        (None, ("", 0)),
        ("attempts 3", ("", 0)),
        ("headwater topic-id x", ("x", 0)),
        ("headwater topic-id x attempts 3", ("x", 3)),
        ("headwater topic-id x attempts no", ("x", 0)),
    ]:
        with subtests.test(metadata=metadata):
            assert read_metadata(metadata) == read
