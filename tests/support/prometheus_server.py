"""A real Prometheus that scrapes processes of a test and evaluates the rules of `ops/`, with time made shorter.

Durations of the rules become a sixtieth: `for: 5m` is 5 s, a window of half an hour is 30 s. Thresholds in seconds, and
counts that only a busy pipeline reaches, are in `THRESHOLDS`. Nothing else of a rule is changed.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from headwater.stack import ports
from headwater.stack.process import GuardedProcess
from support.waiting import eventually, patience

PROMETHEUS = Path(__file__).parents[2] / "ops" / "prometheus"
RULE_FILES = sorted((PROMETHEUS / "rules").glob("*.yml"))
# A scrape of `headwater serve` takes 3 s while Neo4j is away, and Prometheus waits for one no longer than to the next.
SCRAPED_EVERY_MS = 4_000
EVALUATED_EVERY_MS = 1_000
SHORTER = 60

THRESHOLDS: Mapping[str, Mapping[str, str]] = {
    "HeadwaterNotApplying": {"> 300": "> 5"},
    "HeadwaterLagGrowing": {"> 1000": "> 10"},
    "HeadwaterGraphLate": {"> 600": "> 10"},
    # The brokers are asked every 5 s, which nothing makes shorter.
    "HeadwaterLagUnknown": {"> 120": "> 12"},
    "HeadwaterPartitionsLost": {"> 3": "> 1"},
    # A start takes seconds, too.
    "HeadwaterMaterializerRestarts": {"> 3": "> 0"},
    "HeadwaterForwardLagGrowing": {"> 1000": "> 10"},
    "HeadwaterOutboxGrowing": {"> 100": "> 10"},
}
"""Alert ⇒ text of its expression ⇒ the text for it where time is shorter."""

_MILLISECONDS = {"s": 1_000, "m": 60_000, "h": 3_600_000}
_WINDOW_MIN_MS = 4 * SCRAPED_EVERY_MS
_FOR_MIN_MS = 2 * EVALUATED_EVERY_MS


def shortened(rules: Mapping[str, Any], thresholds: Mapping[str, Mapping[str, str]] = THRESHOLDS) -> dict[str, Any]:
    """Return the document of a rule file with shorter durations, and the thresholds that go with them.

    Raises:
        ValueError: a threshold is not in the rule: it was changed, and the table wasn't.
    """
    return {
        "groups": [
            {**group, "rules": [_shorter(rule, thresholds) for rule in group["rules"]]} for group in rules["groups"]
        ]
    }


def _shorter(rule: Mapping[str, Any], thresholds: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    expression = str(rule["expr"])
    for text, instead in thresholds.get(rule.get("alert", ""), {}).items():
        if not re.search(rf"{re.escape(text)}\b", expression):
            raise ValueError(f"{rule['alert']} has no {text!r}: change THRESHOLDS as its rule was")
        expression = re.sub(rf"{re.escape(text)}\b", instead, expression)
    expression = re.sub(r"(?<=\[)(\d+[smh])(?=\])", lambda window: _divided(window[1], _WINDOW_MIN_MS), expression)
    waits = {"for": _divided(rule["for"], _FOR_MIN_MS)} if "for" in rule else {}
    return {**rule, "expr": expression, **waits}


def _divided(duration: str, least_ms: int) -> str:
    return f"{max(int(duration[:-1]) * _MILLISECONDS[duration[-1]] // SHORTER, least_ms)}ms"


class PrometheusServer:
    """Prometheus on a free port of this machine."""

    def __init__(self, port: int) -> None:
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=patience(10))

    def ready(self) -> bool:
        """True once it has read its data and rules."""
        try:
            return self._client.get("/-/ready").status_code == 200
        except httpx.TransportError:
            return False

    def alerts(self) -> list[dict[str, Any]]:
        """Pending and firing alerts, as Prometheus shows them."""
        alerts: list[dict[str, Any]] = self._client.get("/api/v1/alerts").raise_for_status().json()["data"]["alerts"]
        return alerts

    def value(self, expression: str) -> float | None:
        """Sum of an expression's series now; None where it has none."""
        answer = self._client.get("/api/v1/query", params={"query": f"sum({expression})"}).raise_for_status()
        found = answer.json()["data"]["result"]
        return float(found[0]["value"][1]) if found else None

    def watch(self, *alerts: str) -> Watch:
        """Begin a scenario of alerts, none of which is there before it.

        A process has been scraped by then: how much a counter rose is known only since its first scrape.
        """
        eventually(lambda: self.value("up"), 60, every=0.2, expecting="a process is scraped")
        watch = Watch(self, alerts)
        watch.clear()
        return watch

    def close(self) -> None:
        self._client.close()


