"""Events of one body are folded once, and to the same as one by one."""

from __future__ import annotations

import copy
import importlib
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from headwater_graph.fold import fold
from headwater_graph.fold.builder import Builder
from headwater_graph.fold.fold import fold_event
from headwater_graph.keys import job_key
from headwater_schemas.events import JobRef, LifecycleChange, LineageEvent
from headwater_schemas.identity import event_id
from support.events import FULL_EVENTS

KINDS = ("dataset", "job", "plan")
TIMES = (0, 3, -2, 1)


def again(event: LineageEvent, seconds: int, **changes: Any) -> LineageEvent:
    moved = msgspec.structs.replace(event, event_time=event.event_time + timedelta(seconds=seconds), **changes)
    return msgspec.structs.replace(moved, event_id=event_id(moved))


def without_lifecycle(name: str) -> LineageEvent:
    event = FULL_EVENTS[name]()
    if event.dataset_event is not None:
        body = msgspec.structs.replace(event.dataset_event, lifecycle=None, previous=None)
        event = again(event, 0, dataset_event=body)
    return event


def apart(event: LineageEvent, name: str) -> LineageEvent:
    """The event with a body that no other event has."""
    return msgspec.structs.replace(event, **{f"{name}_event": copy.deepcopy(getattr(event, f"{name}_event"))})


@pytest.mark.parametrize("name", KINDS)
def test_as_one_by_one(name: str) -> None:
    event = without_lifecycle(name)
    events = [again(event, seconds) for seconds in TIMES]
    events += [again(event, seconds, job=JobRef("another", "job")) for seconds in TIMES]
    events += [again(event, 9, tenant="another")]
    assert fold(events) == fold([apart(each, name) for each in events])


def test_what_happens_to_a_dataset_happens_at_each_time() -> None:
    event = FULL_EVENTS["dataset"]()
    assert event.dataset_event is not None
    body = msgspec.structs.replace(event.dataset_event, lifecycle=LifecycleChange.DROP, previous=None)
    events = [again(event, seconds, dataset_event=body) for seconds in TIMES]
    assert fold(events) == fold([apart(each, "dataset") for each in events])


def test_bodies_that_differ_are_each_folded() -> None:
    events = [without_lifecycle(name) for name in KINDS]
    together = fold([])
    for event in events:
        together.add(fold([event]))
    assert fold(events) == replace(together, events=len(events))


def test_a_dataset_s_event_may_name_a_job() -> None:
    event = without_lifecycle("dataset")
    named = again(event, 0, job=JobRef("another", "job"))
    assert job_key(event.tenant, "another", "job") in fold([named]).jobs
    assert not fold([again(event, 0, job=None)]).jobs


@pytest.mark.parametrize("name", ["job", "plan"])
def test_a_job_s_event_without_its_job_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="without its job"):
        fold([msgspec.structs.replace(FULL_EVENTS[name](), job=None)])


def test_one_event_is_folded_alike_by_itself(subtests: pytest.Subtests) -> None:
    for name in FULL_EVENTS:
        with subtests.test(name):
            event, into = FULL_EVENTS[name](), Builder()
            fold_event(into, event)
            assert replace(into.delta, events=1) == fold([event])


@pytest.mark.parametrize("name", KINDS)
def test_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    module = importlib.import_module(fold.__module__)
    real = getattr(module, f"fold_{name}")

    def folded(*given: Any) -> None:
        calls.append(name)
        real(*given)

    monkeypatch.setattr(module, f"fold_{name}", folded)
    event = without_lifecycle(name)
    fold([again(event, seconds) for seconds in TIMES])
    assert calls == [name]
