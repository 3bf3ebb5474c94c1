"""The Grafana dashboards: loadable as provisioned, and about metrics that exist."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml

from support.declared_metrics import FOREIGN, NAME, SCRAPED, declared
from support.promtool import accept

ROOT = Path(__file__).parents[3]
GRAFANA = ROOT / "ops" / "grafana"
DASHBOARDS: dict[str, dict[str, Any]] = {
    path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted((GRAFANA / "dashboards").glob("*.json"))
}
EXPRESSIONS = [
    target["expr"]
    for dashboard in DASHBOARDS.values()
    for panel in dashboard["panels"]
    for target in panel.get("targets", [])
]
SHOWN = {name for expression in EXPRESSIONS for name in NAME.findall(expression)}
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["grafana"]


def test_panels_ask_the_provisioned_data_source() -> None:
    provisioned = yaml.safe_load((GRAFANA / "provisioning" / "datasources" / "prometheus.yml").read_text())
    (uid,) = [source["uid"] for source in provisioned["datasources"]]
    assert DASHBOARDS
    for path, dashboard in DASHBOARDS.items():
        asked = [panel["datasource"]["uid"] for panel in dashboard["panels"] if panel["type"] != "row"]
        asked += [target["datasource"]["uid"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
        asked += [variable["datasource"]["uid"] for variable in dashboard["templating"]["list"]]
        assert set(asked) == {uid}, path


def test_panels_have_a_place_of_their_own_and_an_explanation() -> None:
    for path, dashboard in DASHBOARDS.items():
        panels = dashboard["panels"]
        assert len({panel["id"] for panel in panels}) == len(panels), path
        assert [panel["title"] for panel in panels if panel["type"] != "row" and not panel["description"]] == [], path
        for one, other in combinations(panels, 2):
            a, b = one["gridPos"], other["gridPos"]
            apart = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
            apart |= a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]
            assert apart, (path, one["title"], other["title"])
            assert a["x"] + a["w"] <= 24, (path, one["title"])


def test_panels_show_metrics_and_labels_that_the_code_declares() -> None:
    series = declared()
    for expression in EXPRESSIONS:
        names = set(NAME.findall(expression))
        assert names - set(series) == set(), expression
        labels = SCRAPED.union(*(series[name] for name in names))
        grouped = {label.strip() for by in re.findall(r"by \(([^)]*)\)", expression) for label in by.split(",")}
        assert grouped - labels == set(), expression
        assert names or any(foreign in expression for foreign in FOREIGN), expression


def test_every_metric_of_the_materializer_is_shown() -> None:
    families = {
        re.sub(r"_(bucket|sum|count)$", "", name) for name in declared() if name.startswith("headwater_materializer_")
    }
    assert families - {re.sub(r"_bucket$", "", name) for name in SHOWN} == set()


def test_every_metric_of_openlineage_events_is_shown() -> None:
    of_events = ("headwater_serve_intake_", "headwater_bridge_", "headwater_forward_")
    families = {re.sub(r"_(bucket|sum|count)$", "", name) for name in declared() if name.startswith(of_events)}
    assert families - {re.sub(r"_bucket$", "", name) for name in SHOWN} == set()


def test_every_metric_of_the_server_of_questions_is_shown() -> None:
    shown = {re.sub(r"_bucket$", "", name) for name in SHOWN}
    of_server = ("headwater_serve_", "headwater_check_")
    assert {
        re.sub(r"_(bucket|sum|count)$", "", name) for name in declared() if name.startswith(of_server)
    } - shown == set()


def test_every_metric_of_a_query_is_shown() -> None:
    # Which micro-batch is the last is for people who look at /metrics.
    families = {name for name in declared() if name.startswith("headwater_query_")} - {"headwater_query_batch"}
    assert families
    assert families - SHOWN == set()


def test_the_expressions_are_promql(tmp_path: Path) -> None:
    rules = [
        {
            "record": f"panel:{number}",
            "expr": expression.replace("$__rate_interval", "1m").replace("$instance", ".*").replace("$query", ".*"),
        }
        for number, expression in enumerate(EXPRESSIONS)
    ]
    file = tmp_path / "panels.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    accept("check", "rules", file)


def test_what_is_provisioned_is_what_is_mounted() -> None:
    providers = yaml.safe_load((GRAFANA / "provisioning" / "dashboards" / "headwater.yml").read_text())["providers"]
    mounts = dict(reversed(mount.removesuffix(":ro").split(":")) for mount in COMPOSE["volumes"])
    for provider in providers:
        assert mounts[provider["options"]["path"]] == "./ops/grafana/dashboards"
    home = COMPOSE["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert Path(home).name in DASHBOARDS
    assert mounts[str(Path(home).parent)] == "./ops/grafana/dashboards"
