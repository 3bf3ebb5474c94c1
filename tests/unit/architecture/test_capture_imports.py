"""Capture's folders: which may import which, imports for type checking and within functions counted."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3] / "producers"
SPARK = "headwater_producers.spark"

# Which of connectors and streaming is above the other is for their own tests; neither is in a cycle.
MAY_NOT_IMPORT = {
    "streaming": {"backfill", "driver", "running"},
    "events": {"streaming", "backfill", "driver", "running", "connectors", "execution", "jvm"},
    "common": {"events", "plan", "streaming", "backfill", "driver", "running", "connectors", "execution", "jvm"},
    "backfill": {"driver", "running", "execution"},
    "driver": {"running"},
}


@cache
def modules() -> dict[str, Path]:
    """The modules of the producers by full name; a package is its `__init__`."""
    found = {}
    for file in sorted((ROOT / "headwater_producers").rglob("*.py")):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = file
    return found


@cache
def imported(module: str) -> frozenset[str]:
    """The modules that a module imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(modules()[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {name if name in modules() else node.module for name in names}
    return frozenset(found & modules().keys()) - {module}


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of nodes each of which is reached from all others of its group."""
    reached: dict[str, set[str]] = {}
    for node in graph:
        seen: set[str] = set()
        todo = [node]
        while todo:
            for following in graph[todo.pop()]:
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
        reached[node] = seen
    groups = {tuple(sorted(other for other in reached[node] if node in reached[other])) for node in graph}
    return sorted(list(group) for group in groups if group)


def folder(module: str) -> str:
    """The part of the producers that a module is in: a folder of capture, or a package beside it."""
    parts = module.split(".")
    return ".".join(parts[:3] if module.startswith(f"{SPARK}.") else parts[:2])


def test_no_modules_import_each_other() -> None:
    assert cycles({module: set(imported(module)) for module in modules()}) == []


def test_no_folders_import_each_other() -> None:
    graph: dict[str, set[str]] = {folder(module): set() for module in modules()}
    for module in modules():
        graph[folder(module)] |= {folder(other) for other in imported(module)} - {folder(module)}
    # Only what is above all of capture imports its facade.
    assert {name for name, others in graph.items() if SPARK in others} <= {f"{SPARK}.running"}
    assert cycles(graph) == []


@pytest.mark.parametrize("name", MAY_NOT_IMPORT)
def test_a_folder_imports_nothing_above_it(name: str) -> None:
    upwards = [
        f"{module} imports {other}"
        for module in modules()
        if folder(module) == f"{SPARK}.{name}"
        for other in imported(module)
        if folder(other).removeprefix(f"{SPARK}.") in MAY_NOT_IMPORT[name]
    ]
    assert upwards == []


def test_no_two_classes_have_one_name() -> None:
    found: dict[str, list[str]] = {}
    for module, file in modules().items():
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(module)
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


def test_cycles_are_seen() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"]]
    assert cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
