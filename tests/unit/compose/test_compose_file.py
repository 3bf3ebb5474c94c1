"""docker-compose.yml: valid by the Compose schema, pinned, closed to the network, without a password."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import yaml

from headwater.settings import environment_name, setting_names

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
ENV_EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")

PINNED = re.compile(r"^[\w./-]+:v?\d+\.\d+\.\d+(-[\w.]+)?$")
REQUIRED = re.compile(r"\$\{(\w+):\?[^}]+\}")
VARIABLE = re.compile(r"\$\{(\w+)")


def test_it_is_valid_by_the_compose_specification() -> None:
    vendored = files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    schema = json.loads(vendored.read_text(encoding="utf-8"))
    jsonschema.validators.validator_for(schema)(schema).validate(COMPOSE)


def test_the_services_are_the_documented_ones() -> None:
    always = {name for name, settings in SERVICES.items() if "profiles" not in settings}
    assert always == {"kafka", "neo4j", "materializer", "serve", "prometheus", "grafana"}
    assert {name: SERVICES[name]["profiles"] for name in set(SERVICES) - always} == {"schema-registry": ["registry"]}


def test_a_service_is_pinned_healthy_and_comes_back(subtests: pytest.Subtests) -> None:
    for service, settings in SERVICES.items():
        with subtests.test(service=service):
            assert PINNED.match(settings["image"]), settings["image"]
            assert settings["healthcheck"]["test"][0] == "CMD"
            assert settings["restart"] == "unless-stopped"
            assert settings["logging"]["options"]["max-size"]


def test_a_port_is_bound_to_loopback(subtests: pytest.Subtests) -> None:
    for service, settings in SERVICES.items():
        with subtests.test(service=service):
            assert [port for port in settings.get("ports", []) if not port.startswith("127.0.0.1:")] == []


def test_no_password_has_a_value_here() -> None:
    secrets = {
        f"{service}: {name}": str(value)
        for service, settings in SERVICES.items()
        for name, value in settings.get("environment", {}).items()
        if re.search(r"PASSWORD|AUTH|SECRET|TOKEN", name)
    }
    assert len(secrets) == 4
    assert {name: value for name, value in secrets.items() if not REQUIRED.search(value)} == {}
    for variable in set(REQUIRED.findall(TEXT)):
        assert re.search(rf"^{variable}=$", ENV_EXAMPLE, re.MULTILINE), f"{variable} has a value in .env.example"


def test_env_example_names_every_variable_and_its_default() -> None:
    documented = dict(re.findall(r"^#?(\w+)=(.*)$", ENV_EXAMPLE, re.MULTILINE))
    assert set(documented) == set(VARIABLE.findall(TEXT))
    for name, default in re.findall(r"\$\{(\w+):-([^}]*)\}", TEXT):
        assert documented[name] == default


def test_the_password_file_is_not_committed() -> None:
    assert ".env" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_volumes_are_declared_and_mounted_files_exist() -> None:
    mounts = [mount.split(":")[0] for settings in SERVICES.values() for mount in settings.get("volumes", [])]
    named = {mount for mount in mounts if not mount.startswith(".")}
    assert named == set(COMPOSE["volumes"])
    assert [mount for mount in mounts if mount.startswith(".") and not (ROOT / mount).exists()] == []


def test_our_services_are_given_settings_that_exist(subtests: pytest.Subtests) -> None:
    """They refuse to start on an unknown one."""
    for service in ["materializer", "serve"]:
        with subtests.test(service=service):
            known = {environment_name(setting) for setting in setting_names()}
            given = {name for name in SERVICES[service]["environment"] if name.startswith("HEADWATER_")}
            assert given
            assert given - known == set()


def test_prometheus_may_call_the_server_by_the_name_it_scrapes() -> None:
    scraped = yaml.safe_load((ROOT / "ops" / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    [job] = [each for each in scraped["scrape_configs"] if each["job_name"] == "headwater-serve"]
    [[target]] = [each["targets"] for each in job["static_configs"]]
    host, _, port = target.partition(":")
    environment = SERVICES["serve"]["environment"]
    assert host in SERVICES
    assert host in environment["HEADWATER_SERVE_ALLOWED_HOSTS"].split(",")
    assert port == environment["HEADWATER_SERVE_PORT"]


def test_what_a_service_waits_for_is_there_and_has_a_healthcheck() -> None:
    for settings in SERVICES.values():
        for awaited, how in settings.get("depends_on", {}).items():
            assert how == {"condition": "service_healthy"}
            assert "healthcheck" in SERVICES[awaited]
