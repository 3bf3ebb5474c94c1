from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headwater_producers.spark.driver.listeners import Inbox, SignalTarget
from headwater_producers.spark.driver.signals import (
    BatchFunctionCalled,
    CommandEnded,
    QueryProgressed,
    QueryStarted,
    QueryTerminated,
    Signal,
    TopicWriteBegins,
)
from support.waiting import patience

if TYPE_CHECKING:
    import pytest


def test_first_in_first_out_and_urgent_before_all() -> None:
    inbox: Inbox[int] = Inbox(10)
    for number in range(3):
        inbox.put(number)
    inbox.put_urgent(99)
    assert [inbox.take(0) for _ in range(5)] == [99, 0, 1, 2, None]


def test_what_finds_no_room_is_counted() -> None:
    inbox: Inbox[int] = Inbox(2)
    assert [inbox.put(number) for number in range(4)] == [True, True, False, False]
    inbox.put_urgent(99)
    assert (inbox.waiting, inbox.received, inbox.dropped) == (2, 2, 2)
    assert inbox.put(100, always=True)
    assert [inbox.take(0) for _ in range(4)] == [99, 0, 1, 100]


def test_taking_waits_for_a_put() -> None:
    inbox: Inbox[int] = Inbox(2)
    taken: list[int | None] = []
    taker = threading.Thread(target=lambda: taken.append(inbox.take(patience(30))))
    taker.start()
    inbox.put(7)
    taker.join(patience(30))
    assert taken == [7]


def test_all_that_waits_at_once() -> None:
    inbox: Inbox[int] = Inbox(5)
    inbox.put(1)
    inbox.put(2)
    assert list(inbox.take_waiting()) == [1, 2]
    assert list(inbox.take_waiting()) == []
    assert inbox.put(3)


def test_what_is_heavy_has_less_company() -> None:
    inbox: Inbox[str] = Inbox(10, limit_bytes=100)
    assert inbox.put("heavy", weight=1_000), "one always has room"
    assert not inbox.put("light", weight=1)
    assert inbox.put("kept", weight=1, always=True)
    assert (inbox.waiting, inbox.bytes, inbox.dropped) == (2, 1_001, 1)
    assert [inbox.take(0), inbox.bytes, inbox.take(0), inbox.bytes] == ["heavy", 1, "kept", 0]
    assert [inbox.put(str(number), weight=40) for number in range(4)] == [True, True, False, False]


def test_what_is_being_taken_counts_until_its_turn_has_come() -> None:
    """Else a worker that takes all at once, to handle it one by one, would make room for as much again."""
    inbox: Inbox[int] = Inbox(3, limit_bytes=30)
    for number in range(3):
        inbox.put(number, weight=10)
    inbox.put_urgent(99)
    seen = []
    for item in inbox.take_waiting():
        seen.append((item, inbox.waiting, inbox.bytes))
        inbox.put(100 + item, weight=10)
        assert not inbox.put(-1, weight=10)
    assert seen == [(0, 2, 20), (1, 2, 20), (2, 2, 20)], "what comes meanwhile is left for later"
    assert [inbox.take(0) for _ in range(4)] == [99, 100, 101, 102]


AT = datetime(2013, 1, 1, tzinfo=UTC)


def target(inbox: Inbox[Signal]) -> SignalTarget:
    return SignalTarget(inbox, lambda _frame, _query_id, _batch_id: None)


SIGNALS: list[tuple[Signal, bool]] = [
    (QueryStarted(event=None, query=None, session=None, at=AT), True),
    (QueryTerminated(event=None, at=AT), True),
    # Without it the writes of micro-batch 8 would be emitted as those of 7.
    (BatchFunctionCalled(frame=None, query_id="q", batch_id=8), True),
    (QueryProgressed(event=None, session=None, at=AT), False),
    (CommandEnded("save", None, None, None, None, AT), False),
]


def test_where_too_many_wait_only_what_nothing_else_reports_is_taken(subtests: pytest.Subtests) -> None:
    for signal, kept in SIGNALS:
        with subtests.test(signal=signal):
            inbox: Inbox[Signal] = Inbox(limit=0)
            target(inbox).offer(signal)
            assert (list(inbox.take_waiting()) == [signal]) is kept
            assert inbox.dropped == (not kept)


def test_a_write_to_a_topic_does_not_wait_for_what_is_not_taken() -> None:
    asked = threading.Event()
    target(Inbox(limit=0)).offer(TopicWriteBegins(writer=None, session=None, asked=asked))
    assert asked.is_set()
    asked = threading.Event()
    target(Inbox(limit=1)).offer(TopicWriteBegins(writer=None, session=None, asked=asked))
    assert not asked.is_set()
