"""Wait of a script's end for its outbox, by a clock that only waiting moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_producers.outbox import Outbox, OutboxFigures

if TYPE_CHECKING:
    import pytest


class FakeOutbox(Outbox):
    """Kafka acknowledges one event at each of these times."""

    problem = "Kafka at broker-1:9092 can't be reached"

    def __init__(self, events: int, acknowledged_at: list[float]) -> None:
        self.now = 0.0
        self._clock = lambda: self.now
        self._events = events
        self._at = acknowledged_at

    def figures(self) -> OutboxFigures:
        return OutboxFigures("/outbox/broker-1", 0, 0, 0, sum(at <= self.now for at in self._at), 0, None)

    def await_relayed(self, timeout_seconds: float) -> int:
        whole = self._at[self._events - 1] if len(self._at) >= self._events else None
        self.now = min(self.now + timeout_seconds, whole if whole is not None else self.now + timeout_seconds)
        return self._events - self.figures().relayed


def ended(outbox: FakeOutbox) -> tuple[int, float]:
    """Number of undelivered events, and the time until that was known."""
    return outbox.flush_while_moving(15.0, stall_seconds=4.0), outbox.now


def test_a_dead_broker_is_waited_for_no_longer_than_it_may_stall(caplog: pytest.LogCaptureFixture) -> None:
    assert ended(FakeOutbox(9, [])) == (9, 4.0)
    [record] = caplog.records
    assert record.getMessage() == (
        "lineage capture: 9 events are not delivered yet: Kafka at broker-1:9092 can't be reached. "
        "They are in the outbox /outbox/broker-1; the next run that sends to the same topic delivers them"
    )


def test_a_slow_broker_is_waited_for_until_all_is_delivered(caplog: pytest.LogCaptureFixture) -> None:
    assert ended(FakeOutbox(3, [3.0, 6.0, 9.0])) == (0, 9.0)
    assert not caplog.records


def test_a_broker_that_dies_meanwhile_has_its_time_from_the_last_event_on() -> None:
    undelivered, waited = ended(FakeOutbox(3, [3.0]))
    assert (undelivered, waited) == (2, 8.0)


def test_no_broker_is_waited_for_longer_than_the_whole_time() -> None:
    assert ended(FakeOutbox(99, [float(at) for at in range(50)])) == (83, 15.0)
