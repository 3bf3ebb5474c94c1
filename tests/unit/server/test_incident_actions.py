"""Actions on incidents sent over HTTP: who may, what is published, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest

from headwater_analysis.errors import GraphUnreachableError
from headwater_analysis.incidents import actions
from headwater_analysis.incidents.marks import MarkingReader
from headwater_schemas.events import IncidentAction, IncidentScope, IncidentSeverity, LineageEvent
from headwater_server.identity import Identity, Scope
from support.analysis.incident_events import INCIDENT, opened
from support.api import FakeGraph, client_of, fake_graph
from support.api_tokens import TOKEN, tokens_file
from support.incidents import reach, reader_of_incidents
from support.openlineage import FakeSink

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from headwater_analysis.incidents.answers import IncidentReach

PATH = "/api/v1/incidents"
BODY: dict[str, Any] = {"title": "Wrong totals", "scope": [{"consumer": "board"}], "severity": "sev2"}


@dataclass(frozen=True)
class _Graph(FakeGraph):
    events: tuple[LineageEvent, ...] = ()

    def reader(self, identity: Identity, timeout_seconds: float | None = None, *, operation: str = "") -> MarkingReader:
        if self.raises is not None:
            return super().reader(identity, timeout_seconds, operation=operation)
        return cast("MarkingReader", reader_of_incidents(*self.events))


@contextmanager
def door(
    sink: FakeSink | None = None, raises: Exception | None = None, events: tuple[LineageEvent, ...] = (), **serve: Any
) -> Iterator[tuple[httpx.Client, FakeSink]]:
    sink = sink or FakeSink()
    fake = fake_graph(**{"declare": True, **serve})
    graph = _Graph(fake.driver, fake.target, fake.analysis, fake.serve, sink=sink, raises=raises, events=events)
    with client_of(graph) as client:
        yield client, sink


def test_an_opening_is_answered_201_and_published() -> None:
    with door() as (client, sink):
        answer = client.post(PATH, json=BODY)
        assert answer.status_code == 201, answer.text
        found = answer.json()
        (event,) = sink.taken
        assert event.incident_event is not None
        assert (found["incident"], found["was_open"]) == (event.incident_event.incident, False)
        assert event.incident_event.action is IncidentAction.OPENED
        assert event.incident_event.severity is IncidentSeverity.SEV2
        assert event.incident_event.by == "api"


def test_the_sender_is_who_acts_and_needs_the_scope(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for scope, status in ((Scope.INCIDENTS, 201), (Scope.DECLARE, 403), (Scope.READ, 403), (None, 401)):
        with subtests.test(scope=scope):
            tokens = tokens_file(tmp_path / f"{scope}.json", *([scope] if scope else [Scope.READ]))
            with door(tokens_file=tokens) as (client, sink):
                headers = {} if scope is None else {"Authorization": f"Bearer {TOKEN}"}
                assert client.post(PATH, json=BODY, headers=headers).status_code == status
                assert client.post(f"{PATH}/INC-1/actions", json={}, headers=headers).status_code in (status, 422)
                for event in sink.taken:
                    assert event.incident_event is not None
                    assert event.incident_event.by == "tests"
                assert len(sink.taken) == (status == 201)


@pytest.mark.parametrize("path", [PATH, f"{PATH}/INC-1/actions"])
def test_a_door_that_is_closed(path: str) -> None:
    with door(declare=False) as (client, sink):
        answer = client.post(path, json=BODY)
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:headwater:no-such-path")
        assert "HEADWATER_SERVE_DECLARE" in answer.json()["detail"]
        assert not sink.taken


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({**BODY, "colour": "red"}, 422, "colour"),
        ({**BODY, "scope": [{"dataset": "d", "offsets": [{"partition": 0, "start": -1, "end": 2}]}]}, 422, "start"),
        ({**BODY, "scope": [{"consumer": "board", "since": 7}]}, 422, "since"),
        ({**BODY, "severity": "sev9"}, 422, "severity"),
        ({**BODY, "title": "\ud800"}, 422, "title"),
        ({**BODY, "scope": []}, 400, "at least one part"),
        ({**BODY, "scope": [{}]}, 400, "exactly one"),
        ({**BODY, "scope": [{"consumer": "board", "partition": "day=1"}]}, 400, "only a part of a dataset"),
    ],
)
def test_a_body_that_is_refused(body: dict[str, Any], status: int, words: str) -> None:
    with door() as (client, sink):
        # By the standard library, which also writes half of a surrogate pair.
        answer = client.post(PATH, content=json.dumps(body), headers={"Content-Type": "application/json"})
        assert answer.status_code == status, answer.text
        assert words in answer.text
        assert not sink.taken


def test_an_action_on_an_incident_that_is_not_there() -> None:
    with door() as (client, sink):
        answer = client.post(f"{PATH}/INC-1/actions", json={"action": "acknowledged"})
        assert (answer.status_code, answer.json()["type"]) == (404, "urn:headwater:not-found")
        assert not sink.taken


def test_a_resolution_as_repaired_is_checked_as_by_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused while bad data is left, unless it is forced. Every resolution returns what is left."""
    asked: list[object] = []

    def reach_of(*_: object, **__: object) -> IncidentReach:
        asked.append(None)
        return reach(bad=1)

    monkeypatch.setattr(actions, "reach_of", reach_of)
    resolved = {"action": "resolved", "resolution": "repaired", "reason": "Ran again."}
    with door(events=(opened(IncidentScope(consumer="board")),)) as (client, sink):
        path = f"{PATH}/{INCIDENT}/actions"
        answer = client.post(path, json=resolved)
        assert (answer.status_code, answer.json()["type"]) == (400, "urn:headwater:question")
        assert f"{INCIDENT} isn't repaired: bad data is left in 1 dataset (n/d0)." in answer.json()["detail"]
        assert [each["field"] for each in answer.json()["errors"]] == ["resolution"]
        assert (sink.taken, len(asked)) == ([], 1)
        for body in ({**resolved, "force": True}, {**resolved, "resolution": "false_positive"}):
            answer = client.post(path, json=body)
            assert (answer.status_code, answer.json()["left"]) == (201, "bad data is left in 1 dataset (n/d0).")
        assert (len(sink.taken), len(asked)) == (2, 3)
        assert client.post(path, json={"action": "acknowledged"}).json()["left"] is None
        assert len(asked) == 3


def test_a_declared_repair_needs_a_reason() -> None:
    part = {"action": "repaired", "scope": [{"consumer": "board"}]}
    with door(events=(opened(IncidentScope(consumer="board")),)) as (client, sink):
        path = f"{PATH}/{INCIDENT}/actions"
        for reason in ({}, {"reason": ""}):
            answer = client.post(path, json=part | reason)
            assert (answer.status_code, answer.json()["type"]) == (400, "urn:headwater:question")
            assert answer.json()["errors"][0]["field"] == "reason"
        assert not sink.taken
        assert client.post(path, json=part | {"reason": "Ran again."}).status_code == 201


def test_without_the_graph_or_kafka_it_is_503() -> None:
    with door(raises=GraphUnreachableError("bolt://graph.invalid:7687")) as (client, sink):
        assert client.post(PATH, json=BODY).json()["type"] == "urn:headwater:graph-unreachable"
        assert not sink.taken
    failing = FakeSink()
    failing.holding = True
    with door(failing, intake_timeout_seconds=1.0) as (client, _):
        answer = client.post(PATH, json=BODY)
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:headwater:kafka-unavailable")
