"""The page for operators, command by command in a shell: a Kubernetes that is none, and a real Kafka and Neo4j.

What stands for programs that aren't here is in `SUBSTITUTES`: `systemctl` starts and stops the embedded stack,
`neo4j-admin` is the class behind it, of the stack's own jars, `kubectl` checks objects by Kubernetes' schemas and runs
the command of a Job, `helm upgrade` is `helm template`. Steps are timed; `-s` prints them.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.stack import ensure_jars, java_runtime, ports, state
from headwater.stack.neo4j import ADD_OPENS
from headwater.stack.paths import cache_dir
from headwater_benchmarks.draining import fill
from headwater_benchmarks.workload import Mixture
from support.helm import helm_program
from support.running import QUICK_JVM
from support.waiting import patience

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(3_600)]

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
EVENTS = 2_000  # before the backup, and again as many after it

_BLOCK = re.compile(r"^( *)```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)

NOT_RUN = {"docker": "there is no Docker where the tests run: tests/unit/compose reads its files"}

KUBECTL = """\
import json, subprocess, sys, yaml, kubernetes_validate
arguments = sys.argv[1:]
if "--filename" in arguments:
    for each in filter(None, yaml.safe_load_all(sys.stdin)):
        kubernetes_validate.validate(each, "1.37", strict=True)
        if each["kind"] == "Job":
            [container] = each["spec"]["template"]["spec"]["containers"]
            ended = subprocess.run(["headwater", *container["args"]], stdout=sys.stderr).returncode
            print("job.batch/one" if "name" in arguments else "")
            sys.exit(ended)
for each in arguments:
    name, _, file = each.removeprefix("--from-file=").rpartition("=")
    if each.startswith("--from-file="):
        open(file).close()
"""
SPARK_SUBMIT = """\
import os, sys
from pathlib import Path
from support.spark_submit import submit
arguments = sys.argv[1:]
if arguments[0] == "--packages":
    del arguments[:2]
