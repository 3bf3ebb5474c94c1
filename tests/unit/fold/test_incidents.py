"""State of an incident after each action in each state, derived by hand."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations
from typing import TYPE_CHECKING, Any

import msgspec

from headwater_graph.facts.incidents import IncidentEntry, IncidentFacts
from headwater_graph.facts.model import Label
from headwater_graph.fold import fold
from headwater_graph.incidents import (
    IncidentState,
    IncidentStatus,
    concerned,
    datahub_stage,
    datahub_type,
    incident_properties,
    incident_state,
    reached_links,
    scope_part,
)
from headwater_graph.keys import column_key, dataset_key, job_key, run_key
from headwater_graph.oracle import oracle
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    IncidentAction,
    IncidentEvent,
    IncidentResolution,
    IncidentScope,
    IncidentSeverity,
    IncidentType,
    LineageEvent,
    NotificationChange,
    NotifiedRecipient,
    ReachedDataset,
    ReachedPart,
    build,
)
from headwater_schemas.identity import reached_text, scope_text
from support.events import DEPARTED, JOB, LATER, PRODUCER, TIME

if TYPE_CHECKING:
    import pytest


def reached(name: str, *, cleared: bool = False, depth: int = 0) -> ReachedDataset:
    parts = () if cleared else (ReachedPart(certainty=Certainty.EXACT, version="1"),)
    return ReachedDataset(
        dataset=DatasetRef("k", name),
        depth=depth,
        certainty=Certainty.EXACT,
        since=TIME,
        cleared=cleared,
        parts=parts,
        part_count=len(parts),
        digest="ab" * 32,
    )


def notified(recipient: str, change: str = "OPENED", digest: str = "ab" * 32) -> NotifiedRecipient:
    return NotifiedRecipient(recipient=recipient, channel="c", digest=digest, change=NotificationChange(change))


A, B = IncidentScope(run="a"), IncidentScope(run="b")
GIVEN: dict[IncidentAction, dict[str, Any]] = {
    IncidentAction.OPENED: {"title": "title", "scope": (A,)},
    IncidentAction.ASSIGNED: {"assignee": "team"},
    IncidentAction.SCOPE_CHANGED: {"scope": (B,), "removed": (A,)},
    IncidentAction.MERGED: {"into": "other"},
    IncidentAction.SUPERSEDED: {"into": "newer"},
    IncidentAction.REPAIRED: {"scope": (A,)},
    IncidentAction.RESOLVED: {"resolution": IncidentResolution.REPAIRED, "reason": "ran again"},
    IncidentAction.NOTED: {"reason": "looked at it"},
    IncidentAction.REACHED: {"reached": (reached("t"),), "as_of": TIME + timedelta(seconds=9), "complete": True},
    IncidentAction.NOTIFIED: {"notified": (notified("team"),)},
}


def action(name: str, second: int, **fields: Any) -> LineageEvent:
    kind = IncidentAction(name)
    body = IncidentEvent(incident="i", action=kind, by="jo", **GIVEN.get(kind, {}) | fields)
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME + timedelta(seconds=second))


def state_of(*events: LineageEvent) -> IncidentState:
    [incident] = fold(events).incidents.values()
    return incident_state(incident.log, incident.reached)


def after(names: str) -> IncidentState:
    """State after actions, one a second from second 0 on."""
    return state_of(*(action(name, second) for second, name in enumerate(names.split())))


def fields(state: IncidentState) -> dict[str, Any]:
    """Whatever isn't as it is after OPENED alone, by its name; times in seconds."""
    found = {name: getattr(state, name) for name in IncidentState.__dataclass_fields__ if name != "history"}
    found |= {name: [part.run for part in found[name].values()] for name in ("scope", "repaired")}
    if state.reached is not None:
        found["reached"] = [each.dataset.name for each in state.reached]
    found["notified"] = list(state.notified) or None
    for name in ("opened_at", "acknowledged_at", "resolved_at", "reached_as_of"):
        if found[name] is not None:
            found[name] = (found[name] - TIME).seconds
    opened = {"status": "New", "title": "title", "opened_at": 0, "scope": ["a"], "repaired": [], "reopened": 0}
    return {name: value for name, value in found.items() if value != opened.get(name)}


