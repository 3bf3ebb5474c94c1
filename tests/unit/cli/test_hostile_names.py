"""Names that others chose are data everywhere: neither Rich's markup, nor codes for the terminal, nor another row.

Every function of `headwater.commands`, `headwater.incident` and `headwater.show` that makes something to print is given
an answer in which each string is hostile.
"""

from __future__ import annotations

import ast
import collections.abc
import dataclasses
import importlib
import inspect
import io
import itertools
import json
import pkgutil
import re
import sys
import types
import typing
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Group as Together
from rich.text import Text

import headwater.commands
import headwater.incident
import headwater.show
from headwater import cli
from headwater.cli import main
from headwater.commands import diff as show_diff
from headwater.commands import dlq as show_dlq
from headwater.commands import reconcile as show_reconciled
from headwater.commands import run
from headwater.commands import search as show_search
from headwater.console import console
from headwater.errors import InputError
from headwater.incident import figures, notifying, parts, planning, sending, views
from headwater.show import batches as show_batches
from headwater.show import job_review as show_job_review
from headwater.show import names as show_names
from headwater.show import pages as show_pages
from headwater.show import review as show_review
from headwater.show import runs as show_runs
from headwater.show import trace as show_trace
from headwater.show.diagram import Diagram, DiagramFormat, DiagramNode, drawn
from headwater.show.pages import FittedView
from headwater_analysis.trace import Trace
from headwater_consumers.materializer.dead_letters.inspection import Census, LetterGroup
from headwater_schemas.visible import is_visible, json_escaped, visible, visible_lines

HOSTILE = "[/b]\x1b\a\u202e:x:\nforged"
SHOWN = r"[/b]\x1b\x07\u202e:x:\nforged"
TIME = datetime(2025, 1, 31, 12, tzinfo=UTC)


# Parts of SARIF, whose whole is JSON; what a job is run with; what others make visible.
NOT_PRINTED: set[Any] = {show_review.uri, show_review.without_links, run.jars_added, run.text}
NOT_PRINTED |= {parts.part_fault}
PRINTED = {"FittedView", "RenderableType", "Table", "Text", "Tree", "str"}


def renderers() -> list[Any]:
    """Public functions of the packages' modules that return what is printed."""
    found = []
    modules = [
        *pkgutil.walk_packages(headwater.show.__path__, "headwater.show."),
        *pkgutil.walk_packages(headwater.commands.__path__, "headwater.commands."),
        *pkgutil.walk_packages(headwater.incident.__path__, "headwater.incident."),
    ]
    for module in modules:
        loaded = importlib.import_module(module.name)
        for name, function in inspect.getmembers(loaded, inspect.isfunction):
            returned = str(function.__annotations__.get("return"))
            if (
                function.__module__ == loaded.__name__
                and not name.startswith("_")
                and not returned.startswith(("dict", "list"))
                and (returned in PRINTED or ".show." in module.name)
                and function not in NOT_PRINTED
            ):
                found.append(function)
    assert MADE_BY_HAND.keys() | NAMELESS <= set(found)
    return found


def names_of(module: types.ModuleType) -> dict[str, Any]:
    """The module's names, those that it imports for types alone among them."""
    names = dict(vars(module))
    for node in ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), str(module.__file__), "exec"), names)
    return names


SIMPLE: dict[Any, Any] = {str: HOSTILE, bool: True, int: 1, float: 1.5, bytes: HOSTILE.encode(), datetime: TIME}
DEEPEST = 12
# Fields and parameters that nobody outside fills.
OURS = {"next_cursor": "c", "color": "#000000", "what": "run", "plural": "runs"}


