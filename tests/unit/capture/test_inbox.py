from __future__ import annotations

import threading

from headwater_producers.spark.runtime.inbox import Inbox


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
    taker = threading.Thread(target=lambda: taken.append(inbox.take(30)))
    taker.start()
    inbox.put(7)
    taker.join(30)
    assert taken == [7]


def test_all_that_waits_at_once() -> None:
    inbox: Inbox[int] = Inbox(5)
    inbox.put(1)
    inbox.put(2)
    assert inbox.take_waiting() == [1, 2]
    assert inbox.take_waiting() == []
    assert inbox.put(3)