ACK: dict[str, Any] = {"status": "Ack", "acknowledged_at": 1}
ASSIGNED: dict[str, Any] = {"status": "Assigned", "assignee": "team"}
RESOLVED: dict[str, Any] = {"status": "Resolved", "resolved_at": 1, "resolution": "REPAIRED"}
STATES: dict[str, tuple[str, dict[str, Any]]] = {
    "New": ("OPENED", {}),
    "Ack": ("OPENED ACKNOWLEDGED", ACK),
    "Assigned": ("OPENED ASSIGNED", ASSIGNED),
    "Resolved": ("OPENED RESOLVED", RESOLVED),
}
NOTHING: dict[str, Any] = {}
CHANGED: dict[str, dict[str, dict[str, Any]]] = {
    "OPENED": {"New": NOTHING, "Ack": NOTHING, "Assigned": NOTHING, "Resolved": NOTHING},
    "ACKNOWLEDGED": {
        "New": {"status": "Ack", "acknowledged_at": 1},
        "Ack": NOTHING,
        "Assigned": {"acknowledged_at": 2},
        "Resolved": NOTHING,
    },
    "ASSIGNED": {
        "New": {"status": "Assigned", "assignee": "team"},
        "Ack": {"status": "Assigned", "assignee": "team"},
        "Assigned": NOTHING,
        "Resolved": NOTHING,
    },
    "SCOPE_CHANGED": {key: {"scope": ["b"]} for key in STATES},
    "MERGED": {
        "New": {"status": "Resolved", "resolved_at": 1, "merged_into": "other"},
        "Ack": {"status": "Resolved", "resolved_at": 2, "merged_into": "other"},
        "Assigned": {"status": "Resolved", "resolved_at": 2, "merged_into": "other"},
        "Resolved": {"merged_into": "other"},
    },
    "SUPERSEDED": {
        "New": {"status": "Resolved", "resolved_at": 1, "superseded_by": "newer"},
        "Ack": {"status": "Resolved", "resolved_at": 2, "superseded_by": "newer"},
        "Assigned": {"status": "Resolved", "resolved_at": 2, "superseded_by": "newer"},
        "Resolved": {"superseded_by": "newer"},
    },
    "REPAIRED": {key: {"repaired": ["a"]} for key in STATES},
    "RESOLVED": {
        "New": {"status": "Resolved", "resolved_at": 1, "resolution": "REPAIRED"},
        "Ack": {"status": "Resolved", "resolved_at": 2, "resolution": "REPAIRED"},
        "Assigned": {"status": "Resolved", "resolved_at": 2, "resolution": "REPAIRED"},
        "Resolved": NOTHING,
    },
    "REOPENED": {
        "New": NOTHING,
        "Ack": NOTHING,
        "Assigned": NOTHING,
        "Resolved": {"status": "New", "resolved_at": None, "resolution": None, "reopened": 1},
    },
    "NOTED": dict.fromkeys(STATES, NOTHING),
    "REACHED": {key: {"reached": ["t"], "reached_as_of": 9, "reached_complete": True} for key in STATES},
    "NOTIFIED": {key: {"notified": ["team"]} for key in STATES},
}
"""Action to state before it, and what the action changes."""


def test_each_action_in_each_state(subtests: pytest.Subtests) -> None:
    for name, changes in CHANGED.items():
        for status, (before, known) in STATES.items():
            with subtests.test(action=name, state=status):
                expected = {field: value for field, value in (known | changes[status]).items() if value is not None}
                found = fields(after(f"{before} {name}"))
                assert found.pop("status", "New") == expected.pop("status", "New")
                assert found == expected


def test_every_action_is_tried_in_every_state() -> None:
    assert set(CHANGED) | {"UNKNOWN"} == {*IncidentAction}
    assert all(set(changes) == set(STATES) == {*IncidentStatus} for changes in CHANGED.values())


