"""Rules of a test run: it may not rewrite goldens or skip tests unnoticed.

Goldens are rewritten by `UPDATE_GOLDENS=1 pytest …` and by nothing else: never in CI, and the run fails after it has
rewritten any, naming them, so that nobody takes it for a passed one. In CI a skip that isn't listed here fails the run:
what CI can't try, nobody tries. The functions called `pytest_…` are hooks of pytest, which `tests/conftest.py` imports.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MAY_SKIP_IN_CI: dict[str, str] = {
    "tests/integration/other_spark/test_oldest_and_newest.py::test_a_part_of_the_suite_passes": (
        "needs a PySpark that isn't locked, 300 MB from the package index, which can't be reached everywhere"
    ),
    "tests/integration/openlineage/test_dbt.py::test_a_project_is_in_the_graph": (
        "needs dbt, 160 MB from the package index, which can't be reached everywhere"
    ),
    "tests/unit/ops/test_chart_rendered.py": "needs Helm, which is built with Go, and Debian's Go is too old",
    "tests/integration/docs/test_operating.py::test_the_commands_for_kubernetes": "the same",
    "tests/integration/image/test_pods_of_the_chart.py": "the same",
}
"""File, or node id without its parameters ⇒ why CI can't run it. All else that the tests need CI installs."""

REFUSED = 10
"""Exit status of a run that broke these rules, failed tests or not: no second try of them mends it."""

_WITHOUT = "CI_WITHOUT"
"""System packages that `.ci/run` couldn't install, and reported: tests whose reason is one of them may be skipped."""

_VARIABLE = "UPDATE_GOLDENS"
_rewritten: list[Path] = []
_skipped: list[str] = []


def updating() -> bool:
    """True when this run rewrites goldens instead of comparing with them."""
    return os.environ.get(_VARIABLE) == "1"


def rewrite(path: Path, text: str) -> None:
    """Write a golden or a generated part of a document anew; the run fails at its end if that changed it."""
    if not updating():
        raise RuntimeError(f"{path.name} is rewritten by {_VARIABLE}=1 alone")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.write_text(text, encoding="utf-8")
    _rewritten.append(path)


def in_ci() -> bool:
    """True when CI runs the tests, as CI services announce it."""
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


def refuse_rewriting_in_ci(config: pytest.Config) -> None:
    """Refuse to rewrite goldens in CI or in two processes.

    Raises:
        pytest.UsageError: The run would rewrite goldens, and may not.
    """
    value = os.environ.get(_VARIABLE)
    if value not in {None, "", "0", "1"}:
        raise pytest.UsageError(f"{_VARIABLE}={value}: 1 rewrites the goldens, and nothing else does")
    if updating() and in_ci():
        raise pytest.UsageError(f"{_VARIABLE}=1 under CI: goldens are rewritten by people, who read the difference")
    if updating() and config.getoption("numprocesses", None):
        raise pytest.UsageError(f"{_VARIABLE}=1 needs one process: two would write the same file")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember what was skipped; an expected failure is none."""
    if report.skipped and not hasattr(report, "wasxfail") and not _may_skip(report):
        _skipped.append(report.nodeid)


def _may_skip(report: pytest.TestReport) -> bool:
    missing = os.environ.get(_WITHOUT, "").split()
    needs = re.search(r"apt install ((?:[\w.+-]+ ?)+)", str(report.longrepr))
    named = {report.nodeid.partition("[")[0], report.nodeid.partition("::")[0]}
    return not named.isdisjoint(MAY_SKIP_IN_CI) or (needs is not None and not set(missing).isdisjoint(needs[1].split()))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Refuse a run that rewrote goldens, and one of CI that skipped what isn't listed."""
    tests_ran = exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
    if tests_ran and (_rewritten or (in_ci() and _skipped)):
        session.exitstatus = REFUSED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what the run failed for."""
    for path in sorted(set(_rewritten)):
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        terminalreporter.write_line(f"rewritten: {shown} - read the difference, then run again without {_VARIABLE}")
    if in_ci():
        for name in _skipped:
            terminalreporter.write_line(f"skipped in CI and not listed in {Path(__file__).name}: {name}")
