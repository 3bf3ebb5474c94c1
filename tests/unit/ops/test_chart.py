"""The Helm chart without Helm: its values, the schema of its values, and what it shares with other files.

`test_chart_rendered.py` renders it.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from headwater.settings import Settings
from support.declared_metrics import declared
from support.run_rules import rewrite, updating

ROOT = Path(__file__).parents[3]
CHART = ROOT / "ops" / "helm" / "headwater"
ABOUT: dict[str, Any] = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
SCHEMA_FILE = CHART / "values.schema.json"
SCHEMA: dict[str, Any] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
TEMPLATES = "".join(path.read_text(encoding="utf-8") for path in sorted((CHART / "templates").iterdir()))

# What the chart sets itself, so that probes, Services and NetworkPolicies know it.
MADE_BY_THE_CHART = {
    "materializer": {"http_host", "http_port"},
    "serve": {"host", "port", "allowed_hosts", "tls_certificate", "tls_key"},
    "forward": {"health_host"},
}


def settings_schema() -> dict[str, Any]:
    """Schema of the settings that aren't secret, from their types."""
    whole = Settings.model_json_schema()

    def resolved(schema: dict[str, Any]) -> dict[str, Any]:
        return resolved(whole["$defs"][schema["$ref"].rpartition("/")[2]]) if "$ref" in schema else schema

    def plain(schema: dict[str, Any]) -> dict[str, Any]:
        one = resolved(next((each for each in schema.get("anyOf", ()) if each.get("type") != "null"), schema))
        kept = {"type", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
        return {name: value for name, value in one.items() if name in kept}

    sections = {}
    for section, schema in whole["properties"].items():
        keys = {
            key: plain(each)
            for key, each in resolved(schema)["properties"].items()
            if "writeOnly" not in json.dumps(each) and key not in MADE_BY_THE_CHART.get(section, ())
        }
        sections[section] = {"type": "object", "additionalProperties": False, "properties": keys}
    return {"type": "object", "additionalProperties": False, "properties": sections}


def text_of(value: Any, indent: int = 0) -> str:
    """JSON in which what fits on a line is on one."""
    line = json.dumps(value)
    if not isinstance(value, dict) or len(line) + indent <= 100:
        return line
    inner = " " * (indent + 2)
    members = ",\n".join(f"{inner}{json.dumps(name)}: {text_of(each, indent + 2)}" for name, each in value.items())
    return f"{{\n{members}\n{' ' * indent}}}"


def faults(change: dict[str, Any]) -> list[str]:
    """Messages of the schema on values that are the defaults but for a change."""

    def merged(old: Any, new: Any) -> Any:
        if not (isinstance(old, dict) and isinstance(new, dict)):
            return new
        return {**old, **{name: merged(old.get(name), value) for name, value in new.items()}}

    validator = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)
    return [error.message for error in validator.iter_errors(merged(VALUES, change))]


def test_the_schema_has_every_setting_that_is_no_secret() -> None:
    """`UPDATE_GOLDENS=1` writes them from their types."""
    schema = {**SCHEMA, "definitions": {**SCHEMA["definitions"], "settings": settings_schema()}}
    if updating():
        rewrite(SCHEMA_FILE, text_of(schema) + "\n")
    assert SCHEMA_FILE.read_text(encoding="utf-8") == text_of(schema) + "\n"


def test_the_schema_is_one() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


def test_the_defaults_are_accepted_and_are_all_that_there_is(subtests: pytest.Subtests) -> None:
    assert faults({}) == []

    def compared(values: dict[str, Any], schema: dict[str, Any], path: str) -> None:
        with subtests.test(values=path):
            assert set(schema["properties"]) - {"global"} == set(values)
        for name, each in schema["properties"].items():
            if "properties" in each and name != "serveToken":
                compared(values[name], each, f"{path}.{name}")

    compared(VALUES, SCHEMA, "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"materialiser": {}}, "'materialiser' was unexpected"),
        ({"materializer": {"replica": 3}}, "'replica' was unexpected"),
        ({"materializer": {"replicas": "3"}}, "'3' is not of type 'integer'"),
        ({"settings": {"kafka": {"bootstrap_server": "b:9092"}}}, "'bootstrap_server' was unexpected"),
        ({"settings": {"neo4j": {"password": "x"}}}, "'password' was unexpected"),
        ({"settings": {"kafka": {"sasl_password": "x"}}}, "'sasl_password' was unexpected"),
        ({"settings": {"kafka": {"client_properties": {}}}}, "'client_properties' was unexpected"),
        ({"settings": {"kafka": {"security_protocol": "TLS"}}}, "'TLS' is not one of"),
        ({"settings": {"materializer": {"batch_max_records": 0}}}, "0 is less than the minimum of 1"),
        ({"serve": {"settings": {"serve": {"port": 1}}}}, "'port' was unexpected"),
        ({"serve": {"hosts": ["https://lineage.example.org"]}}, "does not match"),
        ({"forward": {"refused": "refused.jsonl"}}, "does not match"),
        ({"forward": {"to": "https://user:password@marquez"}}, "does not match"),
        ({"doctor": {"outageBudget": "three days"}}, "does not match"),
        ({"doctor": {"schedule": "daily"}}, "does not match"),
        ({"image": {"digest": "latest"}}, "does not match"),
        ({"env": {"HEADWATER_NEO4J_PASSWORD": "x"}}, "does not match"),
        ({"env": {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=x"}}, "should not be valid under"),
        ({"serve": {"mounts": [{"path": "/etc/x"}]}}, "is not valid under any"),
    ],
)
def test_a_wrong_value_is_refused(change: dict[str, Any], message: str) -> None:
    [found] = faults(change)
    assert message in found


def test_no_value_is_a_secret() -> None:
    names = re.findall(r'"(\w+)": \{', SCHEMA_FILE.read_text(encoding="utf-8"))
    secret = {name for name in names if re.search(r"password|token|secret", name, re.IGNORECASE)}
    # Names of Secrets and of a Secret's key, and files in one.
    assert secret <= {
        "existingSecret",
        "imagePullSecrets",
        "tlsSecret",
        "secret",
        "serveToken",
        "tokens_file",
        "token_file",
    }


def test_the_alert_rules_are_the_ones_of_prometheus() -> None:
    """A link: there is no second copy that could differ."""
    assert (CHART / "rules").is_symlink()
    assert (CHART / "rules").resolve() == ROOT / "ops" / "prometheus" / "rules"


def test_versions_ports_user_and_metrics_are_those_of_other_files() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (ABOUT["version"], ABOUT["appVersion"]) == (project["version"], project["version"])
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    assert services["materializer"]["image"].partition(":")[0] == VALUES["image"]["repository"]
    ports = {
        "materializer": services["materializer"]["environment"]["HEADWATER_MATERIALIZER_HTTP_PORT"],
        "serve": services["serve"]["environment"]["HEADWATER_SERVE_PORT"],
    }
    assert dict(re.findall(r'"(materializer|serve)" (\d{4,})', TEMPLATES)) == ports
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    [(user, group)] = re.findall(r"^USER (\d+):(\d+)$", dockerfile, re.MULTILINE)
    assert f"runAsUser: {user}\n" in TEMPLATES
    assert f"runAsGroup: {group}\n" in TEMPLATES
    assert VALUES["materializer"]["autoscaling"]["metric"] in declared()
    assert VALUES["materializer"]["autoscaling"]["maxReplicas"] == Settings().topic.partitions
