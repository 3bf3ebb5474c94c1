"""Plan reader: the table of all rules, applied bottom-up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headwater_producers.spark.plan.column import (
    CONSTANT,
    UNNAMED,
    DirectSource,
    FieldRef,
    ValueLineage,
    combine,
    container_step,
)
from headwater_producers.spark.plan.description import PlanInput
from headwater_producers.spark.plan.expressions import ExpressionScope
from headwater_producers.spark.plan.leaves import Leaves
from headwater_producers.spark.plan.names import shown_name
from headwater_producers.spark.plan.operators.black_boxes import BLACK_BOXES
from headwater_producers.spark.plan.operators.columns import COLUMNS
from headwater_producers.spark.plan.operators.combining import COMBINING
from headwater_producers.spark.plan.operators.operator import Operator, OperatorRule
from headwater_producers.spark.plan.operators.recursion import RECURSION
from headwater_producers.spark.plan.operators.row_level import ROW_LEVEL
from headwater_producers.spark.plan.operators.rows import ROWS
from headwater_producers.spark.plan.relation import Attribute, Relation
from headwater_producers.spark.plan.text import Literals
from headwater_producers.spark.plan.tree import Nodes, PlanNode, fold, simple_name
from headwater_schemas.events import DatasetRef
from headwater_schemas.events import TransformationKind as Kind
from headwater_schemas.reasons import unknown_operator

RULES: dict[str, OperatorRule] = {**ROWS, **COLUMNS, **COMBINING, **RECURSION, **BLACK_BOXES, **ROW_LEVEL}

QUERY_FIELDS = ("query", "plan", "analyzedQuery")
"""Fields in which commands keep their query, if it isn't their child."""


WRITES = frozenset(
    [
        "AppendData",
        "OverwriteByExpression",
        "OverwritePartitionsDynamic",
        "WriteToMicroBatchDataSource",
        "WriteToMicroBatchDataSourceV1",
        "WriteToDataSourceV2",
        "WriteToContinuousDataSource",
        "CreateTableAsSelect",
        "ReplaceTableAsSelect",
        "InsertIntoDir",
        "WriteFiles",
        "ReplaceData",
        "WriteDelta",
    ]
)
"""Commands whose class name doesn't end in `Command`."""

WRITES_NOTHING = frozenset(
    [
        "AnalyzeColumnCommand",
        "AnalyzePartitionCommand",
        "AnalyzeTableCommand",
        "AnalyzeTablesCommand",
        "CacheTableCommand",
        "DescribeQueryCommand",
        "ExplainCommand",
        # CREATE TABLE AS to a folder runs, and reports, a command that writes its files.
        "InsertIntoDataSourceDirCommand",
    ]
)
"""Commands that run a query without writing a dataset, or whose inner command writes it."""


def is_write(name: str) -> bool:
    """Return True if an operator of this class is a command, which runs a query or changes something."""
    return name in WRITES or name.endswith("Command")


def written_query(operator: Operator) -> Relation:
    """Read a command: it writes the output of its child, or of the query in one of its fields."""
    if operator.children:
        return operator.children[-1]
    for field in QUERY_FIELDS:
        tree = operator.node.tree(field)
        if tree is not None:
            return operator.reader.read(tree, operator.outer)
    return Relation()


