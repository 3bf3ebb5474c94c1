"""Line coverage of a script, and of the modules that it imports from its own folders."""

from __future__ import annotations

import ast
import io
import os
import sys
import sysconfig
import threading
import tokenize
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

_MOST: Final = 20_000
_NOT_OF_THE_SCRIPT: Final = frozenset({"site-packages", "dist-packages", "headwater_producers"})
# Methods that change a Python collection in place.
_CHANGES: Final = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "setdefault", "sort", "update"}
)
_UNIMPORTANT: Final = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


class LineTracer:
    """Tracer of a script's lines while it runs.

    Args:
        folders: folders whose modules are traced, too, besides the script's folder.
    """

    def __init__(self, script: str, folders: Sequence[str]) -> None:
        path = Path(script).absolute()
        own = [str(path.resolve().parent), *(str(Path(each).resolve()) for each in folders if each)]
        self._folders = tuple(f"{each.rstrip(os.sep)}{os.sep}" for each in own)
        self._ours: dict[str, bool] = {}
        self._run: set[tuple[str, int]] = set()
        self._codes: set[CodeType] = set()

    def start(self) -> None:
        """Start tracing."""
        threading.settrace(self._called)
        sys.settrace(self._called)

    def stop(self) -> None:
        """Stop tracing."""
        sys.settrace(None)
        threading.settrace(None)

    def unrun(self, left_out: Collection[CodeType] = ()) -> list[dict[str, Any]]:
        """List the lines that haven't run, of all files that have begun to run.

        Each line has `file`, `line`, `text` (without comments and spacing), `begun` (whether its function was called),
        and `handler` (whether it handles or raises an exception).

        Args:
            left_out: code objects that Spark would call with rows: they never run, and their code is compared instead.
        """
        found: list[dict[str, Any]] = []
        for code in sorted(self._codes, key=lambda each: each.co_filename):
            if code.co_name == "<module>":
                found += self._of_file(code, left_out)
        return found[:_MOST]

    def is_ours(self, file: str) -> bool:
        """Return True if a file's lines are traced."""
        known = self._ours.get(file)
        if known is None:
            known = self._ours[file] = self._is_ours(file)
        return known

    def statements(self) -> list[dict[str, Any]]:
        """List statements of the files that have begun to run.

        These are definitions, imports, assignments, `if` and loops (only their condition or iterable), calls that
        change a collection in place, and expressions with `._jvm`. Each has its normalized `text`, the names whose
        values it sets or decides (`sets`), and the names on which these values depend (`uses`).
        """
        files = sorted({code.co_filename for code in self._codes if code.co_name == "<module>"})
        return [each for file in files for each in _statements(file)][:_MOST]

    def _called(self, frame: FrameType, _event: str, _given: Any) -> Any:
        code = frame.f_code
        if not self.is_ours(code.co_filename):
            return None
        self._codes.add(code)
        return self._line

    def _line(self, frame: FrameType, event: str, _given: Any) -> Any:
        if event == "line":
            self._run.add((frame.f_code.co_filename, frame.f_lineno))
        return self._line

    def _is_ours(self, file: str) -> bool:
        path = os.path.realpath(file)
        if path.startswith(sysconfig.get_paths()["stdlib"]) or not _NOT_OF_THE_SCRIPT.isdisjoint(Path(path).parts):
            return False
        return path.startswith(self._folders)

    def _of_file(self, module: CodeType, left_out: Collection[CodeType]) -> Iterator[dict[str, Any]]:
        try:
            source = Path(module.co_filename).read_text(encoding="utf-8")
            texts, handlers = _texts(source), _handlers(source)
        except (OSError, ValueError, SyntaxError, tokenize.TokenError):
            return
        name = Path(module.co_filename).name
        begun: dict[int, bool] = {}
        for code in _within(module, left_out):
            for line in {line for *_, line in code.co_lines() if line}:
                begun[line] = begun.get(line, False) or code in self._codes
        for line in sorted(begun):
            if (module.co_filename, line) not in self._run and texts.get(line):
                yield {
                    "file": name,
                    "line": line,
                    "text": texts[line],
                    "begun": begun[line],
                    "handler": line in handlers,
                }


def _within(code: CodeType, left_out: Collection[CodeType]) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType) and each not in left_out:
            yield from _within(each, left_out)


def _texts(source: str) -> dict[int, str]:
    found: dict[int, list[str]] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _UNIMPORTANT and token.string:
            found.setdefault(token.start[0], []).append(token.string)
    return {line: " ".join(texts) for line, texts in found.items()}


def _handlers(source: str) -> set[int]:
    return {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.ExceptHandler, ast.Raise))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _statements(file: str) -> Iterator[dict[str, Any]]:
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return
    for node in ast.walk(tree):
        part: ast.AST = node
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                sets: tuple[str, ...] = (node.name,)
            case ast.If(test=head) | ast.While(test=head) | ast.For(iter=head) | ast.AsyncFor(iter=head):
                part, sets = head, _names(node, ast.Store)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Import() | ast.ImportFrom():
                sets = _names(node, ast.Store)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method))) if (
                method in _CHANGES
            ):
                sets = (name,)
            case ast.Expr() if "._jvm" in ast.unparse(node):
                sets = ()
            case _:
                continue
        yield {"text": ast.unparse(part), "sets": sets, "uses": _names(part, ast.Load)}


def _names(node: ast.AST, context: type[ast.expr_context]) -> tuple[str, ...]:
    found = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, context)}
    found |= {each.asname or each.name for each in ast.walk(node) if isinstance(each, ast.alias)}
    return tuple(sorted(found))
