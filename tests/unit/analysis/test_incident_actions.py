"""Actions on incidents as given ⇒ events, or the reason of a refusal."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headwater_analysis.errors import QuestionError
from headwater_analysis.incidents import actions
from headwater_analysis.incidents.actions import GivenAction, Prepared, action
from headwater_analysis.incidents.answers import GivenPart
from headwater_analysis.incidents.unknown import left_words
from headwater_schemas.events import IncidentAction, IncidentResolution, IncidentScope
from support.analysis.incident_events import INCIDENT, LATER, act, opened
from support.incidents import a_spreading, reach, reader_of_incidents

if TYPE_CHECKING:
    from headwater_analysis.incidents.answers import IncidentReach
    from headwater_graph.incidents import IncidentState
    from headwater_schemas.events import LineageEvent

HOUR = timedelta(hours=1)
REPAIRED: dict[str, Any] = {"resolution": IncidentResolution.REPAIRED, "reason": "Ran again."}


def prepared(kind: IncidentAction, *events: LineageEvent, **given: Any) -> Prepared:
    """An action on `INCIDENT`, which is open."""
    reader = reader_of_incidents(*(events or (opened(IncidentScope(consumer="board")),)))
    return action(reader, INCIDENT, GivenAction(action=kind, **given), by="ann", now=LATER)


def test_bad_data_that_is_left_is_named_with_what_is_not_known() -> None:
    assert left_words(reach(bad=0)) == ""
    assert left_words(reach(bad=1)) == "bad data is left in 1 dataset (n/d0)."
    words = left_words(reach(bad=7, is_unknown=True))
    assert words.startswith("bad data is left in 7 datasets (n/d0, n/d1, n/d2, n/d3, n/d4 and 2 more)")
    assert words.endswith("; not known: 1 part of the scope.")
    assert (
        left_words(reach(bad=0, is_unknown=True)) == "bad data is left in 0 datasets; not known: 1 part of the scope."
    )


def test_nothing_is_left_only_if_no_query_may_spread() -> None:
    """Nothing is known to be bad now, but the state of a query may write bad records later."""
    over = a_spreading("done", is_over=True)
    assert left_words(reach(bad=0, spreading=(over,))) == ""
    one = left_words(reach(bad=0, spreading=(over, a_spreading("windows"))))
    assert one == "bad data is left in 0 datasets; 1 query (windows) may still spread."
    words = left_words(reach(bad=1, is_unknown=True, spreading=(a_spreading("a"), a_spreading(None))))
    assert words == (
        "bad data is left in 1 dataset (n/d0); not known: 1 part of the scope; 2 queries (a, id) may still spread."
    )


def test_consumers_that_nobody_declared_repaired_are_left() -> None:
    assert left_words(reach(bad=0, undeclared=("board",))) == (
        "bad data is left in 0 datasets; 1 consumer of the scope (board) isn't declared repaired."
    )


def test_an_incident_of_a_consumer_is_resolved_once_the_consumer_is_declared_repaired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The graph has no data of consumers, so nothing else shows their repair."""

    def reach_of(_: object, state: IncidentState, **__: object) -> IncidentReach:
        return reach(bad=0, undeclared=state.undeclared_consumers)

    monkeypatch.setattr(actions, "reach_of", reach_of)
    bad = opened(IncidentScope(consumer="board"), IncidentScope(consumer="mails"))
    parts = [IncidentScope(consumer=name) for name in ("board", "mails")]
    first, second = (
        act(IncidentAction.REPAIRED, part, reason="Corrected.", at=LATER + HOUR * number)
        for number, part in enumerate(parts, start=1)
    )
    for events, left in (((bad,), "2 consumers of the scope (board, mails) aren't"), ((bad, first), "(mails) isn't")):
        with pytest.raises(QuestionError, match=re.escape(f"{left} declared repaired. Repair it, ")):
            prepared(IncidentAction.RESOLVED, *events, **REPAIRED)
        forced = prepared(IncidentAction.RESOLVED, *events, **REPAIRED, force=True)
        assert f"{left} declared repaired." in forced.left
    assert prepared(IncidentAction.RESOLVED, bad, first, second, **REPAIRED).left == ""
    again = act(IncidentAction.SCOPE_CHANGED, parts[0], at=LATER + HOUR * 3)
    with pytest.raises(QuestionError, match="isn't declared repaired"):
        prepared(IncidentAction.RESOLVED, bad, first, second, again, **REPAIRED)


