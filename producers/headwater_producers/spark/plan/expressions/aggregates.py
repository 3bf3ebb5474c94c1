"""Aggregate and window functions."""

from __future__ import annotations

import re
from dataclasses import replace

from headwater_producers.spark.plan.column import (
    CONSTANT,
    ELEMENT,
    LENGTH,
    DirectSource,
    FieldRef,
    Indirect,
    ValueLineage,
    clip,
    combine,
    influences,
)
from headwater_producers.spark.plan.expressions.call import Call, Rule, rules
from headwater_producers.spark.plan.structure import as_one, influenced, merge, stepped
from headwater_producers.spark.plan.text import function_name
from headwater_schemas.events import TransformationKind as Kind

_NEGATIVE = re.compile(r"negative\((?P<some>.*)\)|-(?P<number>.*)")

RANKS = "RowNumber Rank DenseRank PercentRank CumeDist NTile"
"""Ranking functions. Their arguments are the window's order, or a constant."""

COUNTS = "Count CountIf HyperLogLogPlusPlus HllSketchAgg CountMinSketchAgg RegrCount Grouping GroupingID"
"""Counting functions. Their results don't reveal the values that were counted, or hashed for the count."""


def aggregate_expression(call: Call) -> ValueLineage:
    """Read the node around an aggregate function, with its FILTER: `sum(x) FILTER (WHERE y)`."""
    function, *conditions = call.arguments
    by = influences(conditions, Kind.FILTER_DEPENDENCY)
    distinct = bool(call.node.get("isDistinct"))
    text = function.text.replace("(", "(distinct ", 1) if distinct else function.text
    # A function without a rule is still an aggregate of many rows.
    return influenced(stepped(function, Kind.AGGREGATE, text), by)


def aggregate(call: Call) -> ValueLineage:
    """Read a function of many rows. Over constants (`count(*)`, `sum(1)`) its sources are the rows themselves."""
    return _aggregate(call, masking=False)


def count(call: Call) -> ValueLineage:
    """Aggregate to a count: only the number of rows remains."""
    return _aggregate(call, masking=True)


def _aggregate(call: Call, *, masking: bool) -> ValueLineage:
    result = call.step(Kind.AGGREGATE, masking=masking)
    if any(d.kind is not Kind.CONSTANT for d in result.direct) or call.node.name.startswith("Grouping"):
        return result
    return replace(result, direct=_rows(call, Kind.AGGREGATE, masking=masking))


def _rows(call: Call, kind: Kind, *, masking: bool = False) -> frozenset[DirectSource]:
    return frozenset(DirectSource(FieldRef(dataset), kind, masking=masking) for dataset in call.scope.rows) or CONSTANT


def collected(call: Call) -> ValueLineage:
    """Read `collect_list(x)` and `freqItems`: an array whose elements are the values; in a set, each once."""
    value = call.arguments[0]
    element = stepped(value, Kind.AGGREGATE)
    if call.node.name == "CollectSet":
        element = as_one(element, influences([value], Kind.CONDITIONAL, call.text))
    parts = {ELEMENT: element}
    if call.node.name == "CollectList" and value.text.startswith("struct("):
        # A collected array is never null: its length is the number of rows.
        parts[LENGTH] = ValueLineage(_rows(call, Kind.AGGREGATE, masking=True))
    data_type = {"type": "array", "elementType": value.type}
    return replace(call.step(Kind.AGGREGATE), parts=parts, type=data_type)


def one_of(call: Call) -> ValueLineage:
    """Read `first(x)`, `max_by(x, y)`: the value of one row, which `y` picks."""
    value, *order = call.arguments
    return influenced(stepped(value, Kind.AGGREGATE, call.text), influences(order, Kind.CONDITIONAL))


def row_at_offset(call: Call) -> ValueLineage:
    """Read `lag(x, 1, y)`, `nth_value(x, 2)`: the value of another row, `y` if there is no such row."""
    value, _, *default = call.arguments
    values = [value, *(column for column in default if column.direct != CONSTANT)]
    return stepped(merge(values, call.text), Kind.DERIVE, call.text)


def extreme(call: Call) -> ValueLineage:
    """Read `max(x)`: the value of one row; parts of a struct or an array come from the same row."""
    value = call.arguments[0]
    if not any(True for _ in value.sources):
        return aggregate(call)
    return as_one(stepped(value, Kind.AGGREGATE, call.text), influences([value], Kind.CONDITIONAL, call.text))


