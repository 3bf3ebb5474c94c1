"""One session of pytest tries many mutants; those that an import must be part of, it leaves to others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mutated_session import changed_functions
from mutation import ROOT

from support.waiting import patience

pytestmark = pytest.mark.nightly

SOURCE = """
LIMIT = 3
def limit(): return 4
FOUND = limit()
NEGATED = (lambda value: -value)
def twice(value, times=2):
    def inner(): return value * times
    return inner()
class Counter:
    START = 1
    def count(self):
        number = 0
        while number < LIMIT:
            number += 1
        return number
"""
TEST = """
from decides import FOUND, LIMIT, Counter, limit, twice
def test_twice(): assert twice(2) == 4
def test_count(): assert Counter().count() == 3
def test_limit(): assert limit() == FOUND
"""
PROGRAM = """
import sys
sys.path.insert(0, {scripts!r})
from pathlib import Path
from mutated_session import outcomes
path = Path("decides.py").absolute()
good = path.read_text()
changes = {changes!r}
for before, _ in changes:
    assert before in good, before
print(list(outcomes([(path, good.replace(*change)) for change in changes], ["-q", "-p", "no:cacheprovider", "."])))
"""


def changed(before: str, after: str) -> list[str] | None:
    """Names of the functions that a change is in."""
    assert before in SOURCE
    codes = [compile(text, "decides.py", "exec") for text in (SOURCE, SOURCE.replace(before, after))]
    found = changed_functions(*codes)
    return None if found is None else [new.co_qualname for _, new in found]


CHANGES: list[tuple[str, str, list[str] | None]] = [
    ("number += 1", "number += 2", ["Counter.count"]),
    ("value * times", "value + times", ["twice"]),
    ("return 4", "return 4.0", ["limit"]),
    ("return 4", "return 4", []),
    ("LIMIT = 3", "LIMIT = 4", None),
    ("LIMIT = 3", "LIMIT = 3.0", None),
    ("times=2", "times=3", None),
    ("START = 1", "START = 2", None),
    ("-value", "+value", None),
]


def test_what_a_change_is_in(subtests: pytest.Subtests) -> None:
    for before, after, expected in CHANGES:
        with subtests.test(before=before, after=after):
            assert changed(before, after) == expected


def tried(folder: Path, changes: list[tuple[str, str]], test: str = TEST) -> subprocess.CompletedProcess[str]:
    (folder / "decides.py").write_text(SOURCE)
    (folder / "test_it.py").write_text(test)
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    program = PROGRAM.format(scripts=str(ROOT / "scripts"), changes=changes)
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, timeout=patience(500), check=False, cwd=folder)


@pytest.mark.timeout(600)  # an endless loop costs five seconds of processor time
def test_each_mutant_is_tried_alone_or_left_to_others(tmp_path: Path) -> None:
    ran = tried(
        tmp_path,
        [
            ("value * times", "value - times"),
            ("value * times", "value + times"),
            ("number += 1", "number += 2"),
            ("number += 1", "pass"),
            ("return 4", "return 5"),
            ("LIMIT = 3", "LIMIT = 4"),
            ("value * times", "times * value"),
        ],
    )
    # 2 + 2 is 2 * 2. `limit` was called when the module was imported.
    expected = ["failed", "passed", "failed", "too long", "not tried", "not tried", "passed"]
    assert ran.stdout.strip() == str(expected), ran.stderr
    assert (tmp_path / "decides.py").read_text() == SOURCE


@pytest.mark.parametrize("test", ["def test_it(): assert False\n", "import nothing_of_this_name\n", ""])
def test_tests_that_fail_without_a_change_show_nothing(test: str, tmp_path: Path) -> None:
    assert "fail without a change" in tried(tmp_path, [("return 4", "return 5")], test).stderr
