"""No package imports, through others, one that imports it: imports for type checking and within functions counted."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

# What is further down may import what is further up. Packages that aren't here only have to be in no cycle.
CONSUMERS_ORDER = ("facts", "graph", "materializer", "archive")


def children(package: Path) -> dict[str, list[Path]]:
    """The modules of a package and its subpackages, each with its files."""
    return {
        child.stem: sorted(child.rglob("*.py")) if child.is_dir() else [child]
        for child in sorted(package.iterdir())
        if (child.is_dir() and list(child.rglob("*.py"))) or (child.suffix == ".py" and child.stem != "__init__")
    }


def imported_modules(file: Path) -> set[str]:
    """Full names of all that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def imports_between_children(package: Path, name: str) -> dict[str, set[str]]:
    """Which children of a package import which others of them."""
    parts = children(package)
    out: dict[str, set[str]] = {}
    for child, files in parts.items():
        prefix = f"{name}."
        names = {one.removeprefix(prefix) for file in files for one in imported_modules(file) if one.startswith(prefix)}
        out[child] = ({one.partition(".")[0] for one in names} & parts.keys()) - {child}
    return out


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """One way from a node back to itself; empty where there is none."""
    done: set[str] = set()

    def search(node: str, way: list[str]) -> list[str]:
        if node in way:
            return [*way[way.index(node) :], node]
        if node in done:
            return []
        for following in sorted(graph[node]):
            if found := search(following, [*way, node]):
                return found
        done.add(node)
        return []

    return next((found for node in sorted(graph) if (found := search(node, []))), [])


@pytest.mark.parametrize(
    "package",
    [
        "headwater_consumers",
        "headwater_consumers.facts",
        "headwater_consumers.graph",
        "headwater_consumers.materializer.fold",
        "headwater_consumers.materializer.write",
        "headwater_consumers.archive",
        "headwater_consumers.materializer.dead_letters",
        "headwater_consumers.materializer",
        "headwater_producers.spark",
        "headwater_producers.spark.plan",
        "headwater_producers.spark.jvm",
        "headwater_producers.spark.connectors",
        "headwater_producers.spark.execution",
    ],
)
def test_parts_of_a_package_are_in_no_cycle(package: str) -> None:
    folder = (ROOT / package.partition(".")[0].removeprefix("headwater_")).joinpath(*package.split("."))
    assert cycle(imports_between_children(folder, package)) == []


def test_facts_are_beneath_the_graph_and_the_graph_beneath_the_materializer() -> None:
    graph = imports_between_children(ROOT / "consumers" / "headwater_consumers", "headwater_consumers")
    upwards = [
        f"{package} imports {other}"
        for place, package in enumerate(CONSUMERS_ORDER)
        for other in CONSUMERS_ORDER[place + 1 :]
        if other in graph[package]
    ]
    assert upwards == []


def test_the_guard_sees_a_cycle() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