submit(Path(arguments[0]), *arguments[1:], environment={"HEADWATER_KAFKA_BOOTSTRAP_SERVERS": os.environ["BROKER"]})
"""


class Site:
    """An installation: a folder in which an operator types, and the stack that stands for its servers."""

    def __init__(self, folder: Path) -> None:
        self.work, self.data, programs = folder / "work", folder / "data", folder / "bin"
        for each in (self.work, self.data, programs):
            each.mkdir()
        for name in ("ops", "spark_jobs"):
            (self.work / name).symlink_to(ROOT / name)
        state.remember_ports(self.data, ports.choose(ports.ANY))
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HEADWATER_")}
        self.environment = {
            **kept,
            "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "PYTHONPATH": str(ROOT / "tests"),
            "HEADWATER_DATA_DIR": str(self.data),
            "HEADWATER_CACHE_DIR": str(cache_dir()),
            "HEADWATER_MATERIALIZER_HTTP_PORT": "0",
            "JDK_JAVA_OPTIONS": QUICK_JVM,
        }
        self.programs = programs
        self.seconds: list[tuple[float, str]] = []
        admin = f'"{java_runtime().executable}" {" ".join(ADD_OPENS)} -cp "{self.classes}" org.neo4j.cli.AdminTool "$@"'
        graph = self.data / "neo4j"
        self.program("neo4j-admin", f'export NEO4J_HOME="{graph}" NEO4J_CONF="{graph}/conf"\nexec {admin}\n')
        self.program("systemctl", 'case "$1" in stop) headwater down ;; start) headwater up ;; esac\n')
        self.program("kubectl", f"exec {sys.executable} -c '{KUBECTL}' \"$@\"\n")
        self.program("spark-submit", f"exec {sys.executable} -c '{SPARK_SUBMIT}' \"$@\"\n")

    @property
    def classes(self) -> str:
        return os.pathsep.join(map(str, ensure_jars("neo4j")))

    def program(self, name: str, text: str) -> None:
        """A substitute, found before the real one."""
        (self.programs / name).write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
        (self.programs / name).chmod(0o755)

    def shell(self, script: str) -> str:
        """Run a script as it is typed, and note the seconds of each command; its output."""
        noted = self.work.parent / "steps"
        noted.unlink(missing_ok=True)
        note = f'printf \'%s %s\\n\' "$EPOCHREALTIME" "$BASH_COMMAND" >> {noted}'
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"trap {shlex.quote(note)} DEBUG\n{script}\ntrue end"],
            cwd=self.work,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=patience(2_400),
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        steps = [line.split(" ", 1) for line in noted.read_text(encoding="utf-8").splitlines() if line[:1].isdigit()]
        for (began, command), (ended, _) in itertools.pairwise(steps):
            self.seconds.append((float(ended) - float(began), command))
        return done.stdout

    def run(self, heading: str) -> None:
        """Run the blocks of a section."""
        for script in blocks(heading):
            self.shell(script)

    def publish(self, seed: int) -> None:
        """Put events on the topic, as drivers do."""
        fill(self.environment["BROKER"], "lineage", Mixture(seed).take(EVENTS), lambda event, key, value: None)

    def dumped(self) -> str:
        """Digest of the graph."""
        digest: str = json.loads(self.shell("headwater graph dump --json"))["sha256"]
        return digest


def blocks(heading: str) -> list[str]:
    """Shell blocks of a section, without those that aren't run."""
    [section] = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    found = [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in _BLOCK.findall(section)]
    return [block for block in found if not re.search(rf"^(?:{'|'.join(NOT_RUN)}) ", block, re.MULTILINE)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    installed = Site(tmp_path_factory.mktemp("site"))
    try:
        up = json.loads(installed.shell("headwater up --json"))
        installed.environment["BROKER"] = up["kafka"]["bootstrap_servers"]
        installed.publish(1)
        installed.shell("headwater consume --until-caught-up")
        yield installed
    finally:
        installed.shell("headwater down --purge")


def test_the_sections_are_the_ones_that_are_run() -> None:
    """A block in another section would be run by nobody."""
    with_blocks = {
        heading
        for heading, section in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
        if _BLOCK.search(section)
    }
    assert with_blocks == {"On Kubernetes", "Upgrade and roll back", "Back up", "Restore"}
    assert all(re.search(rf"^\s*{program} ", PAGE, re.MULTILINE) for program in NOT_RUN)


def test_the_commands_for_kubernetes(site: Site) -> None:
    helm = helm_program()
    upgrade = f'shift 2; exec "{helm}" template "$@"'
    site.program("helm", f'case "$1" in upgrade) {upgrade} ;; rollback) ;; *) exec "{helm}" "$@" ;; esac\n')
    [values] = re.findall(r"Write `values.yaml`:\n\n   ```yaml\n(.*?)^   ```$", PAGE, re.MULTILINE | re.DOTALL)
    (site.work / "values.yaml").write_text(re.sub(r"^   ", "", values, flags=re.MULTILINE), encoding="utf-8")
    for name in ("materializer.toml", "serve.toml"):
        (site.work / name).write_text('[neo4j]\npassword = "…"\n', encoding="utf-8")
    before = site.dumped()
    site.run("On Kubernetes")
    assert json.loads((site.work / "tokens.json").read_text(encoding="utf-8"))
    site.run("Upgrade and roll back")
    assert site.dumped() == before


def test_a_lost_graph_is_restored_and_rebuilt(site: Site) -> None:
    site.run("Back up")
    site.publish(2)
    site.shell("headwater consume --until-caught-up")
    before = site.dumped()

    site.shell("systemctl stop neo4j")
    site.shell(f"rm -r {site.data}/neo4j/data/databases/neo4j {site.data}/neo4j/data/transactions/neo4j")
    restore, consume, rebuild = blocks("Restore")
    site.shell(restore)
    assert site.dumped() != before
    site.shell(consume)
    assert site.dumped() == before
    site.shell(rebuild)
    assert site.dumped() == before
    for seconds, command in site.seconds:
        print(f"{seconds:7.1f} s  {command[:140]}")  # noqa: T201  what the page states
