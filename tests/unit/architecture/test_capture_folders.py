"""Capture's folders: a storage technology is in one place, and plans are read without a JVM.

Which folder may import which is in `test_capture_imports.py`; packages are in no cycle by
`test_packages_import_one_way.py`.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import headwater_producers.spark.connectors as all_connectors
from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.registry import REGISTRY

ROOT = Path(__file__).parents[3] / "producers"
SPARK = ROOT / "headwater_producers" / "spark"
CONNECTORS = SPARK / "connectors"

PY4J = {"_jvm", "_jsparkSession", "_jdf", "_jsc", "_gateway", "py4j", "java_exception"}


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


def test_a_class_name_stands_with_the_connector_that_declares_it() -> None:
    declared_by = Counter(name for connector in REGISTRY for name in connector.classes)
    owner = {name: place(connector) for connector in REGISTRY for name in connector.classes if declared_by[name] == 1}
    faults = [
        f"{file.relative_to(ROOT)}:{line}: names {text}, which only {own.relative_to(ROOT)} may know"
        for file in sorted(SPARK.rglob("*.py"))
        for line, text in literals(file)
        if (own := owner.get(text)) and own not in (file, *file.parents)
    ]
    assert not faults, "\n".join(faults)


def test_every_connector_is_registered_once() -> None:
    registered = [type(each) for each in REGISTRY]
    assert len(registered) == len(set(registered)) > 5, all_connectors.__doc__
    files = {place(each) for each in REGISTRY}
    shared = {"__init__", "connector_answers", "connector", "context", "connector_questions", "registry"}
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
    faults = [
        f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: uses {name}"
        for file in sorted((SPARK / "plan").rglob("*.py"))
        for node in ast.walk(parsed(file))
        for name in used(node)
        if name in PY4J
    ]
    assert not faults, "\n".join(faults)
