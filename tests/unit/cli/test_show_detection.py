"""Detected faults for people: an answer that is incomplete says so in the line of its numbers."""

from __future__ import annotations

from headwater.incident.detecting import DetectionRound, OpenedIncident, detection_lines
from headwater_analysis.incidents.detection.data_fault import DataFaultKind
from headwater_analysis.incidents.detection.detect_faults import DetectedFault, DetectedOutcome
from headwater_schemas.events import IncidentSeverity, IncidentType
from support.incidents import AT

HOSTILE = "[/b]\x1b\u202e\nforged"
SHOWN = r"[/b]\x1b\u202e\nforged"


def fault(outcome: DetectedOutcome) -> DetectedFault:
    return DetectedFault(
        fault=DataFaultKind.STALE,
        cause="c",
        title="t",
        datasets=("n/orders",),
        part="dataset n/orders",
        at=AT,
        rule=None,
        assertion_severity=None,
        entry=None,
        severity=None,
        type=IncidentType.LATE,
        outcome=outcome,
    )


def opened(title: str, *, was_open: bool) -> OpenedIncident:
    return OpenedIncident(
        incident="INC-1",
        was_open=was_open,
        title=title,
        cause="c",
        severity=None if was_open else IncidentSeverity.SEV2,
        type=IncidentType.LATE,
        assignee=None,
        parts=("dataset n/orders", "dataset n/other")[: 1 + was_open],
    )


def a_round(*faults: DetectedOutcome, **more: tuple[object, ...]) -> DetectionRound:
    values: dict[str, tuple[object, ...]] = {"items": (), "truncated": (), "unknown": (), "earlier": (), **more}
    return DetectionRound(since=AT, faults=tuple(map(fault, faults)), **values)  # type: ignore[arg-type]


def test_nothing_was_found_and_all_is_known() -> None:
    (line,) = detection_lines(a_round(), dry_run=False)
    assert line == "0 faults since 2025-01-31 12:00:00Z: 0 new, 0 known, 0 ignored, 0 without an entry."


def test_what_is_not_known_is_in_the_line_of_the_numbers() -> None:
    unknown = tuple(f"whether n/d{number} is fresh" for number in range(7))
    found = a_round(
        DetectedOutcome.IGNORED,
        DetectedOutcome.NO_ENTRY,
        DetectedOutcome.KNOWN,
        DetectedOutcome.KNOWN,
        truncated=(DataFaultKind.ASSERTION,),
        unknown=unknown,
        earlier=("n/old",),
    )
    (line,) = detection_lines(found, dry_run=False)
    assert line == (
        "4 faults since 2025-01-31 12:00:00Z: 0 new, 2 known, 1 ignored, 1 without an entry; "
        "more than 500 of ASSERTION, of which the latest count; not known: "
        f"{'; '.join(unknown[:5])} and 2 more; late before that, and not opened: n/old."
    )


def test_lines_of_incidents() -> None:
    found = a_round(items=(opened("late", was_open=False), opened("late", was_open=True)))
    assert detection_lines(found, dry_run=False)[:2] == [
        "Opened INC-1 (SEV2), 1 part: late",
        "Added 2 parts to INC-1: late",
    ]
    assert detection_lines(found, dry_run=True)[:2] == [
        "Would open INC-1 (SEV2), 1 part: late",
        "Would add 2 parts to INC-1: late",
    ]


def test_names_of_others_form_no_other_line() -> None:
    found = a_round(items=(opened(HOSTILE, was_open=False),), unknown=(HOSTILE,), earlier=(HOSTILE,))
    lines = detection_lines(found, dry_run=False)
    assert [line.count(SHOWN) for line in lines] == [1, 2]
