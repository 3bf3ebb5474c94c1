"""Capture's folders: a storage technology is in one place, and plans are read without a JVM.

That its packages are in no cycle is held in `test_packages_import_one_way.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import headwater_producers.spark.connectors as all_connectors
from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.registry import REGISTRY

ROOT = Path(__file__).parents[3] / "producers"
SPARK = ROOT / "headwater_producers" / "spark"
CONNECTORS = SPARK / "connectors"
PREFIX = "headwater_producers.spark."

PY4J = {"_jvm", "_jsparkSession", "_jdf", "_jsc", "_gateway", "py4j", "java_exception"}
MAY_NOT_IMPORT = {
    # folder: folders of `spark/` that it may not import
    "plan": {"jvm", "connectors", "execution", "streaming", "backfill", "driver", "events"},
    "jvm": {"connectors", "execution", "streaming", "backfill", "driver", "events"},
    "connectors": {"execution", "streaming", "backfill", "driver"},
}


def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), filename=str(file))


def place(connector: Connector) -> Path:
    """The file that a connector is in, or its folder where it has one of its own."""
    path = ROOT.joinpath(*type(connector).__module__.split(".")).with_suffix(".py")
    return path if path.parent == CONNECTORS else path.parent


def literals(file: Path) -> Iterator[tuple[int, str]]:
    """The strings of a file that are no docstrings."""
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def imported(folder: Path) -> Iterator[tuple[Path, int, str]]:
    """Every module of capture that a folder's modules import: at the top, in functions, for type checking."""
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(parsed(file)):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module is not None:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (
                (file, getattr(node, "lineno", 0), name.removeprefix(PREFIX))
                for name in names
                if name.startswith(PREFIX)
            )


@pytest.mark.parametrize("connector", list(REGISTRY), ids=lambda connector: type(connector).__name__)
def test_a_class_name_stands_with_the_connector_that_declares_it(connector: Connector) -> None:
    own, others = place(connector), {name for each in REGISTRY if each is not connector for name in each.classes}
    names = connector.classes - others
    found = [
        f"{file.relative_to(ROOT)}:{line} names {text}"
        for file in sorted(SPARK.rglob("*.py"))
        if file != own and own not in file.parents
        for line, text in literals(file)
        if text in names
    ]
    assert not found, f"{type(connector).__name__} declares these classes: {own.relative_to(ROOT)} alone may know them"


def test_every_connector_is_registered_once() -> None:
    registered = [type(each) for each in REGISTRY]
    assert len(registered) == len(set(registered)) > 5, all_connectors.__doc__
    files = {place(each) for each in REGISTRY}
    shared = {"__init__", "answer", "connector", "context", "question", "registry"}
    there = {path for path in CONNECTORS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    there |= {path for path in CONNECTORS.glob("*.py") if path.stem not in shared}
    assert files == there


def used(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Import):
        yield from (alias.name.partition(".")[0] for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield (node.module or "").partition(".")[0]


def test_plans_are_read_without_a_jvm() -> None:
    found = [
        f"{file.relative_to(ROOT)} uses {name}"
        for file in sorted((SPARK / "plan").rglob("*.py"))
        for node in ast.walk(parsed(file))
        for name in used(node)
        if name in PY4J
    ]
    assert not found


@pytest.mark.parametrize("folder", MAY_NOT_IMPORT)
def test_a_folder_imports_nothing_above_it(folder: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for file, line, name in imported(SPARK / folder)
        if name.partition(".")[0] in MAY_NOT_IMPORT[folder]
    ]
    assert not found