def listed(call: Call) -> ValueLineage:
    """Read `listagg(x, ',') WITHIN GROUP (ORDER BY y)`."""
    value, delimiter, *order = call.arguments
    result = call.step(Kind.AGGREGATE, [value, delimiter])
    return replace(result, indirect=result.indirect | influences(order, Kind.SORT_DEPENDENCY))


def rank(call: Call) -> ValueLineage:
    """Read a rank, which comes only from the order of rows; the window has the ordering columns."""
    return ValueLineage(text=f"{function_name(call.node.name)}()")


def window(call: Call) -> ValueLineage:
    """Read `function OVER (PARTITION BY … ORDER BY …)`."""
    function, specification = call.arguments
    if not function.direct and not specification.indirect:
        # Rank among all rows: no column orders or partitions the rows.
        function = replace(function, direct=_rows(call, Kind.AGGREGATE))
    text = clip(f"{function.text} {specification.text}")
    return replace(influenced(function, specification.indirect), text=text)


def window_specification(call: Call) -> ValueLineage:
    """Read partition and order: influences on this column, each with its clause."""
    *keys, bounds = call.arguments
    parted = len(call.node.get("partitionSpec") or ())
    clauses = {"partition by": keys[:parted], "order by": keys[parted:]}
    by: frozenset[Indirect] = frozenset()
    parts = []
    for clause, columns in clauses.items():
        varying = [column for column in columns if column.direct != CONSTANT]
        by = by.union(*(influences([c], Kind.WINDOW_DEPENDENCY, f"{clause} {c.text}") for c in varying))
        parts += [f"{clause} {', '.join(column.text for column in varying)}"] if varying else []
    parts += [bounds.text] if bounds.text else []
    return ValueLineage(indirect=by, text=f"over({' '.join(parts)})")


def frame(call: Call) -> ValueLineage:
    """Read `ROWS BETWEEN …`: it has no source columns, and Spark's default frame has no text."""
    kind = "rows" if call.node.object_name("frameType") == "RowFrame" else "range"
    bounds = [_bound_text(argument.text) for argument in call.arguments]
    usual = bounds[:1] == ["unbounded preceding"] and bounds[1] in ("current row", "unbounded following")
    # `lag` and `lead` have a frame with equal bounds; their own arguments have the offset.
    plain = len(bounds) != 2 or usual or bounds[0] == bounds[1]
    return ValueLineage(CONSTANT, text="" if plain else f"{kind} between {bounds[0]} and {bounds[1]}")


def _bound_text(text: str) -> str:
    if text.endswith((" preceding", " following", " row")):
        return text
    back = _NEGATIVE.fullmatch(text)
    return f"{back['some'] or back['number']} preceding" if back else f"{text} following"


def frame_bound(call: Call) -> ValueLineage:
    """Read `UNBOUNDED PRECEDING`, `CURRENT ROW`."""
    return ValueLineage(CONSTANT, text=function_name(call.node.name).replace("_", " "))


def pivot_first(call: Call) -> ValueLineage:
    """Read the aggregate of `pivot`: the value of the row whose pivot column has this column's value."""
    pivot_column, value, *_ = call.arguments
    result = combine([value], Kind.AGGREGATE, value.text)
    return replace(result, indirect=result.indirect | influences([pivot_column], Kind.CONDITIONAL))


AGGREGATES: dict[str, Rule] = {
    "AggregateExpression": aggregate_expression,
    "WindowExpression": window,
    "WindowSpecDefinition": window_specification,
    "PivotFirst": pivot_first,
    **rules(collected, "CollectList CollectSet CollectFrequentItems"),
    **rules(one_of, "MaxBy MinBy First Last AnyValue"),
    **rules(row_at_offset, "Lag Lead NthValue"),
    **rules(extreme, "Max Min Mode"),
    "ListAgg": listed,
    **rules(count, COUNTS),
    **rules(rank, RANKS),
    **rules(frame, "SpecifiedWindowFrame UnspecifiedFrame$"),
    **rules(frame_bound, "UnboundedPreceding$ UnboundedFollowing$ CurrentRow$"),
}
