"""The process of a dry run, with a stand-in for what runs in it: answers, its end, its crash, its time limit."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from headwater import dry_run as module
from headwater.dry_run import DryRun, dry_run

HEAD = """
import json, os, subprocess, sys, time
answers, reports = map(int, sys.argv[2].split(","))
answers, reports = os.fdopen(answers), os.fdopen(reports, "w")
def report(what, **content):
    print(json.dumps({what: content}), file=reports, flush=True)
"""
ASKING = """
for number in range(20):
    report("ask", kind="table", name=f"t{number}")
    report("ddl", text=answers.readline())
report("problem", text=" ".join(sys.argv[6:]), fix="fix")
report("end")
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "MODULE", "stand_in")
    (tmp_path / "job.py").touch()
    return tmp_path / "job.py"


def run(script: Path, body: str, *arguments: str, seconds: float = 30) -> DryRun:
    (script.parent / "stand_in.py").write_text(HEAD + body, encoding="utf-8")
    return dry_run(script, arguments, lambda _, name: f"{name} INT", seconds=seconds, libraries=[script.parent])


def test_answers_and_arguments(script: Path) -> None:
    found = run(script, ASKING, "--a", "b")
    assert found.ddl == [f'{{"columns": "t{number} INT"}}\n' for number in range(20)]
    assert found.problems == [("--a b", "fix")]


def test_two_at_once_many_times(script: Path) -> None:
    (script.parent / "stand_in.py").write_text(HEAD + ASKING, encoding="utf-8")

    def one(_: int) -> int:
        return len(dry_run(script, (), lambda *_: "a INT", seconds=30, libraries=[script.parent]).ddl)

    with ThreadPoolExecutor(2) as both:
        assert list(both.map(one, range(12))) == [20] * 12


def test_a_process_that_crashes_is_a_problem(script: Path) -> None:
    found = run(script, "report('begin', network=True)\nprint('out of memory')\nos._exit(9)\n")
    (problem,) = found.problems
    assert "ended with status 9: out of memory" in problem[0]
    assert found.network


def test_what_takes_too_long_is_ended_with_its_children(script: Path) -> None:
    begun = time.monotonic()
    body = "child = subprocess.Popen(['sleep', '300'])\nreport('ddl', text=str(child.pid))\ntime.sleep(300)\n"
    found = run(script, body, seconds=2)
    assert time.monotonic() - begun < 30
    assert "isn't done after 2 s" in found.problems[0][0]
    assert _is_gone(Path("/proc", found.ddl[0], "stat"))


def _is_gone(process: Path) -> bool:
    """Whether it has ended, collected or not, within some seconds."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            if process.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_no_descriptor_is_left_open(script: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    run(script, ASKING)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
