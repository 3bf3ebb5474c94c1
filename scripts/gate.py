"""The test runs of `bin/test`: the gate, the nightly run, and the stress run of new tests.

    bin/test                 the gate: lint, format, types, every test that isn't marked nightly or study
    bin/test --nightly       lint, format, types, every test but the studies
    bin/test --stress PATH…  the tests of these paths, 20 times each, with all processors busy

The gate and the nightly run go through these steps:

1. Lint, format, types. A failure ends the run at once.
2. Read `tests/flaky.toml`. An entry past its review date ends the run at once.
3. All tests, in as many processes as there are processors, two at most.
4. If at most three tests failed, all in folders of `RETRIED`: a second try of these. A test that passes now is flaky.
5. The ledger: seconds by folder beside the budgets in CONTRIBUTING.md.

`junit.xml` at the root has every test's duration; a flaky test has the property `flaky`.
"""

from __future__ import annotations

import argparse
import datetime as dt
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

RETRIED = ("tests/integration/", "tests/spark/", "tests/browser/", "tests/faults/")
"""Folders whose tests start servers, browsers or Spark. A failure in any other folder is a bug."""
MOST_RETRIED = 3
LONGEST_REVIEW = dt.timedelta(days=14)
TIMES_UNDER_STRESS = 20

_SETS = {"gate": "not nightly and not study", "nightly": "not study"}


class GateError(Exception):
    """A file of the gate can't be used; the text names the file, the entry and the fix."""


@dataclass(frozen=True, slots=True)
class Flaky:
    """Entry of `tests/flaky.toml`: a test that has passed on its second try."""

    test: str
    cause: str
    since: dt.date
    review_by: dt.date


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of one test: "passed", "failed" or "skipped"."""

    test: str
    outcome: str
    seconds: float


def flaky_tests(path: Path, today: dt.date) -> list[Flaky]:
    """Read the entries of `tests/flaky.toml`.

    Raises:
        GateError: The file can't be read, an entry is incomplete, or an entry's review date has passed.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        entries = [Flaky(**entry) for entry in document.pop("flaky", [])]
    except (tomllib.TOMLDecodeError, TypeError) as error:
        raise GateError(f"{path.name}: {error}. An entry has test, cause, since and review_by.") from error
    if document:
        raise GateError(f"{path.name}: unknown table {min(document)}. Entries are tables [[flaky]].")
    for entry in entries:
        if not (type(entry.since) is type(entry.review_by) is dt.date):
            raise GateError(f"{path.name}: {entry.test}: since and review_by are dates, such as 2026-11-27.")
        if not entry.since <= entry.review_by <= entry.since + LONGEST_REVIEW:
            raise GateError(f"{path.name}: {entry.test}: review_by is at most {LONGEST_REVIEW.days} days after since.")
        if entry.review_by < today:
            raise GateError(
                f"{path.name}: {entry.test}: review was due on {entry.review_by}. "
                "Mend the test and remove the entry, or renew since and review_by with the cause as known now."
            )
    return entries


def results(junit: Path) -> list[Result]:
    """Read the outcomes that pytest reported; a test with several reports (subtests) failed if one of them did."""
    worst: dict[str, Result] = {}
    for case in _junit(junit).iter("testcase"):
        outcome = _outcome(case)
        known = worst.get(test := _test(case))
        seconds = float(case.get("time", 0)) + (known.seconds if known else 0)
        outcome = "failed" if "failed" in {outcome, known and known.outcome} else outcome
        worst[test] = Result(test, outcome, seconds)
    return list(worst.values())


def _junit(path: Path) -> ET.ElementTree[ET.Element]:
    return ET.parse(path)  # noqa: S314 - pytest wrote it in this run


def _test(case: ET.Element) -> str:
    """Node id, which `tests/conftest.py` adds to each test; the report of a crashed process has none."""
    named = case.find("properties/property[@name='nodeid']")
    return f"{case.get('classname')}::{case.get('name')}" if named is None else named.get("value", "")


