"""One version of each thing, and one port, in all the files that say it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
LOCKS = ROOT / "cli" / "headwater" / "stack" / "locks"


def tag(service: str) -> str:
    return str(SERVICES[service]["image"]).rpartition(":")[2]


def test_the_image_of_headwater_carries_its_version() -> None:
    assert SERVICES["materializer"]["image"] == f"headwater:{PROJECT['version']}"


def test_the_containers_run_what_the_embedded_stack_runs() -> None:
    locked = "\n".join(path.read_text() for path in sorted(LOCKS.iterdir()) if path.is_file())
    for service, artifact in {"kafka": r"kafka_2\.13", "neo4j": "neo4j"}.items():
        version = tag(service).removesuffix("-community")
        assert re.search(rf"\b{artifact}\b.*\b{re.escape(version)}\b", locked), f"{service} {version}"


def test_one_port_for_metrics_and_health() -> None:
    port = SERVICES["materializer"]["environment"]["HEADWATER_MATERIALIZER_HTTP_PORT"]
    scraped = yaml.safe_load((ROOT / "ops" / "prometheus" / "prometheus.yml").read_text())["scrape_configs"][0]
    assert scraped["dns_sd_configs"] == [
        {"names": ["materializer"], "type": "A", "port": int(port), "refresh_interval": "10s"}
    ]
    assert SERVICES["materializer"]["expose"] == [port]
    assert f"EXPOSE {port}\n" in DOCKERFILE
    probe = SERVICES["materializer"]["healthcheck"]["test"][-1]
    assert f":{port}/readyz" in probe
    assert probe in DOCKERFILE
