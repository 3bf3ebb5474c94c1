"""First broken rule of an action on an incident: its field and its words, for each rule."""

from __future__ import annotations

from datetime import timedelta
from itertools import product
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from headwater_schemas.codec import encode
from headwater_schemas.errors import EncodeError
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    IncidentAction,
    IncidentClock,
    IncidentEvent,
    IncidentResolution,
    IncidentScope,
    JobRef,
    NotificationChange,
    NotifiedRecipient,
    OffsetRange,
    ReachedDataset,
    ReachedPart,
    build,
)
from headwater_schemas.incident_rules import broken_rule, broken_scope
from headwater_schemas.rules import Violation, first_violation
from support.events import DAY, DEPARTED, JOB, LATER, PRODUCER, TIME, full_incident_event, with_body

if TYPE_CHECKING:
    from headwater_schemas.events import LineageEvent

PART = IncidentScope(run="r1")
OTHER = IncidentScope(run="r2")
SUBJECTS: dict[str, Any] = {"dataset": DEPARTED, "job": JOB, "run": "r1", "query": "q1", "consumer": "board"}
NARROWING: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "column": (("dataset",), {"column": "c"}),
    "partition": (("dataset",), {"partition": DAY}),
    "offsets": (("dataset",), {"offsets": (OffsetRange(0, 0, 1),)}),
    "files": (("dataset",), {"files": ("a",)}),
    "version": (("dataset",), {"version": "7"}),
    "code_version": (("job",), {"code_version": "v1"}),
    "from_batch": (("query",), {"from_batch": 0}),
    "to_batch": (("query",), {"to_batch": 0}),
    "since": (("dataset", "job", "run", "query"), {"since": TIME, "clock": IncidentClock.EVENT}),
    "until": (("dataset", "job", "run", "query"), {"until": TIME, "clock": IncidentClock.PROCESSING}),
    "since_last_good": (("dataset", "job", "query"), {"since_last_good": True}),
}
"""Field that narrows a part, the subjects that it narrows, and a part with it."""
APART = {
    *(("offsets", other) for other in ("partition", "files", "version")),
    ("files", "partition"),
    *(("since_last_good", other) for other in ("offsets", "files", "version", "from_batch", "since")),
}


def test_every_field_of_a_part_is_tried() -> None:
    assert {*SUBJECTS, *NARROWING, "clock"} == set(IncidentScope.__struct_fields__)


def test_a_part_has_one_subject(subtests: pytest.Subtests) -> None:
    message = "a part names exactly one of dataset, job, run, query or consumer"
    assert broken_scope(IncidentScope()) == ("", message)
    assert broken_scope(IncidentScope(column="c")) == ("", message)
    for one, other in product(SUBJECTS, SUBJECTS):
        with subtests.test(one=one, other=other):
            part = IncidentScope(**{one: SUBJECTS[one], other: SUBJECTS[other]})
            assert broken_scope(part) == (None if one == other else ("", message))


def test_what_narrows_which_subject(subtests: pytest.Subtests) -> None:
    words = {
        ("dataset",): "dataset",
        ("job",): "job",
        ("query",): "query",
        ("dataset", "job", "query"): "dataset, job or query",
        ("dataset", "job", "run", "query"): "dataset, job, run or query",
    }
    for (field, (owners, given)), subject in product(NARROWING.items(), SUBJECTS):
        with subtests.test(field=field, subject=subject):
            found = broken_scope(IncidentScope(**{subject: SUBJECTS[subject]}, **given))
            expected = (field, f"only a part of a {words[owners]} has it")
            assert found == (None if subject in owners else expected)


def test_what_narrows_a_part_together(subtests: pytest.Subtests) -> None:
    for one, other in product(NARROWING, NARROWING):
        owners = [name for name in NARROWING[one][0] if name in NARROWING[other][0]]
        if one == other or not owners:
            continue
        with subtests.test(one=one, other=other):
            given = NARROWING[one][1] | NARROWING[other][1]
            if {one, other} == {"since", "until"}:
                given |= {"until": LATER}
            found = broken_scope(IncidentScope(**{owners[0]: SUBJECTS[owners[0]]}, **given))
            if (one, other) in APART:
                assert found == (other, f"can't be combined with {one}")
            else:
                assert (found is None) == ((other, one) not in APART)


