"""Pods of the Helm chart as processes: what their containers run takes the chart's settings, and answers its probes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_schemas.topics import TopicNames, ensure_topics, topic_specs
from support.collector import collecting
from support.helm import rendered
from support.stack import StackUnderTest
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from neo4j import Driver

# Nightly, as Helm is: see tests/unit/ops/test_chart_rendered.py.
pytestmark = [pytest.mark.nightly, pytest.mark.stack, pytest.mark.timeout(2_400)]

PREFIX = "pods"
POD_IP = "127.0.0.1"
# The chart's ports may be taken here; any free one is logged.
ANY_PORT = dict.fromkeys(("HEADWATER_MATERIALIZER_HTTP_PORT", "HEADWATER_SERVE_PORT"), "0")


def values(stack: StackUnderTest, collector: str) -> dict[str, Any]:
    return {
        "settings": {
            "kafka": {"bootstrap_servers": stack.bootstrap_servers},
            "neo4j": {"uri": stack.neo4j_uri, "user": stack.neo4j_user},
            "topic": {"prefix": PREFIX, "partitions": 2},
            "materializer": {"group": PREFIX, "record_max_bytes": 33554432},
            "forward": {"group": f"{PREFIX}-forward"},
        },
        "materializer": {"existingSecret": "headwater"},
        "serve": {"existingSecret": "headwater", "settings": {"serve": {"allow_anonymous_reads": True}}},
        "forward": {"enabled": True, "to": collector, "refused": "kafka:pods.refused"},
    }


class Pod:
    """The one container of a rendered pod, with the secret's file where the test has written it."""

    def __init__(self, template: dict[str, Any], secret: Path) -> None:
        [self.container] = template["spec"]["containers"]
        given = {each["name"]: each.get("value", POD_IP) for each in self.container["env"]}
        given = {name: value.replace("$(POD_IP)", POD_IP) for name, value in given.items()}
        if "HEADWATER_CONFIG" in given:
            given["HEADWATER_CONFIG"] = str(secret)
        # No folder that is written: the root file system is read-only.
        self.environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"} | given
        self.command = [sys.executable, "-m", "headwater", *self.container["args"]]

    def run(self) -> subprocess.CompletedProcess[str]:
        """Run a Job to its end."""
        return subprocess.run(
            self.command,
            env=self.environment,
            cwd="/",
            capture_output=True,
            text=True,
            timeout=patience(300),
            check=False,
        )

    def probe(self) -> None:
        """Start a service, ask as kubelet does until it is ready, and stop it."""
        command = ["0" if each == str(self.container["ports"][0]["containerPort"]) else each for each in self.command]
        with subprocess.Popen(
            command,
            env=self.environment | ANY_PORT,
            cwd="/",
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        ) as process:
            assert process.stderr is not None
            lines: list[str] = []
            try:
                address = None
                for line in process.stderr:
                    lines.append(line)
                    if address := re.search(r"http://0\.0\.0\.0:\d+", line):
                        break
                assert address, "".join(lines)[-3000:]
                here = address[0].replace("0.0.0.0", POD_IP)
                for name in ("livenessProbe", "readinessProbe"):
                    eventually(partial(answers, here + self.container[name]["httpGet"]["path"]), 60)
            finally:
                process.send_signal(signal.SIGTERM)
                lines += process.stderr.readlines()
        assert process.returncode == 0, "".join(lines)[-3000:]


def answers(url: str) -> bool:
    """A probe succeeds."""
    try:
        with urllib.request.urlopen(url, timeout=patience(5)) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError:
        return False


def test_what_the_pods_run_is_ready(stack: StackUnderTest, clean_database: Driver, tmp_path: Path) -> None:
    secret = tmp_path / "headwater.toml"
    secret.write_text(f"[neo4j]\npassword = {json.dumps(stack.neo4j_password)}\n", encoding="utf-8")
    ensure_topics({"bootstrap.servers": stack.bootstrap_servers}, topic_specs(TopicNames(PREFIX), partitions=2))
    with collecting() as collector:
        objects = rendered(values(stack, collector.url), tmp_path)
        pods = {
            each["metadata"]["labels"]["app.kubernetes.io/component"]: each["spec"]["template"]
            for each in objects
            if each["kind"] == "Deployment"
        }
        assert set(pods) == {"materializer", "serve", "forward"}
        for part in ("materializer", "serve", "forward"):
            Pod(pods[part], secret).probe()
    [cron] = [each for each in objects if each["kind"] == "CronJob"]
    looked = Pod(cron["spec"]["jobTemplate"]["spec"]["template"], secret).run()
    assert looked.returncode == 0, looked.stdout + looked.stderr
