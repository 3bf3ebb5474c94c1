"""Datasets of an answer that open incidents reached, as the warning under the answer names them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.graph_command import Shown, marked, show
from headwater_analysis.freshness import NOT_REPORTED
from headwater_analysis.incidents.answers import IncidentMark, IncidentMarks
from headwater_schemas.events import Certainty, IncidentSeverity
from support.incidents import AT

if TYPE_CHECKING:
    import pytest

MARK = IncidentMark(
    key="k",
    dataset="kafka://b/orders",
    incident="INC-7f3a9c02b1",
    title="Negative delays",
    severity=IncidentSeverity.SEV2,
    since=AT,
    certainty=Certainty.UPPER_BOUND,
    as_of=AT,
)
BY_SCOPE = replace(MARK, dataset="file:/lake/clean", severity=None, since=None, as_of=None)


def test_a_mark_has_the_incident_its_severity_since_when_and_how_certain() -> None:
    assert marked(IncidentMarks(items=(MARK,), total=1)) == (
        "Open incidents reached datasets of this answer: kafka://b/orders (INC-7f3a9c02b1, SEV2, since 2025-01-31 "
        "12:00:00Z, UPPER_BOUND as of 2025-01-31 12:00:00Z)."
    )
    assert "(INC-7f3a9c02b1, EXACT as of 2025" in marked(
        IncidentMarks(items=(replace(MARK, severity=None, since=None, certainty=Certainty.EXACT),), total=1)
    )


def test_without_a_recorded_reach_neither_time_nor_certainty_is_claimed() -> None:
    assert marked(IncidentMarks(items=(MARK, BY_SCOPE), total=2)).endswith(
        "; file:/lake/clean (INC-7f3a9c02b1, in the scope of the incident, whose reach isn't recorded)."
    )


def test_marks_beyond_the_first_five_are_counted() -> None:
    many = tuple(replace(MARK, dataset=f"n/d{number}") for number in range(7))
    text = marked(IncidentMarks(items=many, total=1_200))
    assert [f"n/d{number}" in text for number in range(7)] == [True] * 5 + [False] * 2
    assert text.endswith("; and 1,195 more.")
    assert "more." not in marked(IncidentMarks(items=many[:5], total=5))


def test_names_from_outside_cannot_break_out_of_the_line() -> None:
    text = marked(IncidentMarks(items=(replace(MARK, dataset="a\nb\x1b[31m", incident="i\nj"),), total=1))
    assert r"a\nb\x1b[31m (i\nj, " in text


def test_the_warning_comes_before_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    marks = IncidentMarks(items=(MARK,), total=1)
    show(Shown({}, summary="1 dataset."), NOT_REPORTED, incidents=marks)
    shown = capsys.readouterr().err
    assert " ".join(shown.split()) == f"warning: {marked(marks)} 1 dataset."