SEQUENCES: dict[str, dict[str, Any]] = {
    "OPENED ASSIGNED RESOLVED REOPENED": ASSIGNED | {"reopened": 1},
    "OPENED ACKNOWLEDGED RESOLVED REOPENED": {"acknowledged_at": 1, "reopened": 1},
    "OPENED ACKNOWLEDGED RESOLVED REOPENED ACKNOWLEDGED": ACK | {"reopened": 1},
    "OPENED MERGED SUPERSEDED REOPENED": {"reopened": 1},
    "OPENED MERGED SUPERSEDED": {
        "status": "Resolved",
        "resolved_at": 1,
        "merged_into": "other",
        "superseded_by": "newer",
    },
    "OPENED RESOLVED REOPENED REOPENED": {"reopened": 1},
    "OPENED RESOLVED REOPENED RESOLVED": RESOLVED | {"resolved_at": 3, "reopened": 1},
    "OPENED RESOLVED ACKNOWLEDGED ASSIGNED REOPENED": {"reopened": 1},
    "OPENED REPAIRED OPENED": {},
    "OPENED REPAIRED SCOPE_CHANGED": {"scope": ["b"], "repaired": ["a"]},
    "OPENED SCOPE_CHANGED OPENED": {"scope": ["a", "b"]},
}


def test_sequences(subtests: pytest.Subtests) -> None:
    for names, expected in SEQUENCES.items():
        with subtests.test(names):
            assert fields(after(names)) == expected


def test_without_its_opening_an_incident_has_no_state() -> None:
    state = after("ACKNOWLEDGED ASSIGNED")
    assert (state.status, state.opened_at, state.is_open) == (None, None, False)
    assert (state.assignee, state.acknowledged_at) == ("team", TIME)
    found = incident_properties([], state)
    assert found["missing_opened"] is True
    assert found["state"] is None


def test_what_is_open() -> None:
    found = {names: after(names).is_open for names in ("OPENED", "OPENED ASSIGNED", "OPENED MERGED", "OPENED RESOLVED")}
    assert found == {"OPENED": True, "OPENED ASSIGNED": True, "OPENED MERGED": False, "OPENED RESOLVED": False}


def test_an_action_stamped_before_the_opening_counts() -> None:
    """The clock of whoever acknowledged it is late by a second."""
    state = state_of(action("OPENED", 1), action("ACKNOWLEDGED", 0))
    assert (state.status, state.acknowledged_at) == (IncidentStatus.ACK, TIME)


def test_an_opening_fills_in_and_every_other_action_replaces() -> None:
    again = {"title": "again", "severity": IncidentSeverity.SEV1, "description": "d", "cause": "c"}
    state = state_of(action("OPENED", 0, severity=IncidentSeverity.SEV3), action("OPENED", 1, **again))
    assert (state.title, state.severity, state.description, state.cause) == ("title", "SEV3", "d", "c")
    state = state_of(action("OPENED", 0, severity=IncidentSeverity.SEV3), action("NOTED", 1, **again))
    assert (state.title, state.severity) == ("again", "SEV1")
    late = state_of(action("NOTED", 0, title="first"), action("OPENED", 1))
    assert late.title == "first"
    unknown = state_of(
        action("OPENED", 0, type=IncidentType.LATE), action("NOTED", 1, type=IncidentType.UNKNOWN, description="")
    )
    assert (unknown.type, unknown.description) == (IncidentType.LATE, "")


def test_parts_are_the_same_by_their_content() -> None:
    files = IncidentScope(dataset=DEPARTED, files=("b", "a", "b"))
    other = IncidentScope(dataset=DEPARTED, files=("a", "b"))
    narrower = msgspec.structs.replace(other, version="1")
    state = state_of(
        action("OPENED", 0, scope=(files, narrower, files)), action("SCOPE_CHANGED", 1, scope=(A,), removed=(other,))
    )
    assert list(state.scope) == [scope_text(narrower), scope_text(A)]
    assert [scope_part(text) for text in state.scope] == [narrower, A]


def test_the_rest_of_a_part_that_was_cut_stays_repaired() -> None:
    """A repaired part that is added again, or in place of another part, isn't repaired any more."""
    whole, rest, other = (IncidentScope(dataset=DEPARTED, files=names) for names in (("a", "b"), ("a",), ("c",)))
    before = action("OPENED", 0, scope=(whole, other)), action("REPAIRED", 1, scope=(rest,))
    for removed, repaired in ((whole, [scope_text(rest)]), (other, []), (None, [])):
        change = action("SCOPE_CHANGED", 2, scope=(rest,), removed=(removed,) if removed else None)
        assert list(state_of(*before, change).repaired) == repaired