def hostile(kind: Any, depth: int = 0) -> Any:
    """A value of this type, in which every string is hostile and everything that may be there is."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        some = [each for each in arguments if each is not type(None)]
        return None if depth > DEEPEST and len(some) < len(arguments) else hostile(some[0], depth)
    if origin in (dict, collections.abc.Mapping):
        return {hostile(arguments[0], depth + 1): hostile(arguments[1], depth + 1)}
    if origin is not None:
        return tuple(hostile(each, depth + 1) for each in arguments if each is not Ellipsis) if depth < DEEPEST else ()
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    if not dataclasses.is_dataclass(kind) and not hasattr(kind, "__struct_fields__"):
        return SIMPLE.get(kind, HOSTILE)
    names: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        names |= names_of(sys.modules[each.__module__]) if each.__module__.startswith("headwater") else {}
    hints = typing.get_type_hints(kind, names)
    fields = {name: hint for name, hint in hints.items() if typing.get_origin(hint) is not typing.ClassVar}
    return kind(**{name: OURS.get(name) or hostile(hint, depth + 1) for name, hint in fields.items()})


def arguments_of(function: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(function, names_of(sys.modules[function.__module__]))
    return {name: OURS.get(name) or hostile(hint) for name, hint in hints.items() if name != "return"}


def census() -> Census:
    found = Census()
    found._groups[HOSTILE, HOSTILE] = dataclasses.replace(hostile(LetterGroup), sample="0@1")
    return found


def letter() -> dict[str, Any]:
    names = ("at", "source", "published", "job", "reason", "stage", "error", "message", "event_id", "attempt")
    value = {"bytes": 1, "starts": "00", "problem_now": HOSTILE, "fields": {HOSTILE: HOSTILE}}
    return dict.fromkeys(names, HOSTILE) | {"headers": {HOSTILE: HOSTILE}, "value": value, "left_out_bytes": 1}


def traced() -> Trace:
    found: Trace = arguments_of(show_trace.tree)["found"]
    return dataclasses.replace(found, hops=tuple(dataclasses.replace(hop, after=()) for hop in found.hops))


def checkpoint() -> dict[str, Any]:
    bounds = {"count": 1, "first": 0, "last": 0}
    gaps = [{"first": 0, "last": 0}]
    each = {"checkpoint": HOSTILE, "job": {"name": HOSTILE}, "batches": bounds, "not_emitted": [], "uncommitted": []}
    return each | {"gaps": gaps}


def reconciled_table() -> dict[str, Any]:
    run = {"run_id": HOSTILE, "job": {"name": HOSTILE}, "became": "COMPLETE", "version": HOSTILE, "reason": HOSTILE}
    return {"table": HOSTILE, "runs": [run]}


# What is no answer of typed fields.
MADE_BY_HAND: dict[Any, Any] = {
    show_dlq.census_view: lambda: {"found": census()},
    show_dlq.letter_view: lambda: {"document": letter()},
    show_trace.tree: lambda: {"found": traced()},
    show_pages.pairs: lambda: {"rows": [("name", visible(HOSTILE))]},
    show_pages.part: lambda: {"heading": "names", "view": visible(HOSTILE), "shown": 1, "total": 2},
    show_reconciled.table: lambda: {"documents": [checkpoint()]},
    show_reconciled.tables_view: lambda: {"documents": [reconciled_table()]},
    show_reconciled.gaps_text: lambda: {"gaps": [{"first": 0, "last": 0}]},
}
NAMELESS = {
    figures.figures_summary,
    figures.figures_table,
    figures.span_words,
    figures.taken_words,
    notifying.summary,
    planning.plan_summary,
    sending.send,
    views.action_words,
    views.changes_words,
    views.reach_summary,
    views.status_words,
    views.unknown_words,
    show_batches.faults_text,
    show_batches.part_text,
    show_batches.schema_text,
    show_batches.quality_text,
    show_diff.summary,
    show_job_review.summary,
    show_review.meaning,
    show_review.summary,
    show_search.summary,
    show_trace.blast_summary,
    show_trace.certainty_words,
    show_trace.summary,
    show_names.moment_text,
    show_names.span_text,
    show_pages.counted,
    show_pages.next_page,
    show_reconciled.gaps_text,
    show_runs.duration_text,
    show_runs.batches_text,
    show_runs.state_text,
}


# What Rich writes by itself: colours, and where the cursor goes.
STYLES = re.compile(r"\x1b\[[\d;?]*[A-Za-z]|\r")


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def check(printed: str, *, named: bool = True) -> None:
    """Hostile names stand there whole, as escapes, on the row that they belong to."""
    assert not {character for character in printed if not (is_visible(character) or character == "\n")}
    assert printed.count("[/b]") == printed.count(SHOWN.removesuffix(r"\nforged"))
    assert printed.count("forged") == printed.count(r"\nforged")
    assert SHOWN in printed or not named


def test_a_renderer(subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal, function in itertools.product([False, True], renderers()):
        name = f"{function.__module__}.{function.__name__}"
        with subtests.test(name, terminal=terminal), monkeypatch.context() as patched:
            check_renderer(function, patched, terminal=terminal)


def check_renderer(function: Any, patched: pytest.MonkeyPatch, *, terminal: bool) -> None:
    by_hand = MADE_BY_HAND.get(function)
    made = function(**(arguments_of(function) if by_hand is None else by_hand()))
    if isinstance(made, Diagram):
        for format_ in DiagramFormat:
            text = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), drawn(made, format_))
            check(text.replace("\\\\", "\\"))
        return
    if "diagram" in inspect.signature(function).parameters:
        made = function(**{**arguments_of(function), "diagram": Diagram({HOSTILE: DiagramNode(label=HOSTILE)}, ())})
        check(re.sub(r"#(\d+);", lambda found: chr(int(found[1])), made).replace("\\\\", "\\"))
        return
    out = Screen() if terminal else io.StringIO()
    patched.setattr(sys, "stdout", out)
    patched.setenv("COLUMNS", "9000")
    patched.setenv("TERM", "xterm")
    console.reset()
    console.result({}, FittedView(made))
    printed = STYLES.sub("", out.getvalue()).replace(r"\u001b\u0007", r"\x1b\x07")  # fields of a letter are JSON
    check(printed, named=function not in NAMELESS)


@pytest.mark.parametrize("terminal", [False, True])
def test_what_is_written_along_the_way(monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> None:
    err = Screen() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", err)
    monkeypatch.setenv("COLUMNS", "9000")
    monkeypatch.setenv("TERM", "xterm")
    console.reset()
    console.message(f"read {visible(HOSTILE)} [red]")
    console.warning(f"{visible(HOSTILE)} :smile:")
    console.error(InputError(f"no {visible(HOSTILE)}", fix=f"take [b] {visible(HOSTILE)}", nearest=[HOSTILE]))
    with console.status(f"Reading {visible(HOSTILE)}"), console.progress() as progress:
        progress.add_task(f"[red]{visible(HOSTILE)}", total=1)
    printed = STYLES.sub("", err.getvalue())
    check(printed)
    assert "[red]" in printed
    assert ":smile:" in printed


def test_names_nobody_made_visible_are_so_on_the_console(capsys: pytest.CaptureFixture[str]) -> None:
    console.reset()
    console.result({}, Together(Text("a\u202eb", "bold"), "c\x1b[2Jd"))
    console.message("e\x9bf")
    assert capsys.readouterr() == ("a\\u202eb\nc\\x1b[2Jd\n", "e\\x9bf\n")


def test_a_style_stays_with_its_characters() -> None:
    text = Text.assemble("a\u202e", ("b\x9b", "bold"), "c")
    segments = [(each.text, bool(each.style and each.style.bold)) for each in console.out.render(text)]
    assert segments[:3] == [(r"a\u202e", False), (r"b\x9b", True), ("c", False)]


def test_what_is_shown(subtests: pytest.Subtests) -> None:
    cases = [
        ("plain [red] :x: ümläut 例 عربي 🚀", "plain [red] :x: ümläut 例 عربي 🚀"),
        ("\x00\a\b\x1b\x7f", r"\x00\x07\x08\x1b\x7f"),
        ("\x80\x9b\x9f\xa0\xad", r"\x80\x9b\x9f\xa0\xad"),
        ("\u061c\u200b\u200d\u200e\u200f", r"\u061c\u200b\u200d\u200e\u200f"),
        ("\u2028\u2029\u202a\u202e\u2066\u2069", r"\u2028\u2029\u202a\u202e\u2066\u2069"),
        ("\ufeff\ufe0f\u3164\ud800\udc00", r"\ufeff\ufe0f\u3164\ud800\udc00"),
        ("\U000e0041\U000e0100", r"\U000e0041\U000e0100"),
        (r"C:\u202e", r"C:\u202e"),
    ]
    for text, shown in cases:
        with subtests.test(text=text):
            assert visible(text) == shown
            assert visible(shown) == shown
            assert visible(f"a\tb\r\n{text}") == rf"a\tb\r\n{shown}"
            assert visible_lines(f"a\tb\r\n{text}") == f"a\tb\\r\n{shown}"


@given(st.text(st.characters(exclude_categories=())))
def test_a_document_stays_equal(text: str) -> None:
    written = json_escaped(json.dumps({text: [text]}, ensure_ascii=False, indent=2))
    assert json.loads(written) == {text: [text]}
    assert all(is_visible(character) or character == "\n" for character in written)
    written.encode()


def test_a_document_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    console.reset(json_mode=True)
    console.result({"name": "a\x9b\u202e\ud800ü"})
    printed = capsys.readouterr().out
    console.reset()
    assert r"a\u009b\u202e\ud800ü" in printed


def test_a_usage_error(subtests: pytest.Subtests, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [
        ["\x1b[2J\u202e"],
        ["events", "--kind", "\x1b[2J\u202e"],
        ["events", "--\x1b[2J\u202e"],
        ["dlq", "\x1b[2J\u202e"],
        ["dlq", "list", "--reason", "\x1b[2J\u202e"],
    ]
    for words in cases:
        with subtests.test(words=words):
            assert main(words) == 2
            shown = capsys.readouterr().err
            assert "\x1b" not in shown
            assert "\u202e" not in shown
            # The panel of an error may break it.
            assert r"\x1b[2J\u202e" in re.sub(r"[\s│]", "", shown)


def test_the_traceback_of_an_unexpected_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_arguments: object) -> None:
        raise RuntimeError("\x1b]0;title\a\u202e of neo4j://neo4j:hunter2@graph:7687, password=hunter2")

    monkeypatch.setattr(cli, "build", fails)
    assert main(["events"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback (most recent call last):\n")
    assert r"RuntimeError: \x1b]0;title\x07\u202e of neo4j://[redacted]@graph:7687, password=[redacted]" in shown
    assert "hunter2" not in shown
    assert "\x1b" not in shown
