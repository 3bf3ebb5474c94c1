"""Aggregate and window functions."""

from __future__ import annotations

from dataclasses import replace

from headwater_producers.spark.plan.column import CONSTANT, ELEMENT, Column, Direct, Field, clip, combine, influences
from headwater_producers.spark.plan.expressions.call import Call, Rule, rules
from headwater_producers.spark.plan.schema import type_parts
from headwater_producers.spark.plan.structure import is_struct, part, stepped
from headwater_producers.spark.plan.text import function_name
from headwater_schemas.events import TransformationKind as Kind

RANKS = "RowNumber Rank DenseRank PercentRank CumeDist NTile"
"""Their arguments are the window's order, or a constant."""

COUNTS = "Count CountIf HyperLogLogPlusPlus RegrCount Grouping GroupingID"
"""The values counted can't be read back."""


def aggregate_expression(call: Call) -> Column:
    """The frame around an aggregate function, with its FILTER: `sum(x) FILTER (WHERE y)`."""
    function, *conditions = call.arguments
    by = influences(conditions, Kind.FILTER_DEPENDENCY)
    distinct = bool(call.node.get("isDistinct"))
    text = function.text.replace("(", "(distinct ", 1) if distinct else function.text
    # A function that no table names is one of many rows all the same.
    value = stepped(function, Kind.AGGREGATE, text)
    return replace(value, indirect=value.indirect | by)


def aggregate(call: Call) -> Column:
    """A function of many rows. Over constants (`count(*)`, `sum(1)`) it is one of the rows themselves."""
    return _aggregate(call, masking=False)


def count(call: Call) -> Column:
    """The same, and only how many there are comes through."""
    return _aggregate(call, masking=True)


def _aggregate(call: Call, *, masking: bool) -> Column:
    result = call.step(Kind.AGGREGATE, masking=masking)
    if any(d.kind is not Kind.CONSTANT for d in result.direct) or call.node.name.startswith("Grouping"):
        return result
    return replace(result, direct=_rows(call, Kind.AGGREGATE, masking=masking))


def _rows(call: Call, kind: Kind, *, masking: bool = False) -> frozenset[Direct]:
    return frozenset(Direct(Field(dataset), kind, masking=masking) for dataset in call.scope.rows) or CONSTANT


def collected(call: Call) -> Column:
    """`collect_list(x)`: an array whose elements are the values."""
    (value,) = call.arguments
    element = stepped(value, Kind.AGGREGATE)
    data_type = {"type": "array", "elementType": value.type}
    return replace(call.step(Kind.AGGREGATE), parts={ELEMENT: element}, type=data_type)


def one_of(call: Call) -> Column:
    """`first(x)`, `max_by(x, y)`: the value of one row, which `y` picks."""
    value, *order = call.arguments
    picked = stepped(value, Kind.AGGREGATE, call.text)
    return replace(picked, indirect=picked.indirect | influences(order, Kind.CONDITIONAL))


def extreme(call: Call) -> Column:
    """`max(x)`: the value of one row; a struct's fields are those of the row whose struct it is."""
    value = call.arguments[0]
    if not any(True for _ in value.sources):
        return aggregate(call)
    picked = stepped(value, Kind.AGGREGATE, call.text)
    names = [name for name, _, _ in type_parts(value.type)] if is_struct(value) else []
    by = influences([value], Kind.CONDITIONAL, call.text)
    parts = {name: part(picked, name) for name in names}
    return replace(picked, parts={n: replace(p, indirect=p.indirect | by) for n, p in parts.items()} or picked.parts)


def listed(call: Call) -> Column:
    """`listagg(x, ',') WITHIN GROUP (ORDER BY y)`."""
    value, delimiter, *order = call.arguments
    result = call.step(Kind.AGGREGATE, [value, delimiter])
    return replace(result, indirect=result.indirect | influences(order, Kind.SORT_DEPENDENCY))


def rank(call: Call) -> Column:
    """A number that comes from the order of rows alone; what orders them is the window's to say."""
    return Column(text=f"{function_name(call.node.name)}()")


def window(call: Call) -> Column:
    """`function OVER (PARTITION BY … ORDER BY …)`."""
    function, specification = call.arguments
    if not function.direct and not specification.indirect:
        # A row's number among all: nothing orders or parts them.
        function = replace(function, direct=_rows(call, Kind.AGGREGATE))
    return replace(
        function,
        indirect=function.indirect | specification.indirect,
        text=clip(f"{function.text} {specification.text}"),
    )


def window_specification(call: Call) -> Column:
    """Partition and order: influences of this one column."""
    keys = [argument for argument in call.arguments if argument.direct != CONSTANT]
    text = ", ".join(key.text for key in keys)
    by = influences(keys, Kind.WINDOW_DEPENDENCY)
    return Column(indirect=by, text=f"over({text})")


def frame(call: Call) -> Column:
    """`ROWS BETWEEN …`: no columns."""
    return Column(CONSTANT, text=call.node.name.rstrip("$"))


def pivot_first(call: Call) -> Column:
    """What `pivot` makes: the value of the row whose pivot column has this column's value."""
    pivot_column, value, *_ = call.arguments
    result = combine([value], Kind.AGGREGATE, value.text)
    return replace(result, indirect=result.indirect | influences([pivot_column], Kind.CONDITIONAL))


AGGREGATES: dict[str, Rule] = {
    "AggregateExpression": aggregate_expression,
    "WindowExpression": window,
    "WindowSpecDefinition": window_specification,
    "PivotFirst": pivot_first,
    **rules(collected, "CollectList CollectSet"),
    **rules(one_of, "MaxBy MinBy First Last AnyValue"),
    **rules(extreme, "Max Min Mode"),
    "ListAgg": listed,
    **rules(count, COUNTS),
    **rules(rank, RANKS),
    **rules(frame, "SpecifiedWindowFrame UnboundedPreceding$ UnboundedFollowing$ CurrentRow$ UnspecifiedFrame$"),
}