def test_the_history_has_every_action_in_order() -> None:
    events = [action(name, second) for second, name in enumerate(["OPENED", "RESOLVED", "ACKNOWLEDGED"])]
    properties = incident_properties((), state_of(*events))
    assert properties["actions"] == ["OPENED", "RESOLVED", "ACKNOWLEDGED"]
    assert properties["action_times"] == [f"2013-01-01T05:15:0{second}.123456Z" for second in range(3)]
    assert properties["action_by"] == ["jo"] * 3
    assert properties["action_reasons"] == ["", "ran again", ""]
    assert [record.event_id for record in state_of(*events).history] == [event.event_id for event in events]


def test_one_event_with_two_times_counts_once_with_the_later() -> None:
    """A time of the future counts as the record's, and a record may be there twice."""
    event = action("OPENED", 0)
    later = msgspec.structs.replace(event, event_time=TIME + timedelta(1))
    for order in permutations((event, later)):
        state = state_of(*order)
        assert state.opened_at == later.event_time
        assert len(state.history) == 1


def answer(second: int, *datasets: ReachedDataset, **more: Any) -> LineageEvent:
    return action("REACHED", second, reached=datasets, **{"as_of": TIME, "complete": False} | more)


def names_of(state: IncidentState) -> list[str]:
    return [each.dataset.name for each in state.reached or ()]


def test_the_latest_answer_is_what_was_reached_whatever_arrives_last() -> None:
    answers = [answer(1, reached("a"), reached("b")), answer(2), answer(3, reached("c"), as_of=LATER, complete=True)]
    for order in permutations(answers):
        state = state_of(*order)
        assert (names_of(state), state.reached_as_of, state.reached_complete) == (["c"], LATER, True)
        assert len(state.history) == 3
    for order in permutations(answers[:2]):
        state = state_of(*order)
        assert (state.reached, state.reached_as_of, state.reached_complete) == ((), TIME, False)
    assert state_of(action("OPENED", 0)).reached is None


def test_an_answer_with_two_times_counts_with_the_later() -> None:
    one, other = answer(1, reached("a"), complete=True), answer(2, reached("b"))
    later = msgspec.structs.replace(one, event_time=TIME + timedelta(seconds=3))
    for order in permutations((one, other, later)):
        state = state_of(*order)
        assert (names_of(state), state.reached_complete, len(state.history)) == (["a"], True, 2)
    for order in permutations((one, other)):
        state = state_of(*order)
        assert (names_of(state), state.reached_complete, len(state.history)) == (["b"], False, 2)


def test_joined_records_have_the_latest_answer() -> None:
    [one] = fold([answer(1, reached("a"))]).incidents.values()
    [other] = fold([answer(2, reached("b"))]).incidents.values()
    assert one.reached is not None
    for first, second in permutations((one, other)):
        joined = IncidentFacts({})
        joined.join(first)
        joined.join(second)
        joined.join(IncidentFacts({}))
        assert joined.reached == other.reached
        assert len(joined.log) == 2


def test_a_log_has_no_datasets_of_answers() -> None:
    event = answer(1, reached("a"), reason="asked")
    [incident] = fold([event]).incidents.values()
    [entry] = incident.log
    assert incident.reached is not None
    assert (incident.reached.stamp, incident.reached.content) == (entry.stamp, reached_text((reached("a"),)))
    assert msgspec.json.decode(entry.content) == {
        "action": "REACHED",
        "as_of": "2013-01-01T05:15:00.123456Z",
        "by": "jo",
        "complete": False,
        "incident": "i",
        "reason": "asked",
    }


def test_a_cleared_dataset_is_related_and_not_counted() -> None:
    event = answer(1, reached("a", cleared=True, depth=2), reached("b"))
    state = state_of(event)
    assert incident_properties((), state)["reached_datasets"] == 1
    common = {"certainty": "EXACT", "since": TIME}
    assert reached_links("t", state.reached or ()) == {
        dataset_key("t", "k", "a"): {"depth": 2, "cleared": True} | common,
        dataset_key("t", "k", "b"): {"depth": 0, "cleared": False} | common,
    }
    assert sum('"type":"REACHED"' in line for line in oracle(fold([event]))) == 2
    none = incident_properties((), state_of(answer(2)))
    assert (none["reached_datasets"], none["reached_as_of"], none["reached_complete"]) == (0, TIME, False)