class Watch:
    """Alerts of one scenario: they fire, and then they are over.

    `meanwhile` is called again and again: what goes on while an operator waits, such as people who ask.
    """

    def __init__(self, prometheus: PrometheusServer, names: Sequence[str]) -> None:
        self._prometheus = prometheus
        self._names = frozenset(names)

    def fire(self, meanwhile: Callable[[], object] = lambda: None, *, seconds: float = 90) -> dict[str, dict[str, str]]:
        """Wait until each alert has fired, and return its labels and texts."""
        fired: dict[str, dict[str, str]] = {}

        def all_fired() -> bool:
            meanwhile()
            for alert in self._there():
                if alert["state"] == "firing":
                    texts = alert["labels"] | alert["annotations"]
                    assert not [text for text in texts.values() if "<no value>" in text or "error expanding" in text], (
                        texts
                    )
                    fired.setdefault(alert["labels"]["alertname"], texts)
            return fired.keys() == self._names

        try:
            eventually(all_fired, seconds, every=0.2, expecting="all alerts have fired")
        except AssertionError as error:
            raise AssertionError(f"{error}: {sorted(self._names - fired.keys())} have not") from None
        return fired

    def clear(self, meanwhile: Callable[[], object] = lambda: None, *, seconds: float = 90) -> None:
        """Wait until none of the alerts is there, not even pending."""

        def all_over() -> bool:
            meanwhile()
            return not self._there()

        try:
            eventually(all_over, seconds, every=0.2, expecting="the alerts are over")
        except AssertionError as error:
            raise AssertionError(f"{error}: {self._there()}") from None

    def _there(self) -> list[dict[str, Any]]:
        return [alert for alert in self._prometheus.alerts() if alert["labels"]["alertname"] in self._names]


@contextlib.contextmanager
def prometheus(
    folder: Path, targets: Mapping[str, Sequence[int]], *, token: str | None = None
) -> Iterator[PrometheusServer]:
    """Run Prometheus for the block.

    Args:
        folder: folder of its data, configuration and log.
        targets: job of `prometheus.yml` ⇒ ports of this machine that it scrapes.
        token: bearer token that it sends with each scrape.
    """
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("prometheus is not installed: apt install prometheus")
    port = free_port()
    configuration = folder / "prometheus.yml"
    configuration.write_text(yaml.safe_dump(_configuration(folder, targets, token)), encoding="utf-8")
    for path in RULE_FILES:
        (folder / path.name).write_text(yaml.safe_dump(shortened(yaml.safe_load(path.read_text()))), encoding="utf-8")
    arguments = [
        f"--config.file={configuration}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    process = GuardedProcess("Prometheus", [program, *arguments], output=folder / "prometheus.log")
    server = PrometheusServer(port)
    try:
        process.wait_until(server.ready, timeout_seconds=patience(60), cancelled=lambda: False)
        yield server
    finally:
        server.close()
        process.stop()


def free_port() -> int:
    """Port of this machine on which nothing listens, below those that the kernel gives to connections."""
    return ports.choose(ports.ANY).http


def _configuration(folder: Path, targets: Mapping[str, Sequence[int]], token: str | None) -> dict[str, Any]:
    """The scrape jobs of `prometheus.yml` with the processes of a test instead of those that it finds."""
    jobs = {
        job["job_name"]: job for job in yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())["scrape_configs"]
    }
    every = f"{SCRAPED_EVERY_MS}ms"
    evaluated = f"{EVALUATED_EVERY_MS}ms"
    return {
        "global": {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": evaluated},
        "rule_files": [str(folder / path.name) for path in RULE_FILES],
        "scrape_configs": [
            {key: value for key, value in jobs[name].items() if not key.endswith("_sd_configs")}
            | {"static_configs": [{"targets": [f"127.0.0.1:{port}" for port in chosen]}]}
            | ({"authorization": {"credentials": token}} if token else {})
            for name, chosen in targets.items()
        ],
    }
