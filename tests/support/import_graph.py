"""Imports between modules: at the top, for type checking and within functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = {
    # import name: the folder that holds it
    "headwater_schemas": "schemas",
    "headwater_openlineage": "openlineage",
    "headwater_graph": "graph",
    "headwater_analysis": "analysis",
    "headwater_producers": "producers",
    "headwater_consumers": "consumers",
    "headwater_review": "review",
    "headwater_dry_run": "review",
    "headwater_audit": "audit",
    "headwater_server": "server",
    "headwater": "cli",
    "headwater_benchmarks": "benchmarks",
    "flights": "spark_jobs",
    "lineage": "spark_jobs",
}

Graph = Mapping[str, frozenset[str]]


@cache
def modules() -> dict[str, Path]:
    """The modules of all packages by full name; a package is its `__init__`."""
    found: dict[str, Path] = {}
    for package, folder in PACKAGES.items():
        for file in sorted((ROOT / folder / package).rglob("*.py")):
            name = ".".join(file.relative_to(ROOT / folder).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = file
    return found


@cache
def parsed(module: str) -> ast.Module:
    """A module's text as a tree."""
    return ast.parse(modules()[module].read_text(encoding="utf-8"), filename=str(modules()[module]))


@cache
def imported(module: str) -> frozenset[str]:
    """The modules that a module imports, wherever in it; others than those of `modules` are left out."""
    found: set[str] = set()
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {name if name in modules() else node.module for name in names}
    return frozenset(found & modules().keys()) - {module}


def module_graph(package: str) -> Graph:
    """Imports of each module of a package, or of one below it, within that package."""
    mine = {name for name in modules() if name == package or name.startswith(f"{package}.")}
    return {name: imported(name) & mine for name in mine}


def grouped(graph: Graph, part: Callable[[str], str]) -> Graph:
    """Imports between the parts that modules are in; those within one part are left out."""
    found: dict[str, set[str]] = {part(name): set() for name in graph}
    for name, others in graph.items():
        found[part(name)] |= {part(other) for other in others} - {part(name)}
    return {name: frozenset(others) for name, others in found.items()}


def children(package: str) -> Graph:
    """Imports between the children of a package; its own `__init__` is none."""
    depth = package.count(".") + 2
    graph = {name: others - {package} for name, others in module_graph(package).items() if name != package}
    return grouped(graph, lambda name: ".".join(name.split(".")[:depth]))


def cycle(graph: Graph) -> list[str]:
    """One way from a node back to itself; empty where there is none."""
    try:
        TopologicalSorter({name: sorted(graph[name]) for name in sorted(graph)}).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        # The sorter follows edges from what is imported to what imports it.
        return found[::-1]
    return []
