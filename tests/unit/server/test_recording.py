"""Records of reaches after actions over HTTP: when they are made, and what is logged if they aren't."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headwater_analysis.incidents.actions import Prepared
from headwater_openlineage.intake.sink import Undeliverable
from headwater_schemas.events import IncidentAction, IncidentScope, LineageEvent
from headwater_server import recording
from headwater_server.recording import ReachRecorder
from support.analysis.incident_events import INCIDENT, LATER, act, opened
from support.api import fake_graph
from support.incidents import an_incident, reach
from support.openlineage import FakeSink

if TYPE_CHECKING:
    from headwater_analysis.incidents.answers import Incident

PART = IncidentScope(consumer="board")


class Scene:
    """A recorder, and what the graph has.

    Attributes:
        has: events of actions that the graph has.
        now: seconds of the clock.
        fault: error of every question.
        asked: number of reaches that were computed.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sink = FakeSink()
        self.recorder = ReachRecorder(fake_graph(declare=True), clock=lambda: self.now)
        self.has: list[LineageEvent] = []
        self.now, self.asked = 0.0, 0
        self.fault: Exception | None = None
        monkeypatch.setattr(recording, "with_action", lambda _, event: an_incident(None) if event in self.has else None)
        monkeypatch.setattr(recording, "incident", self._incident)

    def _incident(self, *_: Any, **__: Any) -> Incident:
        self.asked += 1
        if self.fault is not None:
            raise self.fault
        return an_incident(reach())

    def round(self) -> list[str]:
        """Actions of the events on the topic after a round."""
        self.recorder.once(self.sink)
        return [str(event.incident_event.action) for event in self.sink.taken if event.incident_event is not None]


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(monkeypatch)


def action(event: LineageEvent, carried: LineageEvent | None = None, reached: str | None = INCIDENT) -> Prepared:
    return Prepared(incident=INCIDENT, event=event, was_open=True, carried=carried, reached=reached)


def test_a_reach_is_recorded_once_the_graph_has_the_action(scene: Scene) -> None:
    event = opened(PART)
    scene.recorder.record(action(event))
    assert scene.round() == []
    scene.has.append(event)
    assert scene.round() == ["REACHED"]
    assert scene.round() == ["REACHED"]
    assert scene.asked == 1


def test_a_merge_waits_for_both_events(scene: Scene) -> None:
    event = act(IncidentAction.MERGED, into="INC-2")
    carried = act(IncidentAction.SCOPE_CHANGED, PART, of="INC-2")
    scene.recorder.record(action(event, carried, reached="INC-2"))
    scene.has.append(carried)
    assert scene.round() == []
    scene.has.append(event)
    assert scene.round() == ["REACHED"]


def test_of_several_actions_the_latest_counts(scene: Scene) -> None:
    first, second = opened(PART), act(IncidentAction.REPAIRED, PART, at=LATER + timedelta(hours=1))
    scene.recorder.record(action(first))
    scene.recorder.record(action(second))
    scene.has.append(first)
    assert scene.round() == []
    scene.has.append(second)
    assert scene.round() == ["REACHED"]


def test_an_action_that_changes_no_reach(scene: Scene) -> None:
    event = act(IncidentAction.ACKNOWLEDGED)
    scene.recorder.record(action(event, reached=None))
    scene.has.append(event)
    assert scene.round() == []
    assert scene.asked == 0


def test_an_action_that_the_graph_does_not_get(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    scene.recorder.record(action(opened(PART)))
    scene.now = 299
    assert scene.round() == []
    assert not caplog.records
    scene.now = 301
    for _ in range(2):
        assert scene.round() == []
    (record,) = caplog.records
    assert f"The reach of {INCIDENT} wasn't recorded: the graph didn't get the action" in record.getMessage()
    assert "headwater incident refresh" in record.getMessage()


def test_an_error_ends_neither_the_recorder_nor_other_records(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    event = opened(PART)
    scene.has.append(event)
    scene.recorder.record(action(event))
    scene.fault = ValueError("a malformed log\x1b[2J")
    for _ in range(4):
        assert scene.round() == []
    assert scene.asked == 3
    (record,) = caplog.records
    assert "ValueError: a malformed log" in record.getMessage()
    assert "\x1b" not in record.getMessage()
    scene.fault = None
    scene.recorder.record(action(event))
    assert scene.round() == ["REACHED"]


def test_a_record_that_kafka_does_not_take(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    event = opened(PART)
    scene.has.append(event)
    scene.sink.failure = Undeliverable("", "no broker", for_good=False)
    scene.recorder.record(action(event))
    scene.round()
    assert [(each.levelno, INCIDENT in each.getMessage()) for each in caplog.records] == [(logging.WARNING, True)]


def test_after_its_end_nothing_is_recorded(scene: Scene) -> None:
    event = opened(PART)
    scene.has.append(event)
    scene.recorder.record(action(event))
    scene.recorder.stop()
    assert scene.round() == []
