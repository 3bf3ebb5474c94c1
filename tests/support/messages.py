"""Every message that an operator may read, collected from the sources: log lines from warning up, and texts of errors.

A message stands here as it is in the code, with `{name}` where a value is filled in. Collected by syntax alone: what is
put together elsewhere and only passed on appears where its text is written.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "schemas": ROOT / "schemas" / "headwater_schemas",
    "openlineage": ROOT / "openlineage" / "headwater_openlineage",
    "graph": ROOT / "graph" / "headwater_graph",
    "analysis": ROOT / "analysis" / "headwater_analysis",
    "producers": ROOT / "producers" / "headwater_producers",
    "consumers": ROOT / "consumers" / "headwater_consumers",
    "review": ROOT / "review" / "headwater_review",
    "dry run": ROOT / "review" / "headwater_dry_run",
    "audit": ROOT / "audit" / "headwater_audit",
    "server": ROOT / "server" / "headwater_server",
    "cli": ROOT / "cli" / "headwater",
}
_LEVELS = ("warning", "error", "exception", "critical")
# Functions of ours that log a text as it is, or keep it for a log line or an error: name ⇒ how it is read.
_PASSED_ON = {
    "warn": "warning",
    "_warn": "warning",
    "warn_once": "warning",
    "_log_once": "warning",
    "trouble": "warning",
    "note": "warning",
    "_note": "warning",
    "Violation": "contract violation",
}
# Calls whose first argument is where the text applies.
_AFTER_A_PATH = {"Violation"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_PLACEHOLDER = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[sdrfgx]")
_LETTERS = re.compile(r"[A-Za-z]{2}.* ")


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """A text with the log level, or the error's class, that it is reported as.

    Attributes:
        component: package and the folder in it, as in `consumers/materializer`.
        text: with `{name}` for each value that is filled in.
        reported_as: `warning`, `error`, … or a class name.
    """

    component: str
    text: str
    reported_as: str


@dataclass(slots=True)
class _Sources:
    """The modules of all packages, and the names of the error classes defined in them."""

    trees: dict[Path, ast.Module] = field(default_factory=dict)
    errors: set[str] = field(default_factory=set)


def messages() -> list[Message]:
    """All of them, in order of component and text; the same text of the same sort in one component is there once."""
    sources = _read()
    found: set[Message] = set()
    for package, folder in PACKAGES.items():
        for path, tree in sources.trees.items():
            if path.is_relative_to(folder):
                parts = path.relative_to(folder).parts
                component = f"{package}/{parts[0]}" if len(parts) > 1 else package
                found |= _of_module(tree, component, sources.errors)
    return sorted(found)


def page(found: list[Message]) -> str:
    """The messages as Markdown: a heading for each component, a block of lines under it, `[reported as] text`."""
    lines: list[str] = []
    component = None
    for message in found:
        if message.component != component:
            lines += [*(["```", ""] if component else []), f"## {message.component}", "", "```none"]
            component = message.component
        lines.append(f"[{message.reported_as}] {' ⏎ '.join(message.text.splitlines())}")
    return "\n".join([*lines, "```"]) + "\n"


def _read() -> _Sources:
    sources = _Sources()
    bases: dict[str, set[str]] = {}
    for folder in PACKAGES.values():
        for path in sorted(folder.rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            sources.trees[path] = tree
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    bases.setdefault(node.name, set()).update(_last_name(base) for base in node.bases)
    sources.errors = {"Exception", "ValueError"}
    while grown := {name for name, of in bases.items() if of & sources.errors} - sources.errors:
        sources.errors |= grown
    sources.errors -= {"Exception", "ValueError"}
    return sources


def _of_module(tree: ast.Module, component: str, errors: set[str]) -> set[Message]:
    found: set[Message] = set()
    scopes: list[ast.AST] = [tree]
    while scopes:
        nodes = _own_nodes(scopes.pop())
        scopes += [node for node in nodes if isinstance(node, _FUNCTIONS)]
        calls = [(node, reported) for node in nodes if isinstance(node, ast.Call) and (reported := _as(node, errors))]
        if not calls:
            continue
        texts = _assigned_texts(nodes)
        for call, reported in calls:
            text = _text_of(call, texts)
            if text is not None and _LETTERS.search(re.sub(r"\{[^}]*\}", "", text)):
                found.add(Message(component, text, reported))
    return found


def _own_nodes(scope: ast.AST) -> list[ast.AST]:
    """The nodes of a function or module; of a function inside it the node itself alone."""
    nodes: list[ast.AST] = []
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if not isinstance(node, _FUNCTIONS):
            waiting += ast.iter_child_nodes(node)
    return nodes


def _assigned_texts(nodes: list[ast.AST]) -> dict[str, ast.expr]:
    """Names that are given one text among these nodes."""
    values: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, []).append(node.value)
    return {
        name: given[0]
        for name, given in values.items()
        if len(given) == 1 and (isinstance(given[0], ast.JoinedStr) or _rendered(given[0], {}) is not None)
    }


def _as(call: ast.Call, errors: set[str]) -> str | None:
    name = _last_name(call.func)
    if name in errors:
        return name
    if isinstance(call.func, ast.Attribute) and name in _LEVELS:
        owner = _last_name(call.func.value).lower()
        return name if "log" in owner or owner == "console" else None
    return _PASSED_ON.get(name)


def _text_of(call: ast.Call, texts: dict[str, ast.expr]) -> str | None:
    """The first argument that is a text, with the arguments after it in the places of `%s`."""
    skipped = 1 if _last_name(call.func) in _AFTER_A_PATH else 0
    for place, argument in enumerate(call.args[skipped:], start=skipped):
        text = _rendered(argument, texts)
        if text is None:
            continue
        values = [f"{{{_short(value)}}}" for value in call.args[place + 1 :]]
        for value in values:
            text = _PLACEHOLDER.sub(value, text, count=1)
        fix = next((keyword.value for keyword in call.keywords if keyword.arg == "fix"), None)
        advice = None if fix is None else _rendered(fix, texts)
        return f"{text} → {advice}" if advice else text
    return None


def _rendered(node: ast.expr, texts: dict[str, ast.expr]) -> str | None:
    """A text as it is written; None of anything else."""
    if isinstance(node, ast.Name) and node.id in texts:
        return _rendered(texts[node.id], {})
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_part(part, texts) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _rendered(node.left, texts), _rendered(node.right, texts)
        if left is None and right is None:
            return None
        return (left or f"{{{_short(node.left)}}}") + (right or f"{{{_short(node.right)}}}")
    if isinstance(node, ast.IfExp):
        either = [text for text in (_rendered(node.body, texts), _rendered(node.orelse, texts)) if text]
        return " / ".join(either) or None
    return None


def _part(part: ast.expr, texts: dict[str, ast.expr]) -> str:
    """A piece of an f-string: text as it is, a name of a text as that text, any other value as its short name."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    value = part.value if isinstance(part, ast.FormattedValue) else part
    if isinstance(value, ast.Name) and value.id in texts:
        return _rendered(texts[value.id], {}) or ""
    return f"{{{_short(value)}}}"


def _short(node: ast.AST) -> str:
    """A short name for a value: the last identifier of its expression."""
    if isinstance(node, ast.FormattedValue):
        return _short(node.value)
    if isinstance(node, ast.Call):
        name = _last_name(node.func)
        if node.args and name in {"len", "str", "repr", "sum", "type", "int", "round"}:
            return _short(node.args[0])
        return name or "…"
    if isinstance(node, ast.Subscript | ast.Starred):
        return _short(node.value)
    if isinstance(node, ast.Attribute) and node.attr == "__name__":
        return _short(node.value)
    if isinstance(node, ast.Constant) or not _last_name(node):
        return "…"
    return _last_name(node) or "…"


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr.removeprefix("_") if node.attr not in _PASSED_ON else node.attr
    return node.id if isinstance(node, ast.Name) else ""
