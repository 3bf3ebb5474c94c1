"""Waiting for the consumer: until it is through, or stuck, which is for the checks to judge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import pytest

from headwater.demo import scenario
from headwater.demo.broker import Broker, EventProgress
from headwater.demo.processes import DemoConsumer
from headwater.demo.view import View


class Script:
    """A broker that says one thing after the other, the last for ever; and the consumer beside it."""

    log = "consumer.log"

    def __init__(self, *reports: EventProgress | None) -> None:
        self._reports: Iterator[EventProgress | None] = iter(reports)
        self._last: EventProgress | None = None
        self.watched = 0

    def reader(self) -> Any:
        return None

    def progress(self, _reader: Any) -> EventProgress | None:
        self._last = next(self._reports, self._last)
        return self._last

    def watch(self) -> None:
        self.watched += 1


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenario, "_STUCK_SECONDS", 0.05)
    monkeypatch.setattr(scenario, "_POLL_SECONDS", 0.01)


def caught_up(script: Script) -> bool:
    return scenario._caught_up(cast("Broker", script), cast("DemoConsumer", script), View())


def test_it_is_through_when_every_event_is_processed() -> None:
    script = Script(None, EventProgress(10, 4), EventProgress(10, 9, 1), EventProgress(10, 10, 1))
    assert caught_up(script)
    assert script.watched == 3


def test_a_stuck_consumer_is_reported_and_left_to_the_checks(capsys: pytest.CaptureFixture[str]) -> None:
    assert not caught_up(Script(EventProgress(10, 4)))
    reported = capsys.readouterr().err
    assert "4 of 10 events" in reported
    assert "consumer.log" in reported