def topic(*ranges: tuple[int, int, int]) -> IncidentScope:
    return IncidentScope(dataset=DEPARTED, offsets=tuple(OffsetRange(*range_) for range_ in ranges))


def table(**fields: Any) -> IncidentScope:
    return IncidentScope(dataset=DEPARTED, **fields)


EVENT = IncidentClock.EVENT
BROKEN_PARTS: dict[str, tuple[IncidentScope, str, str]] = {
    "no range": (topic(), "offsets", "no range"),
    "an empty range": (topic((0, 0, 1), (1, 5, 5)), "offsets[1].to_exclusive", "the range is empty"),
    "a range that ends before it begins": (topic((0, 5, 4)), "offsets[0].to_exclusive", "the range is empty"),
    "ranges that overlap": (
        topic((0, 0, 5), (0, 4, 6)),
        "offsets[1]",
        "ranges must be in ascending order and not overlap",
    ),
    "ranges that descend": (
        topic((0, 0, 5), (2, 4, 6), (1, 7, 8)),
        "offsets[2]",
        "ranges must be in ascending order and not overlap",
    ),
    "no file": (table(files=()), "files", "no file"),
    "a file without a name": (table(files=("a", "")), "files[1]", "empty"),
    **{
        f"the partition {text}": (table(partition=text), "partition", "not of the form key=value/…")
        for text in ("day", "=1", "day=1/", "/day=1", "day=1/hour", "day=1//hour=2")
    },
    "batches that descend": (IncidentScope(query="q", from_batch=5, to_batch=4), "to_batch", "before from_batch"),
    "not since the last good run": (table(since_last_good=False), "since_last_good", "must be true, or absent"),
    "a span without a clock": (table(since=TIME), "clock", "a time span needs it"),
    "an end without a clock": (table(until=TIME), "clock", "a time span needs it"),
    "a clock of a newer version": (
        table(since=TIME, clock=IncidentClock.UNKNOWN),
        "clock",
        "not a clock that this version knows",
    ),
    "a clock without a span": (table(clock=EVENT), "clock", "without since and until"),
    "an empty span": (table(since=TIME, until=TIME, clock=EVENT), "until", "not after since"),
    "a span that ends before it begins": (table(since=LATER, until=TIME, clock=EVENT), "until", "not after since"),
}


def test_parts_that_make_no_sense(subtests: pytest.Subtests) -> None:
    for name, (part, field, message) in BROKEN_PARTS.items():
        with subtests.test(name):
            assert broken_scope(part) == (field, message)
            event = with_body("incident", scope=(PART, part), removed=None)
            assert first_violation(event) == Violation(f"incident_event.scope[1].{field}", message)


def test_parts_that_nearly_make_no_sense(subtests: pytest.Subtests) -> None:
    cases = [
        topic((0, 0, 5), (0, 5, 6), (1, 0, 1)),
        table(partition="day=1/hour=", version="7", column="c"),
        table(files=("b", "a", "b"), version="7"),
        table(since_last_good=True, until=TIME, clock=EVENT),
        table(since=TIME, until=TIME + timedelta(microseconds=1), clock=EVENT),
        IncidentScope(query="q", from_batch=5, to_batch=5),
        IncidentScope(query="q", since_last_good=True, to_batch=5),
        IncidentScope(job=JobRef("", "j"), code_version="v1", since_last_good=True),
    ]
    for part in cases:
        with subtests.test(part=part):
            assert broken_scope(part) is None


def notified(recipient: str, **fields: Any) -> NotifiedRecipient:
    given = {"channel": "c", "digest": "0123456789abcdef" * 4, "change": NotificationChange.OPENED}
    return NotifiedRecipient(recipient=recipient, **given | fields)


