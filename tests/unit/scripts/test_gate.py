"""The gate refuses what it must: planted failures, flakes, and overdue entries, through real runs of pytest."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import textwrap
from pathlib import Path

import gate
import pytest

from support.run_rules import REFUSED

TESTS = Path(__file__).parents[2]
TODAY = dt.date(2026, 11, 27)

CONFTEST = """
from support.run_rules import pytest_runtest_logreport, pytest_sessionfinish, pytest_terminal_summary
def pytest_addoption(parser):
    parser.addoption("--hypothesis-profile")
def pytest_collection_modifyitems(items):
    for item in items:
        item.user_properties.append(("nodeid", item.nodeid))
"""
PASSES = "def test_passes(): pass\n"
FAILS = "def test_fails(): assert False\n"
FLAKY = """
import pytest
from pathlib import Path

@pytest.mark.parametrize("number", range({count}))
def test_flaky(number, request):
    tried = Path(request.config.rootpath, f"tried-{{number}}")
    if not tried.exists():
        tried.touch()
        assert False
"""
ROWS = """
def test_rows(subtests):
    for number in range(4):
        with subtests.test(number=number):
            assert number % 2
"""
INTEGRATION = "tests/integration/test_it.py"
UNIT = "tests/unit/test_it.py"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without tests; what CI sets is not this run's concern."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # half of the time that a run takes
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\naddopts = --import-mode=importlib\npythonpath = {TESTS}\nmarkers = nightly\n  study\n"
    )
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "conftest.py").write_text(CONFTEST)
    return tmp_path


def plant(project: Path, name: str, text: str) -> None:
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(text)


def run(project: Path, capfd: pytest.CaptureFixture[str], name: str = "gate") -> tuple[int, str]:
    status = gate.run_set(name, project, today=TODAY)
    return status, capfd.readouterr().out


def test_what_passes_is_accepted(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plant(project, UNIT, PASSES)
    status, output = run(project, capfd)
    assert status == 0
    assert output.splitlines()[-1] == "1 passed, 0 failed, 0 skipped"


def test_a_failure_is_refused_without_a_second_try(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plant(project, UNIT, FLAKY.format(count=1))
    status, output = run(project, capfd)
    assert status == 1
    assert "Second try" not in output
    assert output.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


def test_one_failure_of_a_unit_test_leaves_no_second_try_to_others(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plant(project, UNIT, FAILS)
    plant(project, INTEGRATION, FLAKY.format(count=1))
    status, output = run(project, capfd)
    assert (status, "Second try" in output) == (1, False)


def test_a_failure_of_both_tries_is_refused(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plant(project, INTEGRATION, FAILS)
    status, output = run(project, capfd)
    assert (status, "Second try" in output, "FLAKY" in output) == (1, True, False)


def test_one_of_two_that_fails_again_is_refused(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plant(project, INTEGRATION, FLAKY.format(count=1) + FAILS)
    status, output = run(project, capfd)
    assert status == 1
    assert "FLAKY: tests/integration/test_it.py::test_flaky[0]" in output
    assert output.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"


def test_three_flakes_are_accepted_and_named(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plant(project, INTEGRATION, FLAKY.format(count=3))
    status, output = run(project, capfd)
    assert status == 0
    lines = output.splitlines()
    assert [line for line in lines if line.startswith("FLAKY")] == [
        f"FLAKY: tests/integration/test_it.py::test_flaky[{number}]" for number in range(3)
    ]
    assert "    review_by = 2026-12-11" in lines, "the entry to add"
    junit = (project / "junit.xml").read_text()
    assert junit.count('name="flaky"') == 3
    assert "<failure" not in junit


def test_four_flakes_are_refused(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plant(project, INTEGRATION, FLAKY.format(count=4))
    status, output = run(project, capfd)
    assert (status, "Second try" in output) == (1, False)


def test_a_listed_flake_is_not_asked_for_again(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plant(project, INTEGRATION, FLAKY.format(count=1))
    listed(project, test="tests/integration/test_it.py::test_flaky[0]")
    status, output = run(project, capfd)
    assert status == 0
    assert "FLAKY" in output
    assert "List it" not in output


def listed(project: Path, *, test: str = "a", since: str = "2026-11-20", review_by: str = "2026-12-01") -> None:
    (project / "tests" / "flaky.toml").write_text(
        textwrap.dedent(f"""\
        [[flaky]]
        test = "{test}"
        cause = "a port that was taken"
        since = {since}
        review_by = {review_by}
        """)
    )


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"review_by": "2026-11-26"}, "review was due on 2026-11-26"),
        ({"review_by": "2026-12-05"}, "at most 14 days"),
        ({"since": "2026-12-02"}, "at most 14 days"),
        ({"since": '"today"'}, "are dates"),
        ({"test": '", other = "b'}, "other"),
    ],
)
def test_an_overdue_or_wrong_entry_is_refused(
    entry: dict[str, str], fault: str, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plant(project, UNIT, PASSES)
    listed(project, **entry)
    if "other" in fault:
        (project / "tests" / "flaky.toml").write_text('[[flaky]]\ntest = "a"\nother = "b"\n')
    status, output = run(project, capfd)
    assert status == 1
    assert fault in output
    assert "passed" not in output, "no test ran"


def test_each_set_runs_its_tests(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    marked = "import pytest\ndef test_always(): pass\n"
    marked += "".join(f"@pytest.mark.{mark}\ndef test_{mark}(): pass\n" for mark in ("nightly", "study"))
    plant(project, UNIT, marked)
    assert run(project, capfd)[1].splitlines()[-1] == "1 passed, 0 failed, 0 skipped"
    assert run(project, capfd, "nightly")[1].splitlines()[-1] == "2 passed, 0 failed, 0 skipped"


def test_a_skip_that_ci_does_not_allow_leaves_no_second_try(
    project: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    plant(project, INTEGRATION, FLAKY.format(count=1) + "\ndef test_skips(): pytest.skip('not here')\n")
    status, output = run(project, capfd)
    assert (status, "Second try" in output) == (REFUSED, False)


def test_no_test_at_all_is_refused(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(project, capfd)[0] == 5, "pytest's status"


def test_tests_run_with_bytecode(
    project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    plant(project, UNIT, "import sys\ndef test_it(): assert not sys.dont_write_bytecode\n")
    assert run(project, capfd)[0] == 0


def test_a_failing_subtest_counts_once(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plant(project, UNIT, ROWS)
    status, output = run(project, capfd)
    assert status == 1
    assert output.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


def test_the_ledger_names_folders_over_their_budget() -> None:
    found = [
        gate.Result("tests/unit/fold/test_a.py::test_a", "passed", 4.0),
        gate.Result("tests/spark/plan/test_a.py::test_a", "passed", 6.0),
        gate.Result("tests/spark/plan/sub/test_b.py::test_b", "passed", 5.0),
    ]
    lines = list(gate.ledger(found, {"tests/unit": 10, "tests/spark/plan": 10}))
    assert [" ".join(line.split()) for line in lines] == [
        "tests/spark/plan 2 tests 11 s budget 10 s, OVER",
        "tests/unit 1 tests 4 s budget 10 s",
    ]


def test_budgets_are_read_from_the_table(tmp_path: Path) -> None:
    (tmp_path / "C.md").write_text("| suite | needs | s |\n|---|---|---|\n| `tests/unit/` | nothing | 300 |\n")
    assert gate.budgets(tmp_path / "C.md") == {"tests/unit": 300}


@pytest.mark.parametrize(
    ("fails", "ran"),
    [(None, ["ruff", "ruff", "mypy", "tests"]), ("mypy", ["ruff", "ruff", "mypy"]), ("ruff", ["ruff"])],
)
def test_tests_run_only_if_lint_and_types_pass(
    fails: str | None, ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[str] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(Path(command[0]).name)
        return subprocess.CompletedProcess(command, 9 if commands[-1] == fails else 0)

    def run_set(name: str) -> int:
        commands.append("tests")
        return 0

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(gate, "run_set", run_set)
    assert gate.main([]) == (9 if fails else 0)
    assert commands == ran


def test_processors_are_free_again_after_a_stress_run() -> None:
    with gate.busy_processors(1) as busy:
        assert [process.is_alive() for process in busy] == [True]
    assert [process.is_alive() for process in busy] == [False]
