"""promtool accepts configuration, rules and metrics; the alerts fire when they should and only then."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest

from headwater_producers.spark.driver.metrics_server import PUSHED
from support.declared_metrics import NAME, SCRAPED, declared, registries
from support.promtool import accept, accept_scrape

ROOT = Path(__file__).parents[3]
PROMETHEUS = ROOT / "ops" / "prometheus"
RULE_FILES = sorted((PROMETHEUS / "rules").glob("*.yml"))
TEST_FILES = sorted((PROMETHEUS / "tests").glob("*.yml"))
RULES: list[dict[str, Any]] = [
    rule for path in RULE_FILES for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]
]
ALERTS = {rule["alert"]: rule for rule in RULES if "alert" in rule}


def test_the_configuration_is_accepted() -> None:
    accept("check", "config", "prometheus.yml", folder=PROMETHEUS)


@pytest.mark.parametrize("path", RULE_FILES, ids=lambda path: path.name)
def test_the_rules_are_accepted(path: Path) -> None:
    accept("check", "rules", "--lint-fatal", path)


@pytest.mark.parametrize("path", TEST_FILES, ids=lambda path: path.name)
def test_the_alerts_fire_when_they_should(path: Path) -> None:
    accept("test", "rules", path)


@pytest.mark.parametrize("service", range(len(registries())))
def test_the_metrics_are_named_as_they_should_be(service: int) -> None:
    accept_scrape(generate_latest(registries()[service]).decode())


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_has_a_case_that_fires_and_one_that_does_not(alert: str) -> None:
    cases = [
        case
        for path in TEST_FILES
        for test in yaml.safe_load(path.read_text())["tests"]
        for case in test.get("alert_rule_test", [])
        if case["alertname"] == alert
    ]
    assert any(case["exp_alerts"] for case in cases)
    assert any(not case["exp_alerts"] for case in cases)


@pytest.mark.parametrize("alert", ALERTS)
def test_an_alert_says_how_bad_it_is_and_what_to_do(alert: str) -> None:
    rule = ALERTS[alert]
    assert rule["labels"]["severity"] in {"critical", "warning"}
    assert {"summary", "description"} <= set(rule["annotations"])
    assert f"### {alert}\n" in (ROOT / "ops" / "README.md").read_text()


def test_rules_speak_of_metrics_and_labels_that_the_code_declares() -> None:
    series = declared()
    recorded = {rule["record"] for rule in RULES if "record" in rule}
    for rule in RULES:
        expression = re.sub("|".join(map(re.escape, recorded)), "recorded", rule["expr"])
        names = set(NAME.findall(expression))
        assert names - set(series) == set(), rule
        labels = SCRAPED.union(*(series[name] for name in names))
        grouped = {label.strip() for by in re.findall(r"(?:by|on) \(([^)]*)\)", expression) for label in by.split(",")}
        selected = set(re.findall(r"(\w+)=~?\"", expression))
        assert (grouped | selected) - labels == set(), rule


def test_a_label_value_that_a_rule_selects_is_one_that_the_code_writes() -> None:
    exposed = "".join(generate_latest(registry).decode() for registry in registries())
    for rule in RULES:
        for name, label, value in re.findall(r"(headwater_\w+)\{(\w+)=\"([^\"]+)\"\}", rule["expr"]):
            if label in SCRAPED:
                assert value == PUSHED, rule
                continue
            assert re.search(rf'^{name}\{{[^}}]*{label}="{value}"', exposed, re.MULTILINE), rule


def test_every_service_with_metrics_has_a_scrape_job() -> None:
    """Alerts are by job: without one, a service that is down alerts nobody."""
    config = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text(encoding="utf-8"))
    jobs = {job["job_name"] for job in config["scrape_configs"]}
    assert {"headwater-materializer", "headwater-serve", "headwater-forwarders", "headwater-drivers"} <= jobs
