"""Black-box operators, which pass rows to code: every output column may come from every input column."""

from __future__ import annotations

from dataclasses import replace

from headwater_producers.spark.plan.column import DirectSource, ValueLineage, combine, influences
from headwater_producers.spark.plan.operators.operator import Operator, OperatorRule, operator_rules, same_for_all
from headwater_producers.spark.plan.operators.rows import dropped
from headwater_producers.spark.plan.relation import Relation
from headwater_schemas.events import TransformationKind as Kind


def map_rows(operator: Operator) -> Relation:
    """Read `mapInPandas`, `mapInArrow`: the function gets all columns, and may leave out rows."""
    function = _function(operator)
    return operator.child.with_output(same_for_all(operator.attributes(), function), dropped(operator, function.text))


def map_groups(operator: Operator) -> Relation:
    """Read `applyInPandas` and similar operators: like `map_rows`, group by group; the keys influence every row."""
    keys = operator.read("groupingAttributes") or operator.read("groupingExpressions")
    leading = operator.node.get("groupingAttributesLen")
    if not keys and isinstance(leading, int):
        keys = operator.child.ordered()[:leading]
    output = operator.attributes() or operator.attributes("outputAttrs")
    function = _function(operator)
    by = influences(keys, Kind.GROUP_DEPENDENCY) | dropped(operator, function.text)
    # An initial state isn't an argument of the function, but still affects its output.
    states = [column for child in operator.children[1:] for column in child.ordered()]
    if states:
        function = combine([function, *states], Kind.EXTERNAL, function.text)
    return operator.child.with_output(same_for_all(output, function), by)


def map_cogroups(operator: Operator) -> Relation:
    """Read `cogroup(…).applyInPandas`: the keys come first in either child."""
    left, right = operator.children
    lengths = (operator.node.get("leftGroupingLen"), operator.node.get("rightGroupingLen"))
    keys = [
        column
        for child, length in zip((left, right), lengths, strict=True)
        for column in child.ordered()[: length if isinstance(length, int) else 0]
    ]
    function = _function(operator)
    by = influences(keys, Kind.GROUP_DEPENDENCY) | dropped(operator, function.text)
    return operator.child.with_output(same_for_all(operator.attributes(), function), by)


def objects(operator: Operator) -> Relation:
    """Read Scala's typed operations: each row becomes an object in one attribute, and in the end a row again."""
    output = operator.attributes("outputObjAttr") or operator.attributes("serializer")
    return operator.child.with_output(same_for_all(output, _anything(operator, "object")))


def _function(operator: Operator) -> ValueLineage:
    # The function's own arguments, if the plan has them: the function may get only some of the columns.
    functions = operator.read("functionExpr") or operator.read("func")
    return functions[0] if functions else _anything(operator, operator.node.name)


def _anything(operator: Operator, text: str) -> ValueLineage:
    column = combine(operator.child.ordered(), Kind.EXTERNAL, text)
    return column if column.direct else replace(column, direct=frozenset({DirectSource(None, Kind.EXTERNAL)}))


BLACK_BOXES: dict[str, OperatorRule] = {
    **operator_rules(map_rows, "MapInPandas MapInArrow PythonMapInArrow"),
    **operator_rules(
        map_groups,
        "FlatMapGroupsInPandas FlatMapGroupsInArrow FlatMapGroupsInPandasWithState TransformWithStateInPandas "
        "TransformWithStateInPySpark",
    ),
    **operator_rules(map_cogroups, "FlatMapCoGroupsInPandas FlatMapCoGroupsInArrow"),
    **operator_rules(
        objects,
        "DeserializeToObject MapElements MapPartitions MapGroups CoGroup FlatMapGroupsWithState SerializeFromObject",
    ),
}
