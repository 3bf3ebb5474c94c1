"""Row operators, which choose, order or pass on rows, and change no column."""

from __future__ import annotations

from dataclasses import replace

from headwater_producers.spark.plan.column import Indirect, clip, influences
from headwater_producers.spark.plan.operators.operator import Operator, OperatorRule, operator_rules
from headwater_producers.spark.plan.relation import Relation, row_dependencies
from headwater_schemas.events import TransformationKind as Kind


def passed_on(operator: Operator) -> Relation:
    """Return the child unchanged."""
    return operator.children[-1]


def filtered(operator: Operator) -> Relation:
    """Read WHERE and HAVING: the condition's columns influence every row.

    If the condition filters by the rank in a window (the first three rows), the window's keys influence every row, too:
    as WINDOW_DEPENDENCY, with the condition's text. A condition that filters by no column's values, such as a rank or
    `rand() < 0.1`, is an influence of the datasets' rows.
    """
    conditions = operator.read("condition")
    text = conditions[0].text if conditions else "filter"
    found = influences(conditions, Kind.FILTER_DEPENDENCY)
    described = {replace(i, text=text) if i.kind is Kind.WINDOW_DEPENDENCY else i for i in found}
    if not any(i.kind is Kind.FILTER_DEPENDENCY for i in described):
        described |= dropped(operator, text)
    return operator.child.influenced(described)


def limited(operator: Operator) -> Relation:
    """Read LIMIT, OFFSET and TABLESAMPLE, which leave rows out independent of their values."""
    return operator.child.influenced(dropped(operator, "sample" if operator.node.name == "Sample" else "limit"))


def dropped(operator: Operator, text: str) -> frozenset[Indirect]:
    """Return the influences of an operator that may leave out any row: the datasets of the rows."""
    return row_dependencies(operator.child.rows, (), Kind.FILTER_DEPENDENCY, clip(text))


def ordered(operator: Operator) -> Relation:
    """Read ORDER BY, which with a LIMIT also chooses the rows."""
    return operator.child.influenced(influences(operator.read("order"), Kind.SORT_DEPENDENCY))


def deduplicated(operator: Operator) -> Relation:
    """Read `dropDuplicates(keys)`, which leaves out all but one row of each key; by all columns it is DISTINCT."""
    keys = operator.read("keys")
    by = influences(keys, Kind.GROUP_DEPENDENCY)
    is_distinct = len(keys) == len(operator.child.output)
    return operator.child.influenced(by if is_distinct else by | dropped(operator, "dropDuplicates"))


def distinct(operator: Operator) -> Relation:
    """Read `DISTINCT`: every column is a key."""
    return operator.child.influenced(influences(operator.child.ordered(), Kind.GROUP_DEPENDENCY))


ROWS: dict[str, OperatorRule] = {
    "Filter": filtered,
    "Sort": ordered,
    "Distinct": distinct,
    **operator_rules(deduplicated, "Deduplicate DeduplicateWithinWatermark"),
    **operator_rules(limited, "Sample GlobalLimit LocalLimit Offset Tail"),
    **operator_rules(
        passed_on,
        "SubqueryAlias EventTimeWatermark UpdateEventTimeWatermarkColumn ResolvedHint Repartition "
        "RepartitionByExpression RebalancePartitions RepartitionByRange CollectMetrics ReturnAnswer "
        "WithCTE WithWindowDefinition Subquery PipeOperator SQLFunctionNode",
    ),
}
