"""Conditional expressions: the value comes from the branches, and is influenced by the conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headwater_producers.spark.plan.column import ValueLineage, combine, influences
from headwater_producers.spark.plan.expressions.call import Call, Rule, rules
from headwater_producers.spark.plan.structure import as_one, influenced, merge, stepped
from headwater_schemas.events import TransformationKind as Kind


def case_when(call: Call) -> ValueLineage:
    """Read `CASE`: alternating conditions and values, then perhaps ELSE."""
    arguments = call.arguments
    conditions = arguments[: len(arguments) - len(arguments) % 2 : 2]
    values = list(arguments[1::2])
    if len(arguments) % 2:
        values.append(arguments[-1])
    return choose(call, conditions, values)


def if_else(call: Call) -> ValueLineage:
    """Read `IF(condition, value, other)`."""
    condition, *values = call.arguments
    return choose(call, [condition], values)


def null_if(call: Call) -> ValueLineage:
    """Read `NULLIF` of Spark 4.3 or later: a comparison, and the value, which is null if the comparison is true."""
    equal, value = call.arguments
    return choose(call, [equal], [value])


def coalesce(call: Call) -> ValueLineage:
    """Read `COALESCE`: the first value that isn't null. Earlier values decide, and are sources in any case."""
    return choose(call, [], call.arguments)


def extreme(call: Call) -> ValueLineage:
    """Read `GREATEST`, `LEAST`: whole values are compared, so earlier fields of a struct also decide the choice."""
    one = choose(call, [], call.arguments)
    return as_one(one, influences(call.arguments, Kind.CONDITIONAL, call.text))


def choose(call: Call, conditions: Sequence[ValueLineage], values: Sequence[ValueLineage]) -> ValueLineage:
    """Return a column that is one of `values`, chosen by `conditions`."""
    result = combine(values, Kind.DERIVE, call.text, whole=True)
    # Structure and possible constants are kept; each part is derived, since it may come from another branch.
    one = merge(values, call.text)
    by = influences(conditions, Kind.CONDITIONAL)
    return replace(
        result,
        indirect=result.indirect | by,
        constants=one.constants,
        parts={name: influenced(stepped(item, Kind.DERIVE), by) for name, item in one.parts.items()},
        encoded=influenced(stepped(one.encoded, Kind.DERIVE), by) if one.encoded else None,
        type=next((value.type for value in values if value.type not in (None, "void")), None),
    )


CONDITIONAL: dict[str, Rule] = {
    "CaseWhen": case_when,
    "If": if_else,
    "NullIfResult": null_if,
    **rules(coalesce, "Coalesce NaNvl"),
    **rules(extreme, "Greatest Least"),
}
