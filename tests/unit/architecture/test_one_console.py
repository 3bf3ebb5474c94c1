"""Output of commands passes `headwater.console`, where no text is markup: nothing else of Rich reads any."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDERS = ("cli/headwater", "benchmarks/headwater_benchmarks")
# Rich's modules whose strings are markup whatever the console says, or that print by themselves.
READS_MARKUP = {"rich", "rich.markup", "rich.panel", "rich.prompt", "rich.spinner", "rich.status", "rich.logging"}
READS_MARKUP |= {"rich.traceback", "rich.pretty"}
READING_NAMES = {"Console", "TextColumn", "RenderableColumn"}
ALLOWED = {
    "cli/headwater/console.py": {"rich.console.Console", "rich.progress.TextColumn", "rich.status"},
    # Typer reads help as markup, and the text is a setting of ours.
    "cli/headwater/cli.py": {"rich.markup"},
}


def reading(tree: ast.Module) -> set[str]:
    """Names of Rich in the module that read markup, imports for types alone left out."""
    typing_only = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for inner in block.body
        for node in ast.walk(inner)
    }
    found = set()
    for node in ast.walk(tree):
        if node in typing_only:
            continue
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.split(".")[0] == "rich"}
        elif isinstance(node, ast.ImportFrom) and node.module in READS_MARKUP:
            found.add(node.module)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rich."):
            found |= {f"{node.module}.{name.name}" for name in node.names if name.name in READING_NAMES}
        elif isinstance(node, ast.Attribute) and node.attr in {"from_markup", "render_markup"}:
            found.add(node.attr)
        elif isinstance(node, ast.Call) and any(keyword.arg == "markup" for keyword in node.keywords):
            found |= {
                "markup=True"
                for keyword in node.keywords
                if keyword.arg == "markup" and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
            }
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            found.add("print")
    return found


def modules() -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def test_no_module_but_the_console_has_markup_read() -> None:
    assert set(ALLOWED) <= set(modules())
    faults = [
        f"{module}: has markup read by {name}"
        for module in modules()
        for name in reading(ast.parse((ROOT / module).read_text(encoding="utf-8"))) - ALLOWED.get(module, set())
    ]
    assert not faults, "\n".join(faults)


def test_the_guard_sees_a_reader_of_markup() -> None:
    for source in (
        "from rich.markup import escape",
        "import rich",
        "from rich import print",
        "from rich.console import Console",
        "from rich.console import Console as Other",
        "from rich.progress import BarColumn, TextColumn",
        "Text.from_markup(name)",
        "console.out.print(name, markup=True)",
        "print(name)",
    ):
        assert reading(ast.parse(source)), source