@pytest.mark.parametrize(
    "left",
    [
        reach(bad=1),
        reach(bad=0, is_unknown=True),
        reach(bad=0, spreading=(a_spreading("windows"),)),
        reach(bad=0, undeclared=("board",)),
    ],
    ids=["bad data", "not known", "may still spread", "consumer"],
)
def test_a_resolution_as_repaired_is_refused_while_something_is_left(
    monkeypatch: pytest.MonkeyPatch, left: IncidentReach
) -> None:
    monkeypatch.setattr(actions, "reach_of", lambda *_, **__: left)
    with pytest.raises(QuestionError) as error:
        prepared(IncidentAction.RESOLVED, **REPAIRED)
    assert str(error.value).startswith(f"{INCIDENT} isn't repaired: {left_words(left)} Repair it, ")
    assert error.value.field == "resolution"
    for given in ({**REPAIRED, "force": True}, {**REPAIRED, "resolution": IncidentResolution.FALSE_POSITIVE}):
        found = prepared(IncidentAction.RESOLVED, **given)
        assert (found.event.incident_event is not None, found.left) == (True, left_words(left))


def test_a_resolution_as_repaired_once_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actions, "reach_of", lambda *_, **__: reach(bad=0, clean=1))
    event = prepared(IncidentAction.RESOLVED, **REPAIRED).event.incident_event
    assert event is not None
    assert (event.action, event.resolution) == (IncidentAction.RESOLVED, IncidentResolution.REPAIRED)


@pytest.mark.parametrize("reason", [None, "", " \n"])
def test_a_declared_repair_and_a_resolution_need_a_reason(monkeypatch: pytest.MonkeyPatch, reason: str | None) -> None:
    monkeypatch.setattr(actions, "reach_of", lambda *_, **__: reach(bad=0))
    given: dict[IncidentAction, dict[str, Any]] = {
        IncidentAction.REPAIRED: {"scope": (GivenPart(consumer="board"),)},
        IncidentAction.RESOLVED: {"resolution": IncidentResolution.OTHER},
    }
    for kind, values in given.items():
        with pytest.raises(QuestionError, match=f"^reason: {kind} needs it: state why") as error:
            prepared(kind, reason=reason, **values)
        assert error.value.field == "reason"
        assert prepared(kind, reason="Ran again.", **values).event.incident_event is not None


@pytest.mark.parametrize("kind", [IncidentAction.MERGED, IncidentAction.SUPERSEDED])
def test_the_other_incident_gets_the_parts_first(kind: IncidentAction) -> None:
    """Only those that it hasn't: then every part belongs to an open incident at any time."""
    both, only = IncidentScope(consumer="board"), IncidentScope(consumer="mails")
    found = prepared(kind, opened(both, only), opened(both, of="INC-2"), into="INC-2")
    carried, event = (each.incident_event for each in found.events)
    assert carried is not None
    assert event is not None
    assert (carried.incident, carried.action, carried.scope) == ("INC-2", IncidentAction.SCOPE_CHANGED, (only,))
    assert (event.incident, event.action, event.into) == (INCIDENT, kind, "INC-2")
    assert prepared(kind, opened(both), opened(both, of="INC-2"), into="INC-2").carried is None


@pytest.mark.parametrize(
    ("into", "field", "words"),
    [
        (None, "into", "SUPERSEDED needs it"),
        (INCIDENT, "into", "must be another incident"),
        ("INC-2", "into", "INC-2 isn't open: reopen it first"),
    ],
)
def test_an_incident_that_cannot_replace_another_one(into: str | None, field: str, words: str) -> None:
    resolved = act(
        IncidentAction.RESOLVED, of="INC-2", reason="r", resolution=IncidentResolution.OTHER, at=LATER + HOUR
    )
    events = (opened(IncidentScope(consumer="board")), opened(IncidentScope(consumer="mails"), of="INC-2"), resolved)
    with pytest.raises(QuestionError, match=words) as error:
        prepared(IncidentAction.SUPERSEDED, *events, into=into)
    assert error.value.field == field


def test_only_a_resolution_is_forced() -> None:
    with pytest.raises(QuestionError, match="force: only RESOLVED has it"):
        prepared(IncidentAction.ACKNOWLEDGED, force=True)
