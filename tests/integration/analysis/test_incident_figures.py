"""Figures of incidents, derived by hand."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from headwater_analysis.errors import QuestionError
from headwater_analysis.incidents.figures import (
    IncidentFigures,
    OpenByAge,
    SeverityFigures,
    TimeTaken,
    incident_figures,
)
from headwater_analysis.reader import Reader
from headwater_graph.connection import Neo4jTarget
from headwater_schemas.events import IncidentAction, IncidentResolution, IncidentSeverity, LineageEvent
from support.analysis.chains import BEGIN
from support.analysis.incident_events import act
from support.graph.writing import store

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

NOW = BEGIN + timedelta(days=100)
NONE = TimeTaken(incidents=0, median_seconds=None, longest_seconds=None)


def acted(incident: str, ago: timedelta, action: IncidentAction, **stated: Any) -> LineageEvent:
    return act(action, at=NOW - ago, of=incident, **stated)


def opened(incident: str, severity: IncidentSeverity | None = None, **ago: float) -> LineageEvent:
    return acted(incident, timedelta(**ago), IncidentAction.OPENED, title="t", severity=severity)


def resolved(incident: str, **ago: float) -> LineageEvent:
    stated = {"resolution": IncidentResolution.REPAIRED, "reason": "r"}
    return acted(incident, timedelta(**ago), IncidentAction.RESOLVED, **stated)


def figures(driver: Driver, target: Neo4jTarget, *events: LineageEvent, **given: Any) -> IncidentFigures:
    store(driver, list(events))
    return incident_figures(Reader(driver, target, timeout_seconds=300), now=NOW, **given)


def test_open_ones_by_severity_and_age(clean_database: Driver, target: Neo4jTarget) -> None:
    worst = IncidentSeverity.SEV1
    found = figures(
        clean_database,
        target,
        opened("a", worst, hours=23.9),
        opened("b", worst, days=1),
        acted("b", timedelta(hours=1), IncidentAction.ACKNOWLEDGED),
        opened("c", worst, days=6.9),
        opened("d", worst, days=7),
        opened("e", days=95),
        opened("f", IncidentSeverity.SEV5, days=95),
        resolved("f", days=94),
    )
    assert found.severities == (
        SeverityFigures(
            severity=worst,
            open=OpenByAge(under_a_day=1, under_a_week=2, older=1),
            new=3,
            oldest_opened_at=NOW - timedelta(days=7),
            opened=4,
            to_acknowledge=TimeTaken(incidents=1, median_seconds=23 * 3_600, longest_seconds=23 * 3_600),
            to_resolve=NONE,
        ),
        SeverityFigures(
            severity=None,
            open=OpenByAge(under_a_day=0, under_a_week=0, older=1),
            new=1,
            oldest_opened_at=NOW - timedelta(days=95),
            opened=0,
            to_acknowledge=NONE,
            to_resolve=NONE,
        ),
    ), "one that was opened and resolved before the period doesn't count"


def test_times_are_of_actions_in_the_period_by_the_first_opening(clean_database: Driver, target: Neo4jTarget) -> None:
    found = figures(
        clean_database,
        target,
        *(opened("a", days=20), resolved("a", days=9)),
        *(opened("b", days=9), acted("b", timedelta(days=8), IncidentAction.ACKNOWLEDGED), resolved("b", days=6)),
        *(opened("c", days=5), resolved("c", days=4)),
        *(opened("d", days=20), resolved("d", days=11)),
        opened("e", days=2),
        acted("e", timedelta(days=1), IncidentAction.MERGED, into="b"),
        *(opened("f", days=3), resolved("f", days=2), acted("f", timedelta(days=1), IncidentAction.REOPENED)),
        period=timedelta(days=10),
    )
    (only,) = found.severities
    day = 86_400
    assert only.to_resolve == TimeTaken(incidents=3, median_seconds=3 * day, longest_seconds=11 * day)
    assert only.to_acknowledge == TimeTaken(incidents=1, median_seconds=day, longest_seconds=day)
    assert (only.opened, only.open.under_a_week, only.new) == (4, 1, 1)


def test_none_and_a_period_that_is_none(clean_database: Driver, target: Neo4jTarget) -> None:
    assert figures(clean_database, target).severities == ()
    with pytest.raises(QuestionError, match="longer than 0 s"):
        figures(clean_database, target, period=timedelta(0))


def test_an_incident_without_its_opening_has_no_figures(clean_database: Driver, target: Neo4jTarget) -> None:
    late = acted("a", timedelta(hours=1), IncidentAction.ACKNOWLEDGED)
    assert figures(clean_database, target, late).severities == (), "no state, so it isn't open"