LEAST: dict[IncidentAction, dict[str, Any]] = {
    IncidentAction.OPENED: {"title": "t"},
    IncidentAction.ACKNOWLEDGED: {},
    IncidentAction.ASSIGNED: {"assignee": "team"},
    IncidentAction.SCOPE_CHANGED: {"removed": (PART,)},
    IncidentAction.MERGED: {"into": "j"},
    IncidentAction.SUPERSEDED: {"into": "j"},
    IncidentAction.REPAIRED: {"scope": (PART,)},
    IncidentAction.RESOLVED: {"resolution": IncidentResolution.OTHER, "reason": "r"},
    IncidentAction.REOPENED: {},
    IncidentAction.NOTED: {"cause": "c"},
    IncidentAction.REACHED: {"reached": (), "as_of": TIME, "complete": False},
    IncidentAction.NOTIFIED: {"notified": (notified("a"),)},
}
"""The least that each action states."""
OWN: dict[str, tuple[Any, str, set[str]]] = {
    "scope": ((OTHER,), "OPENED, SCOPE_CHANGED or REPAIRED", {"OPENED", "SCOPE_CHANGED", "REPAIRED"}),
    "removed": ((OTHER,), "SCOPE_CHANGED", {"SCOPE_CHANGED"}),
    "assignee": ("team", "ASSIGNED", {"ASSIGNED"}),
    "into": ("j", "MERGED or SUPERSEDED", {"MERGED", "SUPERSEDED"}),
    "resolution": (IncidentResolution.OTHER, "RESOLVED", {"RESOLVED"}),
    "reached": ((), "REACHED", {"REACHED"}),
    "as_of": (TIME, "REACHED", {"REACHED"}),
    "complete": (True, "REACHED", {"REACHED"}),
    "notified": ((notified("a"),), "NOTIFIED", {"NOTIFIED"}),
}
OF_ALL: dict[str, Any] = {
    **dict.fromkeys(("reason", "title", "description", "cause"), "text"),
    "severity": "SEV1",
    "type": "LATE",
}


def body(action: IncidentAction, **fields: Any) -> IncidentEvent:
    return IncidentEvent(incident="i", action=action, by="jo", **fields)


def test_the_least_of_each_action_breaks_no_rule(subtests: pytest.Subtests) -> None:
    assert {*LEAST} == {*IncidentAction} - {IncidentAction.UNKNOWN}
    for action, least in LEAST.items():
        with subtests.test(action=str(action)):
            assert broken_rule(body(action, **least)) is None
            event = build.lineage_event(body(action, **least), producer=PRODUCER, event_time=TIME)
            assert event.kind == "INCIDENT"
            encode(event)


def test_what_each_action_needs(subtests: pytest.Subtests) -> None:
    for action, least in LEAST.items():
        for field in least:
            with subtests.test(action=action, field=field):
                message = f"{action} needs it"
                expected = {"SCOPE_CHANGED": ("scope", "SCOPE_CHANGED adds or removes a part")}
                noted = "NOTED needs one of reason, title, description, severity, type or cause"
                expected["NOTED"] = ("reason", noted)
                without = least | {field: None}
                found = broken_rule(body(action, **without))
                wanted = expected.get(action, (field, message))
                assert found == (f"incident_event.{wanted[0]}", wanted[1])


def test_what_only_some_actions_have(subtests: pytest.Subtests) -> None:
    for (field, (value, words, actions)), (action, least) in product(OWN.items(), LEAST.items()):
        with subtests.test(field=field, action=action):
            found = broken_rule(body(action, **least | {field: value}))
            assert found == (None if action in actions else (f"incident_event.{field}", f"only {words} has it"))


def test_what_every_action_may_have(subtests: pytest.Subtests) -> None:
    assert {*OF_ALL, *OWN, "incident", "action", "by"} == set(IncidentEvent.__struct_fields__)
    for (field, value), (action, least) in product(OF_ALL.items(), LEAST.items()):
        with subtests.test(field=field, action=action):
            assert broken_rule(body(action, **least | {field: value})) is None


HELD = ReachedPart(certainty=Certainty.EXACT)


def reached(*parts: ReachedPart, name: str = "t", **fields: Any) -> ReachedDataset:
    given: dict[str, Any] = {"dataset": DatasetRef("k", name), "certainty": Certainty.INFERRED, "depth": 0}
    given |= {"cleared": not parts, "part_count": len(parts), "digest": "0123456789abcdef" * 4}
    return ReachedDataset(parts=parts, **given | fields)


