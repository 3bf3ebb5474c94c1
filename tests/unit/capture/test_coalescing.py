from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from headwater_producers.spark.common.settings import CaptureSettings
from headwater_producers.spark.streaming.interval_events import Coalescing, IntervalBuffer, ReadyInterval
from headwater_schemas.events import EmissionReason, IntervalEntry

BEGAN = datetime(2026, 11, 21, tzinfo=UTC)
CHECKPOINT, VERSION, STOP = EmissionReason.CHECKPOINT, EmissionReason.VERSION_CHANGE, EmissionReason.STOP


def add(buffer: IntervalBuffer, batch: int, change: EmissionReason | None = None, now: float = 0.0) -> list[list[int]]:
    """Adds a micro-batch that ended, and was reported, `now` seconds after the test began."""
    return emitted(buffer.add(IntervalEntry(batch_id=batch), BEGAN + timedelta(seconds=now), change, now))


def emitted(due: list[ReadyInterval]) -> list[list[int]]:
    return [[entry.batch_id for entry in each.entries] for each in due]


def test_the_settings_defaults_are_these() -> None:
    settings = CaptureSettings()
    assert Coalescing(settings.coalesce_max_batches, settings.coalesce_max_seconds) == Coalescing() == Coalescing(64, 1)


def test_those_of_a_query_that_triggers_once_a_second_or_less_do_not_wait() -> None:
    buffer = IntervalBuffer(Coalescing())
    assert [add(buffer, batch, now=1.0 * batch) for batch in range(4)] == [[[0]], [[1]], [[2]], [[3]]]
    assert buffer.overdue_in(3.0) == math.inf


def test_those_of_a_faster_query_share_an_event_of_the_last_second() -> None:
    buffer = IntervalBuffer(Coalescing())
    assert add(buffer, 0) == [[0]], "the first doesn't wait"
    assert [add(buffer, batch, now=0.25 * batch) for batch in (1, 2, 3, 4)] == [[]] * 4
    assert buffer.overdue_in(1.0) == 0.25
    assert buffer.overdue(1.2) == []
    assert emitted(buffer.overdue(1.25)) == [[1, 2, 3, 4]], "one second after the first of them"
    assert add(buffer, 5, now=1.3) == []
    assert buffer.overdue(2.2) == [], "its own time counts, not that of the ones before it"
    assert add(buffer, 6, now=4.0) == [[5, 6]], "a pause: nothing that waits is left behind"


def test_there_are_64_in_an_event_at_most() -> None:
    buffer = IntervalBuffer(Coalescing())
    due = [ids for batch in range(130) for ids in add(buffer, batch, now=batch / 1_000)]
    assert due == [[0], list(range(1, 65)), list(range(65, 129))]
    assert emitted(buffer.take(STOP)) == [[129]]
    assert buffer.take(STOP) == []


def test_switched_off_each_has_its_own() -> None:
    buffer = IntervalBuffer(Coalescing(max_batches=1))
    assert [add(buffer, batch) for batch in (4, 5)] == [[[4]], [[5]]]
    assert not buffer


def test_a_change_does_not_wait() -> None:
    buffer = IntervalBuffer(Coalescing())
    add(buffer, 0)
    add(buffer, 1)
    due = buffer.add(IntervalEntry(batch_id=2), BEGAN, VERSION, 0.0)
    assert [(each.reason, emitted([each])) for each in due] == [(CHECKPOINT, [[1]]), (VERSION, [[2]])]


def test_only_consecutive_ones_share_an_event() -> None:
    buffer = IntervalBuffer(Coalescing())
    add(buffer, 0)
    assert add(buffer, 1) == []
    assert add(buffer, 3) == [[1]]
