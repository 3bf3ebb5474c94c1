"""Mutants of a module: each is the text of the module with one change of the computation.

Not changed: docstrings, annotations, decorators, imports, the options of classes, and the messages of errors.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

N = TypeVar("N", bound=ast.AST)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one module.

    Attributes:
        line: first line of the change.
        before, after: the replaced text and its replacement.
        source: the whole module, changed.
    """

    line: int
    before: str
    after: str
    source: str


_COMPARED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_UNTOUCHED_FIELDS: Final = {"annotation", "returns", "decorator_list", "type_params", "bases", "keywords"}
_UNTOUCHED_TARGETS: Final = {"__all__", "__slots__"}
_UNTOUCHED_CALLS: Final = {"cast", "TypeVar", "ParamSpec"}
_UNTOUCHED_OPTIONS: Final = {"strict"}
_MARK: Final = "XX"


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a module, from its top to its end."""
    lines = [0]
    for line in source.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    found = []
    for node, after in _changes(ast.parse(source)):
        whole = source.encode()
        begin = lines[node.lineno - 1] + node.col_offset
        end = lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        changed = (whole[:begin] + after.encode() + whole[end:]).decode()
        found.append(Mutant(node.lineno, whole[begin:end].decode(), after, changed))
    return sorted(found, key=lambda mutant: mutant.line)


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Nodes and their replacement texts, for this node and all below it."""
    if isinstance(node, ast.expr):
        yield from ((node, f"({ast.unparse(other)})") for other in _other_expressions(node))
    if isinstance(node, ast.stmt):
        yield from ((node, text) for text in _other_statements(node))
    for child in _children(node):
        yield from _changes(child)


def _children(node: ast.AST) -> Iterator[ast.AST]:  # noqa: C901  a list of what is left alone
    """Child nodes to mutate; docstrings, annotations, imports, messages of errors and the like are left out."""
    if isinstance(node, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom | ast.Assert):
        return
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id in _UNTOUCHED_TARGETS for target in targets):
            return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _UNTOUCHED_CALLS:
        return
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "Literal":
        return
    for name, value in ast.iter_fields(node):
        if name in _UNTOUCHED_FIELDS and not (name == "keywords" and isinstance(node, ast.Call)):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.keyword) and each.arg in _UNTOUCHED_OPTIONS:
                continue
            if isinstance(each, ast.AST):
                yield each


def _other_expressions(node: ast.expr) -> Iterator[ast.expr]:  # noqa: C901, PLR0912  a table
    match node:
        case ast.Compare():
            for at, operator in enumerate(node.ops):
                yield _with(node, ops=_put(node.ops, at, _COMPARED[type(operator)]()))
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.BinOp() if type(node.op) in _COMPUTED:
            yield _with(node, op=_COMPUTED[type(node.op)]())
        case ast.Constant():
            yield from _other_constants(node.value)
        case ast.JoinedStr():
            for at, part in enumerate(node.values):
                if isinstance(part, ast.Constant):
                    yield _with(node, values=_put(node.values, at, ast.Constant(str(part.value) + _MARK)))
        case ast.IfExp():
            yield _with(node, test=_negated(node.test))
        case ast.Tuple(ctx=ast.Load()) | ast.List(ctx=ast.Load()) | ast.Set() if len(node.elts) > 1:
            for at in range(len(node.elts)):
                yield _with(node, elts=[*node.elts[:at], *node.elts[at + 1 :]])
        case ast.Dict() if len(node.keys) > 1:
            for at in range(len(node.keys)):
                keys, values = [*node.keys[:at], *node.keys[at + 1 :]], [*node.values[:at], *node.values[at + 1 :]]
                yield _with(node, keys=keys, values=values)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            for at, generator in enumerate(node.generators):
                for number, test in enumerate(generator.ifs):
                    ifs = _put(generator.ifs, number, _negated(test))
                    yield _with(node, generators=_put(node.generators, at, _with(generator, ifs=ifs)))
        case _:
            pass


def _other_constants(value: object) -> Iterator[ast.expr]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        yield ast.Constant(value + 1)
    elif isinstance(value, str):
        yield ast.Constant(f"{value}{_MARK}")
    elif isinstance(value, bytes):
        yield ast.Constant(value + _MARK.encode())


def _other_statements(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Expr(value=ast.Call() | ast.Yield() | ast.YieldFrom()) | ast.Raise() | ast.AugAssign():
            yield "pass"
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]) | ast.Delete():
            yield "pass"
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "return None"
        case ast.Continue():
            yield "break"
        case ast.Break():
            yield "continue"
        case _:
            pass


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), test)


def _with(node: N, **fields: object) -> N:
    """Copy of a node with some fields replaced."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _put(values: Sequence[V], at: int, value: V) -> list[V]:
    return [*values[:at], value, *values[at + 1 :]]