CLEARED = "true if there is no part, else false"
ASCENDING = "datasets must be in ascending order, each once"
BROKEN_ANSWERS: dict[str, tuple[tuple[ReachedDataset, ...], str, str]] = {
    "datasets that descend": ((reached(name="b"), reached(name="a")), "reached[1]", ASCENDING),
    "a dataset twice": ((reached(name="a"), reached(HELD), reached()), "reached[2]", ASCENDING),
    "cleared with a part": ((reached(HELD, cleared=True),), "reached[0].cleared", CLEARED),
    "cleared with parts that aren't listed": ((reached(cleared=True, part_count=1),), "reached[0].cleared", CLEARED),
    "no part, and not cleared": ((reached(cleared=False),), "reached[0].cleared", CLEARED),
    "more parts than there are": (
        (reached(HELD, part_count=0),),
        "reached[0].part_count",
        "fewer than the listed parts",
    ),
    "101 parts": ((reached(*[HELD] * 101),), "reached[0].parts", "more than 100"),
    **{
        f"the digest {digest}": ((reached(digest=digest),), "reached[0].digest", "not 64 hex digits")
        for digest in ("ab", "g" * 64, "AB" * 32, "ab" * 32 + "\n", "ab" * 33)
    },
    **{
        f"a part with {name}": ((reached(HELD, part),), f"reached[0].parts[1].{field}", message)
        for name, part, field, message in (
            ("no range", ReachedPart(certainty=Certainty.EXACT, offsets=()), "offsets", "no range"),
            (
                "ranges that overlap",
                ReachedPart(certainty=Certainty.EXACT, offsets=(OffsetRange(0, 0, 5), OffsetRange(0, 4, 6))),
                "offsets[1]",
                "ranges must be in ascending order and not overlap",
            ),
            ("no file", ReachedPart(certainty=Certainty.EXACT, files=()), "files", "no file"),
            ("a file without a name", ReachedPart(certainty=Certainty.EXACT, files=("a", "")), "files[1]", "empty"),
            ("101 files", ReachedPart(certainty=Certainty.EXACT, files=("a",) * 101), "files", "more than 100"),
        )
    },
}


def test_answers_that_make_no_sense(subtests: pytest.Subtests) -> None:
    for name, (datasets, field, message) in BROKEN_ANSWERS.items():
        with subtests.test(name):
            event = with_body("incident_of_a_reach", reached=datasets)
            assert first_violation(event) == Violation(f"incident_event.{field}", message)
            with pytest.raises(EncodeError):
                encode(event)


def test_answers_that_nearly_make_no_sense(subtests: pytest.Subtests) -> None:
    files = ReachedPart(certainty=Certainty.UNKNOWN, files=("a",) * 100, file_count=100)
    cases = [
        (),
        (reached(name="a"), reached(name="b")),
        (reached(*[HELD] * 100),),
        (reached(HELD, part_count=2**63 - 1, depth=2**63 - 1, certainty=Certainty.UNKNOWN),),
        (reached(files, ReachedPart(certainty=Certainty.EXACT, offsets=(OffsetRange(0, 0, 1),), partitions=())),),
    ]
    for datasets in cases:
        with subtests.test(datasets=datasets):
            event = with_body("incident_of_a_reach", reached=datasets)
            assert first_violation(event) is None
            encode(event)


BROKEN_NOTIFICATIONS: dict[str, tuple[tuple[NotifiedRecipient, ...], str, str]] = {
    "nobody": ((), "", "NOTIFIED needs it"),
    "recipients that descend": (
        (notified("b"), notified("a")),
        "[1]",
        "recipients must be in ascending order, each once",
    ),
    "a recipient twice": (
        (notified("a"), notified("b"), notified("b")),
        "[2]",
        "recipients must be in ascending order, each once",
    ),
    "1,001 recipients": (tuple(notified(f"{n:04}") for n in range(1_001)), "", "more than 1000"),
    "a long recipient": ((notified("a" * 201),), "[0].recipient", "longer than 200 characters"),
    "a long channel": ((notified("a", channel="c" * 201),), "[0].channel", "longer than 200 characters"),
    "a short digest": ((notified("a", digest="ab"),), "[0].digest", "not 64 hex digits"),
    "a change of a newer version": (
        (notified("a", change=NotificationChange.UNKNOWN),),
        "[0].change",
        "not a change that this version knows",
    ),
}