class PlanReader:
    """Reader of one plan, subqueries included.

    Args:
        literals: display of literals in texts.
        rules: rules for operators of storage technologies, by class; they come before Spark's own.

    Attributes:
        ctes: common table expressions read so far, by Spark's number.
        loops: attributes of the references to a recursion that isn't read yet, by the recursion's number.
        inputs: datasets of the leaves, in the order of reading, each once.
        problems: parts that weren't understood, in the order of reading, each once.
    """

    def __init__(
        self, leaves: Leaves, literals: Literals = Literals.SHOWN, rules: Mapping[str, OperatorRule] | None = None
    ) -> None:
        self.leaves = leaves
        self.ctes: dict[int, Relation] = {}
        self.loops: dict[int, list[tuple[int, ...]]] = {}
        self.inputs: dict[PlanInput, None] = {}
        self.problems: dict[str, None] = {}
        self._literals = literals
        self._rules = rules or {}
        self._views: dict[int, str] = {}

    def read(self, nodes: Nodes, outer: ExpressionScope | None = None) -> Relation:
        """Return the relation of a plan; for a command, the relation that it writes.

        Raises:
            ValueError: `nodes` isn't one whole tree.
        """
        self._note_views(nodes)

        def visit(node: PlanNode, children: tuple[Relation, ...]) -> Relation:
            return self._rule(node)(Operator(node, children, self, outer))

        return fold(nodes, visit)

    def scope(self, relation: Relation, outer: ExpressionScope | None) -> ExpressionScope:
        """Return the scope of expressions over `relation`."""
        return ExpressionScope(
            columns=relation.columns,
            rows=relation.rows,
            subquery=self.read,
            report=self.report,
            outer=outer,
            literals=self._literals,
        )

    def report(self, problem: str) -> None:
        """Record a part that wasn't understood."""
        self.problems.setdefault(problem)

    def _rule(self, node: PlanNode) -> OperatorRule:
        if node.name == "View":
            return self._view
        known = self._rules.get(node.name) or RULES.get(node.name)
        if known is not None:
            return known
        if is_write(node.name):
            return written_query
        return self._leaf if not node.fields["num-children"] else self._unknown

    def _leaf(self, operator: Operator) -> Relation:
        attributes = operator.attributes()
        view = self._views.get(attributes[0].id) if attributes else None
        leaf = self.leaves.find(operator.node, view)
        if leaf.problem:
            self.report(leaf.problem)
        for item in leaf.inputs:
            self.inputs.setdefault(item)
        if leaf.relation is not None:
            return leaf.relation
        datasets = dict.fromkeys(item.dataset for item in leaf.inputs)
        pairs = []
        for attribute in attributes:
            direct = frozenset(DirectSource(FieldRef(d, (attribute.name,)), Kind.COPY, whole=True) for d in datasets)
            text = shown_name(attribute.name)
            column = ValueLineage(direct or frozenset({DirectSource(None, leaf.kind)}), text=text, type=attribute.type)
            if attribute.name in leaf.payloads:
                column = replace(column, encoded=_payload(column))
            pairs.append((attribute, column))
        return replace(Relation().with_output(pairs), rows=frozenset(datasets))

    def _view(self, operator: Operator) -> Relation:
        """Read a permanent view: its own columns are read, and also the columns from which they are selected."""
        relation = operator.children[-1]
        view = self.leaves.view(operator.node)
        if view is None:
            return relation
        self.inputs.setdefault(view)
        pairs = zip(relation.output, relation.ordered(), strict=True)
        named = relation.with_output((a, _of_view(column, view.dataset, (a.name,))) for a, column in pairs)
        return replace(named, rows=relation.rows | {view.dataset})

    def _unknown(self, operator: Operator) -> Relation:
        child = operator.child
        if not child.output and not operator.attributes():
            # DROP TABLE and similar commands have no columns below, and return none.
            return child
        self.report(unknown_operator(operator.node.name))
        anything = combine(child.columns.values(), Kind.UNKNOWN, operator.node.name)
        output = operator.attributes() or [a for relation in operator.children for a in relation.output]
        return child.with_output([(a, self._degraded(a, child, anything)) for a in output])

    @staticmethod
    def _degraded(attribute: Attribute, child: Relation, anything: ValueLineage) -> ValueLineage:
        # The operator's effect on a column is unknown, even on one that keeps its id.
        own = child.columns.get(attribute.id)
        column = combine([own], Kind.UNKNOWN, own.text) if own else anything
        return (
            column
            if column.direct - CONSTANT
            else replace(column, direct=frozenset({DirectSource(None, Kind.UNKNOWN)}))
        )

    def _note_views(self, nodes: Nodes) -> None:
        # A leaf gets the name of the temporary view above it, if only renaming lies in between.
        name: str | None = None
        for raw in nodes:
            kind = simple_name(raw["class"])
            if kind == "View" and raw.get("isTempView"):
                name = (raw.get("desc") or {}).get("identifier", {}).get("table")
            elif name is not None and raw["num-children"] == 0:
                output = PlanNode(kind, raw).output()
                if output:
                    self._views[output[0][0]["exprId"]["id"]] = name
                name = None
            elif kind != "SubqueryAlias" and not (kind == "Project" and _keeps_names(raw)):
                name = None


def _keeps_names(project: dict[str, Any]) -> bool:
    # `cast(code as int) AS code`, which views add to their columns, and plain columns.
    for expression in PlanNode("Project", project).trees("projectList"):
        column = expression[-1]
        plain = all(simple_name(step["class"]) in ("Alias", "Cast", "AttributeReference") for step in expression)
        if not plain or column.get("name") != expression[0].get("name"):
            return False
    return True


def _of_view(column: ValueLineage, view: DatasetRef, path: tuple[str, ...]) -> ValueLineage:
    # A known part of a value is also a part of the view's column.
    parts = {
        step: item if step in UNNAMED or container_step(step) else _of_view(item, view, (*path, step))
        for step, item in column.parts.items()
    }
    return replace(
        column, direct=column.direct | {DirectSource(FieldRef(view, path), Kind.COPY, whole=True)}, parts=parts
    )


def _payload(column: ValueLineage) -> ValueLineage:
    # The payload's fields are fields of the topic. The source is `whole`, so that a part of the payload is the field of
    # that name.
    direct = frozenset(d.then(Kind.CAST, whole=True) for d in column.direct)
    return ValueLineage(direct, text=column.text)
