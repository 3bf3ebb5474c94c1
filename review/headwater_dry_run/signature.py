"""Signature of an optimized plan's JSON: a text that equal plans share, even if they are written differently.

Spark's optimizer has folded constants, pushed filters down and removed unused parts. This module drops expression ids
and names within the plan, sorts operands of commutative operators, and ignores the division of rows among files. If
Spark's JSON lacks a part that may matter, the plan's text is added. Then signatures of equal plans may differ, but
different plans never have equal signatures.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from headwater_dry_run.plans import ORDER_OF_ROWS
from headwater_producers.spark.connectors.rdd import FRAME
from headwater_producers.spark.plan.tree import Nodes, PlanNode, expression_id, fold, is_tree

_SKIPPED: Final = frozenset(
    {
        "class", "num-children", "exprId", "resultId", "qualifier", "explicitMetadata", "nonInheritableMetadataKeys",
        "metadata", "sameOrderExpressions", "hint", "session", "rdd", "relation", "dataSource", "data", "func",
        "isStreaming", "catalogTable", "stats", "output", "outputPartitioning", "outputOrdering", "origin", "child",
        "left", "right", "children", "catalog", "identifier", "timeZoneId", "stableOutput", "nodeId", "replacement",
    }
)  # fmt: skip
# Fields in which a null in Spark's JSON loses nothing: the part is absent, or is read from the plan's text (`try_`).
_READ_ELSEWHERE: Final = frozenset({"evalMode", "hint", "inputAggBufferOffset", "condition", "filter", "tag", "tagDF"})
_PASSED: Final = frozenset({"SubqueryAlias", "ReturnAnswer", *ORDER_OF_ROWS})
_KEEP_COLUMNS: Final = frozenset({"Filter", "Sort", "GlobalLimit", "LocalLimit", "Offset", "Tail"})
_COMMUTATIVE: Final = frozenset(
    {"EqualTo", "EqualNullSafe", "Add", "Multiply", "BitwiseAnd", "BitwiseOr", "BitwiseXor"}
)
_TURNED: Final = {"GreaterThan": "LessThan", "GreaterThanOrEqual": "LessThanOrEqual"}
_PLANS: Final = (".plans.logical.", ".execution.datasources.", ".execution.streaming.", f".{FRAME}", ".python.")
# Expression ids, addresses of objects, and ids of operators, which differ in each run.
CHANGING: Final = re.compile(r"#\d+L?|@[0-9a-f]{4,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NOW: Final = frozenset({"CurrentTimestamp", "CurrentDate", "Now", "LocalTimestamp", "CurrentTimestampLike"})


@dataclass(frozen=True, slots=True)
class Unwritten:
    """Parts of a plan that its JSON lacks.

    Attributes:
        names: source of a leaf, by the leaf's class and the number of its first attribute.
        functions: digest of a Python function, by the number of the result of its call.
        columns: for a leaf that isn't a dataset, by the leaf's name: lineage of each column, by the column's name.
        origins: source of a leaf, without read options and without its selection of rows, by the leaf's name.
        now: time at which the plan was optimized, in seconds; None if the plan has no current time.
    """

    names: Mapping[tuple[str, int], str] = field(default_factory=dict)
    functions: Mapping[int, str] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    now: float | None = None


class UnreadableError(Exception):
    """A part of a plan has no reproducible text."""


@dataclass(frozen=True, slots=True)
class _Operator:
    """Operator: its text, the numbers of its columns in order, and a text only of its rows (empty: `text`)."""

    text: str
    output: tuple[int, ...] = ()
    only_rows: str = ""

    @property
    def rows(self) -> str:
        return self.only_rows or self.text


def signature(nodes: Nodes, text: str, leaves: Unwritten) -> str:
    """Return a digest of the plan.

    Args:
        nodes: the optimized plan's JSON.
        text: the same plan as Spark prints it.
        leaves: parts of the plan that the JSON lacks.

    Raises:
        UnreadableError: a leaf has no reproducible name.
    """
    reader = SignatureReader(leaves)
    top = reader.plan(nodes)
    columns = ",".join(reader.columns.get(number, "?") for number in top.output)
    return digest("\n".join([top.text, columns, *reader.unwritten(text)]))


def column_signatures(nodes: Nodes, text: str, leaves: Unwritten) -> list[str]:
    """Return a digest of each column of the plan, in order.

    A changed column may change the digests of other, unchanged columns, but a changed column never keeps its digest.
    One plan serves all columns, while `signature` needs a plan for each column.

    Args:
        nodes: the optimized plan's JSON.
        text: the same plan as Spark prints it.
        leaves: parts of the plan that the JSON lacks.

    Raises:
        UnreadableError: see `signature`.
    """
    reader = SignatureReader(leaves, by_column=True)
    top = reader.plan(nodes)
    unwritten = reader.unwritten(text)
    return [digest("\n".join([top.rows, reader.columns.get(each, "?"), *unwritten])) for each in top.output]


def digest(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


class SignatureReader:
    """Reader of a plan that builds its signature.

    Args:
        leaves: parts of the plan that the JSON lacks.
        by_column: True: a column's signature covers the rows below the column, but not the other columns below it.
    """

    def __init__(self, leaves: Unwritten, *, by_column: bool = False) -> None:
        self._leaves, self._by_column = leaves, by_column
        self.columns: dict[int, str] = {}
        self.unknown = False
        self._instances: dict[str, int] = {}
        self._rules: dict[str, Callable[[PlanNode, tuple[_Operator, ...]], _Operator]] = {
            "Project": self._project,
            "Aggregate": self._aggregate,
            "Window": self._window,
            "Join": self._join,
            "Union": self._union,
        }

    def unwritten(self, text: str) -> list[str]:
        """Return the parts of a plan's text that its JSON lacks; the whole text if unknown parts may matter."""
        return [*sorted(re.findall(r"\btry_\w+", text)), CHANGING.sub("", text) if self.unknown else ""]

    def plan(self, nodes: Nodes) -> _Operator:
        """Return the topmost operator, with all operators below it."""
        return fold(nodes, self._operator)

    def _operator(self, node: PlanNode, children: tuple[_Operator, ...]) -> _Operator:
        if not children:
            return self._leaf(node)
        if node.name in _PASSED:
            return children[0]
        rule = self._rules.get(node.name)
        if rule is not None:
            return rule(node, children)
        text = f"{node.name}[{self._fields(node)}]({'; '.join(child.text for child in children)})"
        own_columns = tuple(n for tree in node.trees("output") if (n := expression_id(tree[0])) is not None)
        new_columns: list[int] = []
        for name in ("generatorOutput", "resultAttrs", "aggAttrs"):
            new_columns += [n for tree in node.trees(name) if (n := expression_id(tree[0])) is not None]
        below = tuple(number for child in children for number in child.output)
        # A new column is identified by its position in its operator.
        for position, number in enumerate((*own_columns, *new_columns)):
            if number not in self.columns or number not in below:
                self.columns[number] = self._of_operator(node, text, position)
        only_rows = ""
        if node.name in _KEEP_COLUMNS:
            only_rows = f"{node.name}[{self._fields(node)}]({'; '.join(child.rows for child in children)})"
        return _Operator(text, own_columns or (*below, *new_columns), only_rows)

    def _of_operator(self, node: PlanNode, text: str, position: int) -> str:  # noqa: ARG002  for those that override it
        """Sign a column that an operator creates without an expression."""
        return f"{digest(text)}.{position}"

    def _leaf(self, node: PlanNode) -> _Operator:
        output = node.output()
        numbers = tuple(n for tree in output if (n := expression_id(tree[0])) is not None)
        if node.name in {"OneRowRelation", "Range"}:
            name = f"{node.name}[{self._fields(node)}]"
        else:
            known = self._leaves.names.get((node.name, numbers[0])) if numbers else node.name
            if known is None:
                raise UnreadableError(f"the source of a {node.name} is unknown")
            name = known
        instance = self._instances[name] = self._instances.get(name, 0) + 1
        for position, (number, tree) in enumerate(zip(numbers, output, strict=False)):
            self._read(number, str(tree[0].get("name")), position, name, instance)
        return _Operator(f"{name}~{instance}", numbers)

    def _read(self, number: int, column: str, position: int, name: str, instance: int) -> None:
        """Sign a column of a leaf by the leaf's name and instance, and the column's name."""
        # By name, so that a new column before this one in the source doesn't change the signature.
        known = self._leaves.columns.get(name, {}).get(column, column)
        self.columns[number] = f"{name}~{instance}.{position if '[' in name else known}"

    def _within(self, child: _Operator, keys: Sequence[str] = ()) -> str:
        """Return the part of a column's signature from the operators below its expression."""
        below = child.rows if self._by_column else child.text
        return f"{[*keys]}{below}" if keys else below

    def _named(self, trees: list[Nodes], within: str) -> tuple[list[str], tuple[int, ...]]:
        """Sign the columns of a list, each with its own text."""
        texts: list[str] = []
        numbers: list[int] = []
        at = digest(within)
        for tree in trees:
            number = expression_id(tree[0])
            if number is None:
                raise UnreadableError(f"a column without a number: {_name(tree[0])}")
            if _name(tree[0]) == "Alias":
                text = self._alias(number, tree[1:])
                plain = _name(tree[1]) == "AttributeReference"
                self.columns[number] = text if plain else f"={digest(f'{text}@{at}')}"
                texts.append(text)
            else:
                texts.append(self.expression(tree))
            numbers.append(number)
        return texts, tuple(numbers)

    def _alias(self, number: int, nodes: Nodes) -> str:  # noqa: ARG002  for those that override it
        """Return the text of the expression behind a column's alias."""
        return self.expression(nodes)

    def _project(self, node: PlanNode, children: tuple[_Operator, ...]) -> _Operator:
        (child,) = children
        trees = node.trees("projectList")
        texts, numbers = self._named(trees, self._within(child))
        computed = sorted(
            text
            for text, tree in zip(texts, trees, strict=True)
            if _name(tree[0]) == "Alias" and _name(tree[1]) != "AttributeReference"
        )
        text = f"Project[{'; '.join(computed)}]({child.text})" if computed else child.text
        return _Operator(text, numbers, child.rows)

    def _aggregate(self, node: PlanNode, children: tuple[_Operator, ...]) -> _Operator:
        (child,) = children
        keys = sorted(self.expression(tree) for tree in node.trees("groupingExpressions"))
        texts, numbers = self._named(node.trees("aggregateExpressions"), self._within(child, keys))
        text = f"Aggregate[{'; '.join(keys)}][{'; '.join(sorted(texts))}]({child.text})"
        return _Operator(text, numbers, f"Aggregate[{'; '.join(keys)}]({child.rows})")

    def _window(self, node: PlanNode, children: tuple[_Operator, ...]) -> _Operator:
        (child,) = children
        texts, numbers = self._named(node.trees("windowExpressions"), self._within(child))
        return _Operator(f"Window[{'; '.join(sorted(texts))}]({child.text})", (*child.output, *numbers), child.rows)

    def _join(self, node: PlanNode, children: tuple[_Operator, ...]) -> _Operator:
        left, right = children
        kind = node.object_name("joinType")
        if not kind:
            kind = json.dumps(self._value(node.get("joinType")))
        condition = node.tree("condition")
        text = "" if condition is None else self.expression(condition)
        sides, rows = [left.text, right.text], [left.rows, right.rows]
        if kind == "RightOuter":
            kind, sides, rows = "LeftOuter", sides[::-1], rows[::-1]
        elif kind in {"Inner", "Cross", "FullOuter"}:
            kind, sides, rows = ("Inner" if kind == "Cross" else kind), sorted(sides), sorted(rows)
        output = left.output if kind in {"LeftSemi", "LeftAnti"} else (*left.output, *right.output)
        exists = expression_id(node.get("joinType") or {}, "exists")
        whole = f"Join[{kind}; {text}]({'; '.join(sides)})"
        if "ExistenceJoin" in kind:
            output = left.output
            if exists is not None:
                self.columns[exists], output = self._of_operator(node, whole, 0), (*left.output, exists)
        return _Operator(whole, output, f"Join[{kind}; {text}]({'; '.join(rows)})")

    def _union(self, _: PlanNode, children: tuple[_Operator, ...]) -> _Operator:
        texts = [child.text for child in children]
        positions = list(zip(*(child.output for child in children), strict=True))
        labels = ["|".join(self.columns.get(number, "?") for number in each) for each in positions]
        for numbers, label in zip(positions, labels, strict=True):
            self._united(numbers, label)
        rows = f"Union({'; '.join(child.rows for child in children)})"
        return _Operator(f"Union[{'; '.join(sorted(labels))}]({'; '.join(texts)})", children[0].output, rows)

    def _united(self, numbers: Sequence[int], label: str) -> None:
        """Sign a column of a UNION from the corresponding column of each branch."""
        self.columns[numbers[0]] = f"={digest(f'union {label}')}"

    def expression(self, nodes: Nodes) -> str:
        """Return the text of an expression."""
        return fold(nodes, self._expression)

    def _expression(self, node: PlanNode, children: tuple[str, ...]) -> str:
        name = node.name
        if name in {"AttributeReference", "OuterReference"} and not children:
            number = expression_id(node.fields)
            if number is None:
                return f"?{node.get('name')}"
            return self.columns.setdefault(number, f"new{len(self.columns)}")
        if name == "Alias":
            return children[0]
        if name == "Literal":
            return self._literal(node)
        return self._computed(node, name, children)

    def _computed(self, node: PlanNode, name: str, children: tuple[str, ...]) -> str:
        if name in {"And", "Or"}:
            flat = [part for child in children for part in _flat(name, child)]
            return f"{name}({' & '.join(sorted(set(flat)))})"
        if name in _COMMUTATIVE:
            children = tuple(sorted(children))
        elif name in _TURNED:
            name, children = _TURNED[name], children[::-1]
        elif name == "In":
            children = (children[0], *sorted(children[1:]))
        fields = self._fields(node)
        if name in {"PythonUDF", "PythonUDAF"}:
            number = expression_id(node.fields, "resultId")
            known = self._leaves.functions.get(number) if number is not None else None
            if known is None:
                raise UnreadableError(f"the code of the Python function {node.get('name')} is unknown")
            fields = f"{known} {node.get('evalType')} {self._value(node.get('dataType'))}"
        text = f"{name}[{fields}]({', '.join(children)})"
        return text if len(text) <= 2_000 else f"{name}<{digest(text)}>"

    def _literal(self, node: PlanNode) -> str:
        value, type_ = node.get("value"), self._value(node.get("dataType"))
        if self._leaves.now is not None and type_ in ("timestamp", "timestamp_ntz") and isinstance(value, str):
            return f"now{_minutes_from(value, self._leaves.now)}"
        return f"{value!r}:{type_}"

    def _fields(self, node: PlanNode) -> str:
        parts = []
        for name, value in sorted(node.fields.items()):
            if name in _SKIPPED:
                continue
            if value is None and name not in _READ_ELSEWHERE:
                self.unknown = True
            parts.append(f"{name}={self._value(value)}")
        return ", ".join(parts)

    def _value(self, value: Any) -> str:
        if is_tree(value):
            if any(part in value[0]["class"] for part in _PLANS):
                return self.plan(value).text
            return self.expression(value)
        if isinstance(value, list):
            return f"({', '.join(self._value(each) for each in value)})"
        if isinstance(value, dict):
            if str(value.get("product-class", "")).endswith(".ExprId"):
                number = value.get("id")
                return self.columns.get(number, "new") if isinstance(number, int) else "new"
            return f"{{{', '.join(f'{k}={self._value(v)}' for k, v in sorted(value.items()) if k != 'jvmId')}}}"
        return str(value)


def _flat(name: str, text: str) -> list[str]:
    """Flatten the operands of nested equal operators."""
    if not (text.startswith(f"{name}(") and text.endswith(")")):
        return [text]
    inner, depth, parts, start = text[len(name) + 1 : -1], 0, [], 0
    for position, character in enumerate(inner):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth and inner.startswith(" & ", position):
            parts.append(inner[start:position])
            start = position + 3
    return [*parts, inner[start:]]


def _name(node: Mapping[str, Any]) -> str:
    return str(node["class"]).rsplit(".", 1)[-1]


def _minutes_from(text: str, now: float) -> str:
    from datetime import datetime

    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        return f" {text}"
    return f"{round((value.timestamp() - now) / 60):+d}min"


def has_now(text: str) -> bool:
    """Return True if an analyzed plan's JSON contains the current time."""
    return any(f'.{name}"' in text for name in _NOW)
