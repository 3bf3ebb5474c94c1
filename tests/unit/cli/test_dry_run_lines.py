"""Lines of a script that have run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater_dry_run.line_coverage import LineTracer

if TYPE_CHECKING:
    import pytest

SCRIPT = """\
import helper
def called(n):
    if n > 1:
        return 'more'  # a comment
    return (
        n
    )
def uncalled():
    return 3
called(1)
try:
    x = [helper.f(each) for each in ()]
except ValueError as error:
    print(error)
for each in ():
    called(
        each)
if x:
    raise ValueError(
        'x')
"""


def followed(folder: Path, script: str, **modules: str) -> LineTracer:
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    path = folder / "job.py"
    path.write_text(script, encoding="utf-8")
    lines = LineTracer(str(path), [])
    code = compile(script, str(path), "exec")
    before = sys.gettrace()
    lines.start()
    try:
        exec(code, {"__name__": "__main__"})
    finally:
        lines.stop()
        sys.settrace(before)
    return lines


def unrun(folder: Path, script: str, **modules: str) -> list[dict[str, Any]]:
    return followed(folder, script, **modules).unrun()


def test_lines_that_havent_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    found = unrun(tmp_path, SCRIPT, helper="def f(x):\n    return x\n")
    sys.modules.pop("helper")
    assert [(each["file"], each["line"], each["text"]) for each in found] == [
        ("helper.py", 2, "return x"),
        ("job.py", 4, "return 'more'"),
        ("job.py", 9, "return 3"),
        ("job.py", 13, "except ValueError as error :"),
        ("job.py", 14, "print ( error )"),
        ("job.py", 16, "called ("),
        ("job.py", 17, "each )"),
        ("job.py", 19, "raise ValueError ("),
        ("job.py", 20, "'x' )"),
    ]
    assert [each["line"] for each in found if not each["begun"]] == [2, 9]
    assert [each["line"] for each in found if each["handler"]] == [13, 14, 19, 20]


def test_all_have_run(tmp_path: Path) -> None:
    assert unrun(tmp_path, "x = 1\nif x:\n    y = lambda: x\n    y()\nelse:\n    z = 1\n")[0]["line"] == 6
    assert unrun(tmp_path, "x = 1\nif x:\n    y = 2\n") == []


def test_libraries_are_none_of_it(tmp_path: Path) -> None:
    installed = tmp_path / "site-packages"
    installed.mkdir()
    lines = LineTracer(str(tmp_path / "job.py"), [])
    assert lines.is_ours(str(tmp_path / "inner" / "job.py"))
    assert not lines.is_ours(str(installed / "x.py"))
    assert not lines.is_ours("/elsewhere/x.py")
    at_the_top = LineTracer("/job.py", [])
    assert at_the_top.is_ours("/lib.py")
    assert not at_the_top.is_ours(json.__file__)


def test_statements_and_what_they_decide(tmp_path: Path) -> None:
    script = "from json import dumps as d\nx = 1  # a comment\nif x:\n    y = x\ndef f(a):\n    return a + x\n"
    script += "z: int = f(y)\nfor each in (z,):\n    x += each\nl = []\nl.append(z)\nprint(l)\n"
    found = [(each["text"], each["sets"], each["uses"]) for each in followed(tmp_path, script).statements()]
    assert sorted(found) == sorted(
        [
            ("from json import dumps as d", ("d",), ("d",)),
            ("x = 1", ("x",), ()),
            ("x", ("y",), ("x",)),
            ("y = x", ("y",), ("x",)),
            ("def f(a):\n    return a + x", ("f",), ("a", "x")),
            ("z: int = f(y)", ("z",), ("f", "int", "y")),
            ("(z,)", ("each", "x"), ("z",)),
            ("x += each", ("x",), ("each",)),
            ("l = []", ("l",), ()),
            ("l.append(z)", ("l",), ("l", "z")),
        ]
    )
