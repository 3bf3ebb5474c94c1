from __future__ import annotations

from datetime import UTC, datetime

from headwater_producers.spark.streaming.run import Coalescing, IntervalBuffer, ReadyInterval
from headwater_schemas.events import EmissionReason, IntervalEntry

NOW = datetime(2026, 11, 21, tzinfo=UTC)
CHECKPOINT, VERSION = EmissionReason.CHECKPOINT, EmissionReason.VERSION_CHANGE


def add(waiting: IntervalBuffer, batch: int, change: EmissionReason | None = None, now: float = 0.0) -> list[list[int]]:
    return emitted(waiting.add(IntervalEntry(batch_id=batch), NOW, change, now))


def emitted(due: list[ReadyInterval]) -> list[list[int]]:
    return [[entry.batch_id for entry in each.entries] for each in due]


def test_by_default_none_waits() -> None:
    waiting = IntervalBuffer(Coalescing())
    assert [add(waiting, batch) for batch in (4, 5)] == [[[4]], [[5]]]
    assert not waiting


def test_until_they_are_many() -> None:
    waiting = IntervalBuffer(Coalescing(max_batches=3))
    assert [add(waiting, batch) for batch in range(7)] == [[], [], [[0, 1, 2]], [], [], [[3, 4, 5]], []]
    assert emitted(waiting.take(EmissionReason.STOP)) == [[6]]
    assert waiting.take(EmissionReason.STOP) == []


def test_until_the_first_is_old() -> None:
    waiting = IntervalBuffer(Coalescing(max_batches=100, max_seconds=10))
    add(waiting, 0, now=5.0)
    add(waiting, 1, now=14.0)
    assert waiting.overdue(14.9) == []
    assert emitted(waiting.overdue(15.0)) == [[0, 1]]
    add(waiting, 2, now=20.0)
    assert waiting.overdue(29.0) == [], "its own time counts, not that of the ones before it"


def test_a_change_does_not_wait() -> None:
    waiting = IntervalBuffer(Coalescing(max_batches=100))
    add(waiting, 0)
    due = waiting.add(IntervalEntry(batch_id=1), NOW, VERSION, 0.0)
    assert [(each.reason, emitted([each])) for each in due] == [(CHECKPOINT, [[0]]), (VERSION, [[1]])]


def test_only_consecutive_ones_share_an_event() -> None:
    waiting = IntervalBuffer(Coalescing(max_batches=100))
    assert add(waiting, 0) == []
    assert add(waiting, 2) == [[0]]


def test_what_becomes_known_of_one_that_waits_goes_with_it() -> None:
    waiting = IntervalBuffer(Coalescing(max_batches=2))
    add(waiting, 0)
    assert waiting.replace(IntervalEntry(batch_id=0, rows_out=7))
    [due] = waiting.add(IntervalEntry(batch_id=1), NOW, None, 0.0)
    assert [entry.rows_out for entry in due.entries] == [7, None]
    assert not waiting.replace(IntervalEntry(batch_id=0)), "it was sent"
