"""Mutants: each is one change, of what decides something; and a process with one of them fails or passes."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from mutants import mutants
from mutation import AREAS, ROOT, module_name

from support.waiting import patience

pytestmark = pytest.mark.nightly

SOURCE = '''"""Docstring."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from x import y
NAMES: dict[str, int] = {"a": 1, "b": 2}
__all__ = ["decide"]
def decide(a: "int", b: int = 2) -> bool:
    """Docstring."""
    if a < b and not NAMES:
        raise ValueError(f"{a} is wrong")
    return a is None
'''


def changes(source: str) -> list[tuple[str, str]]:
    return [(mutant.before, mutant.after) for mutant in mutants(source)]


def test_each_is_one_change_that_can_be_compiled() -> None:
    found = mutants(SOURCE)
    assert len(found) == len({mutant.source for mutant in found})
    for mutant in found:
        ast.parse(mutant.source)
        assert mutant.source.count("\n") >= SOURCE.count("\n")


def test_what_decides_is_changed_and_what_describes_is_not() -> None:
    found = changes(SOURCE)
    assert ("a < b", "(a <= b)") in found
    assert ("a < b and not NAMES", "(a < b or not NAMES)") in found
    assert ("not NAMES", "(NAMES)") in found
    assert ('{"a": 1, "b": 2}', "({'a': 1})") in found
    assert ('raise ValueError(f"{a} is wrong")', "pass") in found
    assert ("return a is None", "return None") in found
    assert ("a is None", "(a is not None)") in found
    before = [one for one, _ in found]
    for untouched in ('"""Docstring."""', '"int"', 'f"{a} is wrong"', '"decide"', "TYPE_CHECKING"):
        assert untouched not in before


OPERATORS: list[tuple[str, str]] = [
    ("x = a + b", "(a - b)"),
    ("x = (1, y)", "((1,))"),
    ("x = [y for y in z if y]", "([y for y in z if not y])"),
    ("x = p if q else r", "(p if not q else r)"),
    ("x[0] = y", "pass"),
    ("x += y", "pass"),
    ("f(y)", "pass"),
    ("for y in z:\n    continue", "break"),
    ("x = b'a'", "(b'aXX')"),
    ("x = True", "(False)"),
    ("x = f'{y}a'", "(f'{y}aXX')"),
    ("x = 'é' == y", "('é' != y)"),
]


def test_operators(subtests: pytest.Subtests) -> None:
    for source, expected in OPERATORS:
        with subtests.test(source):
            assert expected in [after for _, after in changes(source)]


def test_every_area_is_there() -> None:
    for area in AREAS.values():
        assert [path for path in area.files if not path.is_file()] == []
        # Options may name a test: `--deselect=tests/…py::test_…`.
        paths = [name.rpartition("=")[2].partition("::")[0] for name in area.tests]
        assert [path for path in paths if not (ROOT / path).exists()] == []


def test_a_module_has_the_name_that_it_is_imported_by() -> None:
    assert module_name(ROOT / "schemas/headwater_schemas/identity.py") == "headwater_schemas.identity"
    assert module_name(ROOT / "graph/headwater_graph/facts/__init__.py") == "headwater_graph.facts"


PROGRAM = """
import sys
sys.path.insert(0, {scripts!r})
from pathlib import Path
from mutation import ROOT, preload, run_tests
preload()
path = ROOT / "schemas/headwater_schemas/identity.py"
good = path.read_text()
bad = good.replace("(time - _EPOCH)", "(_EPOCH - time)")
endless = good + "\\nwhile True: pass\\n"
print([run_tests(path, text, [{test!r}], seconds) for text, seconds in ((good, 60), (bad, 60), (endless, 3))])
"""


def test_a_mutant_takes_its_module_s_place_and_no_file_changes(tmp_path: Path) -> None:
    test = tmp_path / "test_it.py"
    test.write_text(
        "from datetime import datetime, UTC\n"
        "from headwater_schemas.identity import micros\n"
        "def test_it(): assert micros(datetime(1970, 1, 2, tzinfo=UTC)) == 86_400_000_000\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    module = ROOT / "schemas/headwater_schemas/identity.py"
    before = module.read_bytes()
    program = PROGRAM.format(scripts=str(ROOT / "scripts"), test=str(test))
    ran = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=patience(110),
        check=False,
        cwd=tmp_path,
    )
    assert ran.stdout.strip() == "['passed', 'failed', 'too long']", ran.stderr
    assert module.read_bytes() == before
