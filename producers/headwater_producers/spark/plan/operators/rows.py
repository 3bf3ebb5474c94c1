"""Row operators, which choose, order or pass on rows, and change no column."""

from __future__ import annotations

from dataclasses import replace

from headwater_producers.spark.plan.column import influences
from headwater_producers.spark.plan.operators.operator import Operator, OperatorRule, operator_rules
from headwater_producers.spark.plan.relation import Relation
from headwater_schemas.events import TransformationKind as Kind


def passed_on(operator: Operator) -> Relation:
    """Return the child unchanged."""
    return operator.children[-1]


def filtered(operator: Operator) -> Relation:
    """Read WHERE and HAVING: the condition's columns influence every row.

    So do the keys of a window whose rank it filters, as in the first row or the first three: they stay
    WINDOW_DEPENDENCY, through the condition.
    """
    conditions = operator.read("condition")
    text = conditions[0].text if conditions else None
    found = influences(conditions, Kind.FILTER_DEPENDENCY)
    described = (replace(i, text=text) if i.kind is Kind.WINDOW_DEPENDENCY else i for i in found)
    return operator.child.influenced(described)


def ordered(operator: Operator) -> Relation:
    """Read ORDER BY, which with a LIMIT also chooses the rows."""
    return operator.child.influenced(influences(operator.read("order"), Kind.SORT_DEPENDENCY))


def deduplicated(operator: Operator) -> Relation:
    """Read `dropDuplicates(keys)`."""
    return operator.child.influenced(influences(operator.read("keys"), Kind.GROUP_DEPENDENCY))


def distinct(operator: Operator) -> Relation:
    """Read `DISTINCT`: every column is a key."""
    return operator.child.influenced(influences(operator.child.ordered(), Kind.GROUP_DEPENDENCY))


ROWS: dict[str, OperatorRule] = {
    "Filter": filtered,
    "Sort": ordered,
    "Distinct": distinct,
    **operator_rules(deduplicated, "Deduplicate DeduplicateWithinWatermark"),
    **operator_rules(
        passed_on,
        "SubqueryAlias EventTimeWatermark UpdateEventTimeWatermarkColumn ResolvedHint Repartition "
        "RepartitionByExpression RebalancePartitions RepartitionByRange Sample CollectMetrics ReturnAnswer GlobalLimit "
        "LocalLimit Offset Tail WithCTE WithWindowDefinition Subquery PipeOperator SQLFunctionNode",
    ),
}
