"""promtool accepts configuration, rules and metrics; the alerts fire when they should and only then."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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


def test_the_rules_are_accepted() -> None:
    accept("check", "rules", "--lint-fatal", *RULE_FILES)


def test_the_alerts_fire_when_they_should() -> None:
    accept("test", "rules", *TEST_FILES)


def test_the_metrics_are_named_as_they_should_be() -> None:
    for registry in registries():
        accept_scrape(generate_latest(registry).decode())


def test_an_alert_has_a_case_that_fires_and_one_that_does_not() -> None:
    cases = [
        case
        for path in TEST_FILES
        for test in yaml.safe_load(path.read_text())["tests"]
        for case in test.get("alert_rule_test", [])
    ]
    assert ALERTS.keys() == {case["alertname"] for case in cases if case["exp_alerts"]}
    assert ALERTS.keys() == {case["alertname"] for case in cases if not case["exp_alerts"]}


def test_an_alert_says_how_bad_it_is_and_what_to_do() -> None:
    readme = (ROOT / "ops" / "README.md").read_text()
    for alert, rule in ALERTS.items():
        assert rule["labels"]["severity"] in {"critical", "warning"}, alert
        assert {"summary", "description"} <= set(rule["annotations"]), alert
        assert f"### {alert}\n" in readme


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