def test_the_latest_notification_of_each_recipient_counts_whatever_arrives_last() -> None:
    events = [
        action("OPENED", 0),
        action("NOTIFIED", 1, notified=(notified("a"), notified("b"))),
        action("NOTIFIED", 2, notified=(notified("a", "RESOLVED", "cd" * 32),)),
    ]
    for order in permutations(events):
        state = state_of(*order)
        assert {name: (each.time, each.sent) for name, each in state.notified.items()} == {
            "a": (events[2].event_time, notified("a", "RESOLVED", "cd" * 32)),
            "b": (events[1].event_time, notified("b")),
        }
        properties = incident_properties((), state)
        assert (properties["notified"], properties["notified_unresolved"]) == (2, 1)
        assert properties["state"] == "New"
    resolved = incident_properties(
        (), state_of(*events[:1], action("NOTIFIED", 1, notified=(notified("a", "RESOLVED"),)))
    )
    assert (resolved["notified"], resolved["notified_unresolved"]) == (1, 0)
    none = incident_properties((), state_of(events[0]))
    assert (none["notified"], none["notified_unresolved"]) == (None, None)


def test_an_incident_without_an_answer_has_no_properties_of_one() -> None:
    found = incident_properties((), state_of(action("OPENED", 0)))
    assert {name: value for name, value in found.items() if "reached" in name and value is not None} == {}


def test_an_entry_is_read_back() -> None:
    [incident] = fold([action("OPENED", 0)]).incidents.values()
    [entry] = incident.log
    assert IncidentEntry.of(entry.text) == entry
    assert entry.event_id == action("OPENED", 0).event_id
    assert IncidentFacts({}, {entry.event_id: entry}).log == [entry]


def test_what_parts_concern() -> None:
    dataset = dataset_key("t", DEPARTED.namespace, DEPARTED.name)
    found = concerned("t", (A, IncidentScope(dataset=DEPARTED, column="c"), IncidentScope(job=JOB)))
    assert found == {
        run_key("t", "a"): Label.RUN,
        dataset: Label.DATASET,
        column_key("t", dataset, "c"): Label.COLUMN,
        job_key("t", JOB.namespace, JOB.name): Label.JOB,
    }


def test_two_tenants_have_two_incidents() -> None:
    event = action("OPENED", 0)
    other = msgspec.structs.replace(event, tenant="other")
    assert len(fold([event, other]).incidents) == 2
    assert sum('"labels":["Incident"]' in line for line in oracle(fold([event, other]))) == 2


def test_types_of_datahub() -> None:
    assert {str(type_): datahub_type(type_) for type_ in IncidentType} == {
        "UNKNOWN": "CUSTOM",
        "BAD_RECORDS": "FIELD",
        "MISSING_DATA": "VOLUME",
        "DUPLICATES": "FIELD",
        "LATE": "FRESHNESS",
        "SCHEMA": "DATA_SCHEMA",
        "BROKEN_CHAIN": "OPERATIONAL",
        "FAILED_RUN": "OPERATIONAL",
        "WRONG_CODE": "OPERATIONAL",
        "PRIVACY": "CUSTOM",
        "CUSTOM": "CUSTOM",
    }
    assert datahub_type(None) == "CUSTOM"


def test_stages_of_datahub() -> None:
    stages = {
        "ACKNOWLEDGED": None,
        "OPENED": "TRIAGE",
        "OPENED ACKNOWLEDGED": "INVESTIGATION",
        "OPENED ASSIGNED": "WORK_IN_PROGRESS",
        "OPENED RESOLVED": "FIXED",
        "OPENED RESOLVED REOPENED": "TRIAGE",
        "OPENED MERGED": "NO_ACTION_REQUIRED",
    }
    for names, stage in stages.items():
        state = after(names)
        assert datahub_stage(state.status, state.resolution) == stage
    assert datahub_stage(IncidentStatus.RESOLVED, IncidentResolution.FALSE_POSITIVE) == "NO_ACTION_REQUIRED"
