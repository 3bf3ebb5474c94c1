"""A run that rewrote a golden, or that skipped in CI, hasn't passed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.run_rules import REFUSED
from support.waiting import patience

TESTS = Path(__file__).parents[2]

CONFTEST = """
from support.run_rules import (
    pytest_runtest_logreport, pytest_sessionfinish, pytest_terminal_summary,
    refuse_rewriting_in_ci as pytest_configure,
)
"""
COMPARES = """
from pathlib import Path
from support.run_rules import rewrite, updating
GOLDEN = Path(__file__).with_name("golden.txt")
def test_golden():
    if updating():
        rewrite(GOLDEN, "now")
    else:
        assert GOLDEN.read_text() == "now"
"""
SKIPS = """
import pytest
@pytest.mark.parametrize("one", [1, 2])
def test_skipped(one):
    pytest.skip("not here")
@pytest.mark.xfail(strict=True)
def test_expected():
    assert False
"""


def run(folder: Path, test: str, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_it.py").write_text(test)
    (folder / "pytest.ini").write_text(f"[pytest]\npythonpath = {TESTS}\n")
    kept = {name: value for name, value in os.environ.items() if name not in {"CI", "UPDATE_GOLDENS"}}
    kept["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # half of the time that it takes
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
    return subprocess.run(
        command, cwd=folder, env=kept | environment, capture_output=True, text=True, timeout=patience(60), check=False
    )


def test_a_run_that_rewrites_fails_once_and_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "golden.txt").write_text("before")
    assert run(tmp_path, COMPARES).returncode == 1
    rewriting = run(tmp_path, COMPARES, UPDATE_GOLDENS="1")
    assert rewriting.returncode == REFUSED
    assert "golden.txt" in rewriting.stdout
    assert (tmp_path / "golden.txt").read_text() == "now"
    assert run(tmp_path, COMPARES, UPDATE_GOLDENS="1").returncode == 0, "nothing was left to rewrite"
    assert run(tmp_path, COMPARES).returncode == 0


@pytest.mark.parametrize("environment", [{"UPDATE_GOLDENS": "yes"}, {"UPDATE_GOLDENS": "1", "CI": "true"}])
def test_goldens_are_not_rewritten(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "golden.txt").write_text("before")
    assert run(tmp_path, COMPARES, **environment).returncode == pytest.ExitCode.USAGE_ERROR
    assert (tmp_path / "golden.txt").read_text() == "before"


def test_a_zero_is_no_wish_to_rewrite(tmp_path: Path) -> None:
    (tmp_path / "golden.txt").write_text("before")
    assert run(tmp_path, COMPARES, UPDATE_GOLDENS="0").returncode == 1
    assert (tmp_path / "golden.txt").read_text() == "before"


def test_a_skip_fails_in_ci_alone(tmp_path: Path) -> None:
    assert run(tmp_path, SKIPS).returncode == 0
    in_ci = run(tmp_path, SKIPS, CI="true")
    assert in_ci.returncode == REFUSED
    assert in_ci.stdout.count("not listed") == 2


def test_what_ci_could_not_install_may_be_skipped_and_nothing_else(tmp_path: Path) -> None:
    missing = SKIPS.replace("not here", "promtool is not installed: apt install prometheus")
    assert run(tmp_path, missing, CI="true", CI_WITHOUT="chromium prometheus").returncode == 0
    assert run(tmp_path, missing, CI="true", CI_WITHOUT="chromium").returncode == REFUSED
    assert run(tmp_path, SKIPS, CI="true", CI_WITHOUT="chromium prometheus").returncode == REFUSED