def _outcome(case: ET.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def may_be_tried_again(failed: Sequence[str]) -> bool:
    """Return True if there are few failures, and only of tests in the folders `RETRIED`."""
    return 0 < len(failed) <= MOST_RETRIED and all(test.startswith(RETRIED) for test in failed)


def mark_flaky(junit: Path, passed: Iterable[str]) -> None:
    """Turn the failures of these tests in a JUnit file into passes with the property `flaky`."""
    tree = _junit(junit)
    again = set(passed)
    for case in tree.iter("testcase"):
        if _test(case) in again and _outcome(case) == "failed":
            for verdict in [*case.findall("failure"), *case.findall("error")]:
                case.remove(verdict)
            properties = case.find("properties")
            if properties is not None:
                ET.SubElement(properties, "property", name="flaky", value="passed on the second try")
    tree.write(junit, encoding="utf-8", xml_declaration=True)


def folder_of(test: str) -> str:
    """Row of a test in the table of budgets: the test's folder, at most two levels below `tests`."""
    return "/".join(test.partition("::")[0].split("/")[:-1][:3])


def budgets(contributing: Path) -> dict[str, int]:
    """Seconds by folder, from the table of suites in CONTRIBUTING.md: first and last cell of its rows."""
    text = contributing.read_text(encoding="utf-8") if contributing.exists() else ""
    rows = re.findall(r"^\| `(tests/[\w/]+)/` \|.*\| (\d+) \|$", text, re.MULTILINE)
    return {folder: int(seconds) for folder, seconds in rows}


def ledger(found: Iterable[Result], limits: Mapping[str, int]) -> Iterator[str]:
    """Lines with the seconds that the tests of each folder took, in all processes together, and the budget."""
    spent: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for result in found:
        folder = folder_of(result.test)
        while folder not in limits and "/" in folder:
            folder = folder.rpartition("/")[0]
        spent[folder] += result.seconds  # type: ignore[assignment]  # Counter takes any number
        count[folder] += 1
    for folder, seconds in spent.most_common():
        limit = limits.get(folder)
        note = "no budget" if limit is None else f"budget {limit} s" + (", OVER" if seconds > limit else "")
        yield f"{folder:<28}{count[folder]:>6} tests {seconds:>7.0f} s   {note}"


def run_set(name: str, root: Path = ROOT, *, today: dt.date | None = None) -> int:
    """Run the tests of a set with a second try; the exit status is pytest's, or 1 for a refusal of the gate."""
    today = today or dt.datetime.now(tz=dt.UTC).date()
    try:
        listed = {entry.test for entry in flaky_tests(root / "tests" / "flaky.toml", today)}
    except GateError as error:
        print(f"gate: {error}", flush=True)
        return 1
    junit = root / "junit.xml"
    junit.unlink(missing_ok=True)
    processes = min(2, os.cpu_count() or 1)
    in_parallel = ["--numprocesses", str(processes), "--dist", "loadfile", "--no-loadscope-reorder"]
    status = _pytest(
        root, "-m", _SETS[name], f"--hypothesis-profile={name}", *(in_parallel if processes > 1 else []), junit=junit
    )
    if not junit.exists():
        return status or 1
    test_results = results(junit)
    failed = [result.test for result in test_results if result.outcome == "failed"]
    flaky: list[str] = []
    if status == 1 and may_be_tried_again(failed):
        print(f"\nSecond try, alone: {len(failed)} failed", flush=True)
        second = junit.with_name("junit-second.xml")
        status = _pytest(root, "-m", _SETS[name], f"--hypothesis-profile={name}", *failed, junit=second)
        if second.exists():
            flaky = [result.test for result in results(second) if result.outcome == "passed"]
            mark_flaky(junit, flaky)
            second.unlink()
    print("\nSeconds by folder, all processes together:")
    for line in ledger(test_results, budgets(root / "CONTRIBUTING.md")):
        print(f"  {line}")
    for test in flaky:
        print(f"FLAKY: {test}")
        if test not in listed:
            print("  Passed on its second try. List it in tests/flaky.toml before the next change:")
            print(_entry(test, today))
    still = [test for test in failed if test not in flaky]
    skipped = sum(result.outcome == "skipped" for result in test_results)
    print(f"{len(test_results) - len(still) - skipped} passed, {len(still)} failed, {skipped} skipped", flush=True)
    return status


def _entry(test: str, today: dt.date) -> str:
    lines = [
        "[[flaky]]",
        f'test = "{test}"',
        'cause = "…"',
        f"since = {today}",
        f"review_by = {today + LONGEST_REVIEW}",
    ]
    return "\n".join(f"    {line}" for line in lines)


def _pytest(root: Path, *arguments: str, junit: Path) -> int:
    command = [sys.executable, "-m", "pytest", *arguments, f"--junitxml={junit}"]
    # Tests start hundreds of Python processes, and without bytecode each compiles all modules: one to two seconds more.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, cwd=root, env=environment, check=False).returncode


def stress(paths: Sequence[str]) -> int:
    """Run the tests of these paths 20 times in one process, with all processors busy, to find flaky new tests."""
    with busy_processors(os.cpu_count() or 1):
        command = [sys.executable, "-m", "pytest", "-m", "not study", "--times", str(TIMES_UNDER_STRESS), *paths]
        return subprocess.run(command, cwd=ROOT, check=False).returncode


@contextmanager
def busy_processors(count: int) -> Iterator[list[multiprocessing.Process]]:
    """Keep processors busy during the block, each by a process that computes."""
    busy = [multiprocessing.Process(target=_compute, daemon=True) for _ in range(count)]
    for process in busy:
        process.start()
    try:
        yield busy
    finally:
        for process in busy:
            process.kill()
            process.join()


def _compute() -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        sum(range(1_000_000))


def _checks(root: Path) -> int:
    """Lint, format, types: the first that fails ends the run."""
    for command in (["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]):
        tool = shutil.which(command[0]) or command[0]
        if status := subprocess.run([tool, *command[1:]], cwd=root, check=False).returncode:
            return status
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments, run, and return the exit status."""
    parser = argparse.ArgumentParser(prog="bin/test", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--nightly", action="store_true", help="every test but the studies")
    parser.add_argument(
        "--stress", nargs="+", metavar="PATH", help="run the tests of these paths 20 times with all processors busy"
    )
    given = parser.parse_args(arguments)
    if given.stress:
        return stress(given.stress)
    return _checks(ROOT) or run_set("nightly" if given.nightly else "gate")


if __name__ == "__main__":
    sys.exit(main())
