"""Checks of rules and figures of incidents in the background, where the settings ask for them."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater_analysis.checks import RULES, CheckedRule, Checks, UncheckedRule
from headwater_analysis.errors import GraphUnreachableError
from headwater_analysis.incidents.figures import IncidentFigures, OpenByAge, SeverityFigures, TimeTaken
from headwater_analysis.settings import AnalysisSettings
from headwater_graph.connection import Neo4jTarget
from headwater_server import checking
from headwater_server.asking import Graph
from headwater_server.metrics import ServeMetrics
from headwater_server.settings import ServeSettings
from support.waiting import patience, stays


def background(every: float) -> tuple[checking.BackgroundChecks, ServeMetrics]:
    nothing: Any = None
    target = Neo4jTarget("bolt://graph", "neo4j", "", "neo4j")
    graph = Graph(nothing, target, AnalysisSettings(), ServeSettings(check_every_seconds=every))
    metrics = ServeMetrics()
    return checking.BackgroundChecks(graph, metrics, clock=lambda: 1_000.0), metrics


@pytest.fixture(autouse=True)
def no_incidents(monkeypatch: pytest.MonkeyPatch) -> None:
    """No graph is asked for incidents."""
    monkeypatch.setattr(checking, "incident_figures", lambda *_: figures())


def figures(*severities: SeverityFigures) -> IncidentFigures:
    at = datetime.fromtimestamp(0, UTC)
    return IncidentFigures(as_of=at, since=at, severities=severities)


def found(rule: str, total: int, exempted: int) -> Checks:
    return Checks((CheckedRule(rule, "t", "f", total, exempted, (), None),), total, exempted)


def test_what_is_found_is_in_the_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    checks, metrics = background(60.0)
    rule = RULES[0].name
    assert metrics.registry.get_sample_value("headwater_check_findings", {"rule": rule}) == 0
    assert metrics.registry.get_sample_value("headwater_check_last_success_timestamp_seconds") == 0
    monkeypatch.setattr(checking, "check", lambda *_, **__: found(rule, 3, 1))
    assert checks.once()
    assert metrics.registry.get_sample_value("headwater_check_findings", {"rule": rule}) == 3
    assert metrics.registry.get_sample_value("headwater_check_exempted", {"rule": rule}) == 1
    assert metrics.registry.get_sample_value("headwater_check_last_success_timestamp_seconds") == 1_000

    def away(*_: Any, **__: Any) -> Checks:
        raise GraphUnreachableError("Neo4j doesn't answer.")

    monkeypatch.setattr(checking, "check", away)
    assert not checks.once()
    assert metrics.registry.get_sample_value("headwater_check_findings", {"rule": rule}) == 3


def test_incidents_are_in_the_metrics_by_severity_and_age(monkeypatch: pytest.MonkeyPatch) -> None:
    checks, metrics = background(60.0)
    value = metrics.registry.get_sample_value
    assert value("headwater_incidents_open", {"severity": "SEV1", "age": "older"}) == 0
    assert value("headwater_incidents_resolve_median_seconds", {"severity": "none"}) == 0
    monkeypatch.setattr(checking, "check", lambda *_, **__: found(RULES[0].name, 0, 0))
    some = SeverityFigures(
        severity=None,
        open=OpenByAge(under_a_day=1, under_a_week=2, older=3),
        new=4,
        oldest_opened_at=None,
        opened=6,
        to_acknowledge=TimeTaken(incidents=0, median_seconds=None, longest_seconds=None),
        to_resolve=TimeTaken(incidents=2, median_seconds=90.0, longest_seconds=120.0),
    )
    monkeypatch.setattr(checking, "incident_figures", lambda *_: figures(some))
    checks.once()
    ages = ("under_a_day", "under_a_week", "older")
    assert [value("headwater_incidents_open", {"severity": "none", "age": age}) for age in ages] == [1, 2, 3]
    assert value("headwater_incidents_new", {"severity": "none"}) == 4
    assert value("headwater_incidents_resolve_median_seconds", {"severity": "none"}) == 90
    assert value("headwater_incidents_acknowledge_median_seconds", {"severity": "none"}) == 0
    monkeypatch.setattr(checking, "incident_figures", lambda *_: figures())
    checks.once()
    assert value("headwater_incidents_open", {"severity": "none", "age": "older"}) == 0, "none is left"


def test_a_rule_that_takes_too_long_is_logged_and_keeps_its_metrics(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    checks, metrics = background(60.0)
    rule, slow = RULES[0], RULES[1]
    metrics.checks.checked({slow.name: (7, 0)})
    late = UncheckedRule(slow.name, slow.title, "No answer within the time limit of 30 s.")
    monkeypatch.setattr(checking, "check", lambda *_, **__: replace(found(rule.name, 3, 1), unchecked=(late,)))
    assert not checks.once()
    assert metrics.registry.get_sample_value("headwater_check_findings", {"rule": rule.name}) == 3
    assert metrics.registry.get_sample_value("headwater_check_findings", {"rule": slow.name}) == 7
    assert metrics.registry.get_sample_value("headwater_check_last_success_timestamp_seconds") == 0, "not all were"
    assert caplog.messages == [
        f"The rule {slow.name} wasn't checked: No answer within the time limit of 30 s. Trying again in 60 s."
    ]


@pytest.mark.parametrize(("every", "is_checked"), [(0.0, False), (3_600.0, True)])
def test_it_begins_where_the_settings_ask_for_it(
    monkeypatch: pytest.MonkeyPatch, every: float, *, is_checked: bool
) -> None:
    asked = threading.Event()

    def check(*_: Any, **__: Any) -> Checks:
        asked.set()
        return found(RULES[0].name, 0, 0)

    monkeypatch.setattr(checking, "check", check)
    checks, _ = background(every)
    checks.start()
    if is_checked:
        assert asked.wait(patience(30))
    else:
        stays(lambda: not asked.is_set(), 0.2)
    checks.stop()


@pytest.mark.parametrize("every", [0.0, 600.0])
def test_how_often_they_are_checked_is_a_metric(monkeypatch: pytest.MonkeyPatch, every: float) -> None:
    monkeypatch.setattr(checking, "check", lambda *_, **__: found(RULES[0].name, 0, 0))
    checks, metrics = background(every)
    checks.start()
    checks.stop()
    assert metrics.registry.get_sample_value("headwater_check_interval_seconds") == every
