"""First words of docstrings: the thing's noun, or a verb, which a reader may search for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest

from support.import_graph import ROOT, modules, parsed

RELATING = ("That", "What", "Which", "Of", "Who", "Whose", "Where", "How", "When", "Whether", "Why", "As", "The same")
"""First words that hide the thing behind its relation to another one."""

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def faults(tree: ast.Module) -> list[str]:
    """Docstrings that begin with a relating word, those of constants and attributes included; "line: what"."""
    return [
        f'{text.lineno}: begins with "{word}"'
        for text in docstrings(tree)
        for word in RELATING
        if f"{' '.join(str(text.value).split()[:2])} ".startswith(tuple(f"{word}{end}" for end in " ,.:;"))
    ]


def docstrings(node: ast.AST) -> Iterator[ast.Constant]:
    """Docstrings within a node: of the module, its classes and functions, and below assignments."""
    # No expression has one; most of a tree is expressions.
    inner = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt | ast.excepthandler)]
    if isinstance(node, DOCUMENTED):
        yield from text_of(node.body[:1])
    for before, after in pairwise(inner):
        if isinstance(before, ast.Assign | ast.AnnAssign):
            yield from text_of([after])
    for each in inner:
        yield from docstrings(each)


def text_of(statements: Sequence[ast.AST]) -> Iterator[ast.Constant]:
    for statement in statements:
        match statement:
            case ast.Expr(value=ast.Constant(value=str()) as text):
                yield text


def test_docstrings_of_the_packages_begin_with_their_subject() -> None:
    found = [f"{path.relative_to(ROOT)}:{fault}" for name, path in modules().items() for fault in faults(parsed(name))]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", ["tests", "scripts"])
def test_docstrings_of_tests_and_scripts_begin_with_their_subject(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{fault}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for fault in faults(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not found, "\n".join(found)


def test_the_guard_sees_one() -> None:
    source = '''"""What a module holds."""
MOST = 3
"""Of them."""
class Cache:
    """The same in memory."""
    size: int
    """How large."""
    def full(self) -> bool:
        """Whether."""
        if self.size:
            async def wait() -> None:
                """As: nothing."""
'''
    assert faults(ast.parse(source)) == [
        '1: begins with "What"',
        '3: begins with "Of"',
        '5: begins with "The same"',
        '7: begins with "How"',
        '9: begins with "Whether"',
        '12: begins with "As"',
    ]


def test_the_guard_passes_nouns_and_other_texts() -> None:
    source = '''"""Cache of records."""
def asking() -> str:
    """Ask. What is asked stays."""
    "Often"
    return "What is it?"
class Offset:
    """Offset. As Kafka has it."""
'''
    assert faults(ast.parse(source)) == []
