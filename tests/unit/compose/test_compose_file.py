"""docker-compose.yml: valid by the Compose schema, pinned, bounded, closed to the network, without a password."""

from __future__ import annotations

import json
import re
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import yaml

from headwater.settings import environment_name, load_settings, setting_names

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
ENV_EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")

PINNED = re.compile(r"^[\w./-]+:v?\d+\.\d+\.\d+(-[\w.]+)?$")
ALERT = re.compile(r"- alert: (\w+)")
VARIABLE = re.compile(r"\$\{(\w+)")


def test_it_is_valid_by_the_compose_specification() -> None:
    vendored = files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    schema = json.loads(vendored.read_text(encoding="utf-8"))
    jsonschema.validators.validator_for(schema)(schema).validate(COMPOSE)


def test_the_services_are_the_documented_ones() -> None:
    always = {name for name, settings in SERVICES.items() if "profiles" not in settings}
    assert always == {"kafka", "neo4j", "materializer", "serve", "prometheus", "alertmanager", "grafana"}
    assert {name: SERVICES[name]["profiles"] for name in set(SERVICES) - always} == {"schema-registry": ["registry"]}


def test_a_service_is_pinned_healthy_and_comes_back(subtests: pytest.Subtests) -> None:
    for service, settings in SERVICES.items():
        with subtests.test(service=service):
            assert PINNED.match(settings["image"]), settings["image"]
            assert settings["healthcheck"]["test"][0] == "CMD"
            assert settings["restart"] == "unless-stopped"
            assert settings["logging"]["options"]["max-size"]
            assert re.fullmatch(r"\d+[gm]", settings["mem_limit"])


def test_neo4j_fits_into_its_limit() -> None:
    environment = SERVICES["neo4j"]["environment"]
    taken = [environment[f"NEO4J_server_memory_{name}"] for name in ("heap_max__size", "pagecache_size")]
    assert sum(map(mebibytes, taken)) + 512 <= mebibytes(SERVICES["neo4j"]["mem_limit"])


def mebibytes(size: str) -> int:
    return int(size[:-1]) * {"g": 1_024, "m": 1}[size[-1]]


def test_a_port_is_bound_to_loopback(subtests: pytest.Subtests) -> None:
    for service, settings in SERVICES.items():
        with subtests.test(service=service):
            assert [port for port in settings.get("ports", []) if not port.startswith("127.0.0.1:")] == []


def test_passwords_are_files_and_none_has_a_value_here() -> None:
    given = {
        name: value
        for settings in SERVICES.values()
        for name, value in settings.get("environment", {}).items()
        if re.search(r"PASSWORD|AUTH|SECRET|TOKEN|CONFIG", name)
    }
    assert given == {
        "NEO4J_AUTH_FILE": "/run/secrets/neo4j_auth",
        "HEADWATER_CONFIG": "/run/secrets/headwater.toml",
        "GF_SECURITY_ADMIN_PASSWORD__FILE": "/run/secrets/grafana_password",
    }
    for settings in SERVICES.values():
        files_given = {value for value in settings.get("environment", {}).values() if value.startswith("/run/secrets/")}
        assert files_given == {f"/run/secrets/{name}" for name in settings.get("secrets", [])}
    assert {secret["file"] for secret in COMPOSE["secrets"].values()} == {
        f"./secrets/{name}" for name in COMPOSE["secrets"]
    }
    for name in COMPOSE["secrets"]:
        assert f"> secrets/{name}\n" in TEXT, "the file's head shows how it is made"


def test_the_file_of_secrets_is_one_of_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Made as the head of the compose file shows it."""
    shown = "\n".join(line.removeprefix("#     ") for line in TEXT.splitlines() if line.startswith("#     "))
    script = shown.partition("docker compose")[0].replace("openssl rand -hex 16", "echo 0123456789abcdef")
    subprocess.run(["sh", "-euc", f"umask 077; {script}"], cwd=tmp_path, check=True)
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "secrets").iterdir()} == {0o644}
    assert (tmp_path / "secrets" / "neo4j_auth").read_text() == "neo4j/0123456789abcdef"
    monkeypatch.setenv("HEADWATER_CONFIG", str(tmp_path / "secrets" / "headwater.toml"))
    assert load_settings().neo4j.password.get_secret_value() == "0123456789abcdef"


def test_env_example_names_every_variable_and_its_default() -> None:
    documented = dict(re.findall(r"^#?(\w+)=(.*)$", ENV_EXAMPLE, re.MULTILINE))
    assert set(documented) == set(VARIABLE.findall(TEXT))
    for name, default in re.findall(r"\$\{(\w+):-([^}]*)\}", TEXT):
        assert documented[name] == default


def test_the_password_file_is_not_committed() -> None:
    assert {".env", "/secrets/"} <= set((ROOT / ".gitignore").read_text(encoding="utf-8").splitlines())


def test_volumes_are_declared_and_mounted_files_exist() -> None:
    mounts = [mount.split(":")[0] for settings in SERVICES.values() for mount in settings.get("volumes", [])]
    named = {mount for mount in mounts if not mount.startswith(".")}
    assert named == set(COMPOSE["volumes"])
    assert [mount for mount in mounts if mount.startswith(".") and not (ROOT / mount).exists()] == []


def test_every_folder_that_prometheus_reads_is_mounted() -> None:
    config = yaml.safe_load((ROOT / "ops" / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    patterns = list(config["rule_files"])
    for job in config["scrape_configs"]:
        for each in job.get("file_sd_configs", []):
            patterns += each["files"]
    mounted = {mount.split(":")[1] for mount in SERVICES["prometheus"]["volumes"]}
    assert {f"/etc/prometheus/{pattern.rpartition('/')[0]}" for pattern in patterns} - mounted == set()


def test_prometheus_and_its_alertmanager_find_each_other() -> None:
    config = yaml.safe_load((ROOT / "ops" / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    [manager] = config["alerting"]["alertmanagers"]
    assert manager["static_configs"] == [{"targets": ["alertmanager:9093"]}]
    routing = yaml.safe_load((ROOT / "ops" / "alertmanager" / "alertmanager.yml").read_text(encoding="utf-8"))
    receivers = {each["name"] for each in routing["receivers"]}
    route = routing["route"]
    assert {route["receiver"], *(each["receiver"] for each in route["routes"])} <= receivers
    alerts = {
        rule
        for path in (ROOT / "ops" / "prometheus" / "rules").glob("*.yml")
        for rule in ALERT.findall(path.read_text())
    }
    for inhibited in routing["inhibit_rules"]:
        named = re.findall(r"Headwater\w+", " ".join(inhibited["source_matchers"] + inhibited["target_matchers"]))
        assert named
        assert set(named) <= alerts


def test_our_services_are_given_settings_that_exist(subtests: pytest.Subtests) -> None:
    """They refuse to start on an unknown one."""
    for service in ["materializer", "serve"]:
        with subtests.test(service=service):
            known = {environment_name(setting) for setting in setting_names()} | {"HEADWATER_CONFIG"}
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
