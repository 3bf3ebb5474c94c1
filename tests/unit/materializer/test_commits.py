"""Step 3: what is sent, what a confirmation settles, what is forgotten."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from headwater_consumers.kafka.backoff import Backoff, BackoffPolicy
from headwater_consumers.kafka.records import Partition
from headwater_consumers.materializer.checkpoint import Commits
from headwater_schemas.errors import BrokerUnavailableError
from support.materializer.clock import FakeClock

ONE, TWO = Partition("t", 0, "id"), Partition("t", 1, "id")


class Source:
    """Remembers what it is to commit."""

    def __init__(self) -> None:
        self.sent: list[dict[Partition, int]] = []
        self.now: list[dict[Partition, int]] = []
        self.error: Exception | None = None

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        self.sent.append(dict(offsets))

    def commit_now(self, offsets: Mapping[Partition, int]) -> None:
        if self.error is not None:
            raise self.error
        self.now.append(dict(offsets))


def made() -> tuple[Commits, Source, FakeClock, list[dict[Partition, int]]]:
    source, clock = Source(), FakeClock()
    confirmed: list[dict[Partition, int]] = []
    backoff = Backoff(BackoffPolicy(first_seconds=1), clock, lambda: 0.5)
    commits = Commits(source, backoff, lambda offsets, _: confirmed.append(dict(offsets)), clock)  # type: ignore[arg-type]
    return commits, source, clock, confirmed


def test_one_commit_is_under_way_at_a_time_and_the_next_takes_the_newest_offsets() -> None:
    commits, source, _, confirmed = made()
    for offset in (5, 9, 12):
        commits.add({ONE: offset})
        commits.send()
    assert source.sent == [{ONE: 5}]
    commits.answered(confirmed=True)
    assert confirmed == [{ONE: 5}]
    assert not commits.idle, "12 is not confirmed by the answer for 5"
    commits.send()
    assert source.sent[1:] == [{ONE: 12}]
    commits.answered(confirmed=True)
    assert commits.idle


def test_a_commit_that_fails_is_sent_again_after_its_back_off() -> None:
    commits, source, clock, confirmed = made()
    commits.add({ONE: 5})
    commits.send()
    commits.answered(confirmed=False)
    commits.send()
    assert len(source.sent) == 1
    clock.advance(1)
    commits.add({TWO: 3})
    commits.send()
    assert source.sent[1:] == [{ONE: 5, TWO: 3}]
    assert confirmed == []


def test_offsets_of_partitions_that_go_are_flushed_and_the_others_wait_for_their_turn() -> None:
    commits, source, _, confirmed = made()
    commits.add({ONE: 5, TWO: 7})
    commits.flush([ONE])
    assert source.now == [{ONE: 5}]
    assert confirmed == [{ONE: 5}]
    commits.send()
    assert source.sent == [{TWO: 7}]


def test_a_flush_that_fails_keeps_them_until_they_are_dropped() -> None:
    commits, source, _, _ = made()
    commits.add({ONE: 5})
    source.error = BrokerUnavailableError("away")
    with pytest.raises(BrokerUnavailableError):
        commits.flush([ONE])
    commits.drop([ONE])
    commits.send()
    assert source.sent == [], "or a partition that comes back later would be set back"


@pytest.mark.parametrize("answered_first", [True, False])
def test_trouble_with_what_was_dropped_is_over(*, answered_first: bool) -> None:
    commits, _, _, _ = made()
    commits.add({ONE: 5})
    commits.send()
    if answered_first:
        commits.answered(confirmed=False)
    commits.drop([ONE])
    if not answered_first:
        commits.answered(confirmed=False)
    assert commits.backoff.attempts == 0, "or a consumer without partitions would say for ever that Kafka is not well"