def test_notifications_that_make_no_sense(subtests: pytest.Subtests) -> None:
    for name, (recipients, field, message) in BROKEN_NOTIFICATIONS.items():
        with subtests.test(name):
            event = with_body("incident_of_a_notification", notified=recipients)
            assert first_violation(event) == Violation(f"incident_event.notified{field}", message)


def test_notifications_that_nearly_make_no_sense(subtests: pytest.Subtests) -> None:
    cases = [(notified("a" * 200, channel="c" * 200),), tuple(notified(f"{n:04}") for n in range(1_000))]
    for recipients in cases:
        with subtests.test(number=len(recipients)):
            event = with_body("incident_of_a_notification", notified=recipients)
            assert first_violation(event) is None
            encode(event)


def opened(**fields: Any) -> LineageEvent:
    return with_body("incident_of_an_opening", **fields)


BROKEN: dict[str, tuple[LineageEvent, str, str]] = {
    "an action of a newer version": (
        with_body("incident", action=IncidentAction.UNKNOWN),
        "action",
        "not an action that this version knows",
    ),
    "a resolution of a newer version": (
        with_body("incident_of_a_resolution", resolution=IncidentResolution.UNKNOWN),
        "resolution",
        "not a resolution that this version knows",
    ),
    "an empty reason": (with_body("incident_of_a_resolution", reason=""), "reason", "RESOLVED needs it"),
    "an empty title": (opened(title=""), "title", "OPENED needs it"),
    "nothing repaired": (
        with_body("incident", action=IncidentAction.REPAIRED, scope=(), removed=None),
        "scope",
        "REPAIRED needs it",
    ),
    "no part": (with_body("incident", scope=(), removed=()), "scope", "SCOPE_CHANGED adds or removes a part"),
    "a long id": (opened(incident="é" * 201), "incident", "longer than 200 characters"),
    "a long cause": (opened(cause="é" * 1_001), "cause", "longer than 1000 characters"),
    "a long id of another": (with_body("incident_of_a_merge", into="x" * 201), "into", "longer than 200 characters"),
    "merged into itself": (
        with_body("incident_of_a_merge", into="delays-2013-01-01"),
        "into",
        "must be another incident",
    ),
    "added and removed": (
        with_body("incident", scope=(PART, OTHER), removed=(OTHER,)),
        "scope[1]",
        "added and removed at once",
    ),
    "a removed part": (
        with_body("incident", removed=(IncidentScope(),)),
        "removed[0]",
        "a part names exactly one of dataset, job, run, query or consumer",
    ),
}


def test_broken_rules_of_actions(subtests: pytest.Subtests) -> None:
    for name, (event, field, message) in BROKEN.items():
        with subtests.test(name):
            assert first_violation(event) == Violation(f"incident_event.{field}", message)
            with pytest.raises(EncodeError):
                encode(event)
    assert first_violation(opened(incident="é" * 200, cause="é" * 1_000)) is None


def test_two_bodies() -> None:
    event = msgspec.structs.replace(full_incident_event(), declaration_set_event=None, run_event=None)
    assert first_violation(event) is None
    assert first_violation(msgspec.structs.replace(event, kind="JOB")) == Violation(
        "kind", "needs the body job_event, but the body is incident_event"
    )


def test_credentials_are_redacted() -> None:
    opened_with = IncidentEvent(
        incident="i",
        action=IncidentAction.OPENED,
        by="jo",
        title="t",
        reason="jdbc:postgresql://h/d?password=hunter2",
        scope=(IncidentScope(dataset=DEPARTED, files=("s3://key:hunter2@b/a", "jdbc:x?password=hunter2")),),
    )
    event = build.lineage_event(opened_with, producer=PRODUCER, event_time=TIME)
    assert b"hunter2" not in encode(event)
