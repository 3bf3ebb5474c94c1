"""Higher-order functions. A lambda's variables are `Variable`s until the calling function binds them."""

from __future__ import annotations

from dataclasses import replace

from headwater_producers.spark.plan.binding import bind
from headwater_producers.spark.plan.column import (
    CONSTANT,
    ELEMENT,
    KEY,
    LENGTH,
    VALUE,
    DirectSource,
    Indirect,
    ValueLineage,
    Variable,
    combine,
    influences,
    inline,
)
from headwater_producers.spark.plan.expressions.call import Call, Rule, rules
from headwater_producers.spark.plan.structure import (
    array_of,
    as_many_as,
    influenced,
    key_of,
    length_of,
    map_of,
    merge,
    part,
    part_type,
    same_sources,
    stepped,
)
from headwater_producers.spark.plan.tree import expression_id
from headwater_schemas.events import TransformationKind as Kind

MAX_STEPS = 16
"""Maximum number of steps of a fold, in which sources can move between parts of the accumulator."""

_NATURAL_ORDER = "(left, right) -> if(((left is null) and (right is null))"
"""Spark's default comparison for `array_sort`."""


def variable(call: Call) -> ValueLineage:
    """Read a parameter of a lambda."""
    number = expression_id(call.node.fields)
    # `x_1`: Spark numbers variables from the driver's start.
    name = str(call.node.get("name")).rsplit("_", 1)[0]
    if number is None:
        return call.step(Kind.UNKNOWN)
    direct = frozenset({DirectSource(Variable(number), Kind.COPY, whole=True)})
    return ValueLineage(direct, text=name, type=call.node.get("dataType"), parameters=(number,))


def lambda_function(call: Call) -> ValueLineage:
    """Read `(x, i) -> body`."""
    body, *parameters = call.arguments
    names = ", ".join(p.text for p in parameters)
    return replace(
        body,
        parameters=tuple(p.parameters[0] for p in parameters if p.parameters),
        text=f"({names}) -> {body.text}",
    )


def transform(call: Call) -> ValueLineage:
    """Read `transform(array, x -> …)`, `zip_with(a, b, (x, y) -> …)`: the elements are the lambda's results."""
    *arrays, function = call.arguments
    length = length_of(arrays)
    body = influenced(_bound(function, [part(array, ELEMENT) for array in arrays]), length.indirect)
    return array_of(body, as_many_as(length, combine([body], Kind.DERIVE, call.text)), length=length)


def filter_elements(call: Call) -> ValueLineage:
    """Read `filter(array, x -> …)`: some of the elements."""
    array, function = call.arguments
    condition = _bound(function, [part(array, ELEMENT)])
    by = influences([condition], Kind.CONDITIONAL)
    return replace(
        combine([array], Kind.DERIVE, call.text),
        indirect=array.indirect | by,
        parts={ELEMENT: influenced(part(array, ELEMENT), by), LENGTH: influenced(length_of([array]), by)},
        type=array.type,
    )


def filter_values(call: Call) -> ValueLineage:
    """Read `map_filter(map, (k, v) -> …)`: some of the values."""
    source, function = call.arguments
    by = influences([_bound(function, [key_of(source), part(source, VALUE)])], Kind.CONDITIONAL)
    parts = {VALUE: part(source, VALUE), LENGTH: length_of([source])}
    parts |= {KEY: source.parts[KEY]} if KEY in source.parts else {}
    return replace(
        combine([source], Kind.DERIVE, call.text),
        indirect=source.indirect | by,
        parts={step: influenced(item, by) for step, item in parts.items()},
        type=source.type,
    )


def transform_values(call: Call) -> ValueLineage:
    """Read `transform_values(map, (k, v) -> …)`: the keys stay, known ones with new values."""
    source, function = call.arguments
    key, length = key_of(source), length_of([source])
    body = influenced(_bound(function, [key, part(source, VALUE)]), length.indirect)
    return map_of(body, combine([source, body], Kind.DERIVE, call.text), key, length=length)


def transform_keys(call: Call) -> ValueLineage:
    """Read `transform_keys(map, (k, v) -> …)`: the values stay."""
    source, function = call.arguments
    body = _bound(function, [key_of(source), part(source, VALUE)])
    base = combine([source, body], Kind.DERIVE, call.text)
    return map_of(part(source, VALUE), base, body, length=length_of([source]))


def zip_maps(call: Call) -> ValueLineage:
    """Read `map_zip_with(a, b, (k, x, y) -> …)`."""
    left, right, function = call.arguments
    keys = [key_of(left), key_of(right)]
    key = combine(keys, Kind.COPY, f"one of({', '.join(dict.fromkeys(inline(each) for each in keys))})")
    length = combine([length_of([left, right]), key], Kind.DERIVE, "size")
    body = influenced(_bound(function, [key, part(left, VALUE), part(right, VALUE)]), length.indirect)
    return map_of(body, combine([left, right, body], Kind.DERIVE, call.text), key, length=length)


def sort_elements(call: Call) -> ValueLineage:
    """Read `array_sort(array, (a, b) -> …)`: the same elements; the sources of the comparison influence their order."""
    array, function = call.arguments
    element = part(array, ELEMENT)
    natural = len(function.parameters) == 2 and function.text.startswith(_NATURAL_ORDER)
    text = f"array_sort({inline(array)})" if natural else call.text
    by = influences([_bound(function, [element, element])], Kind.SORT_DEPENDENCY, text)
    by = frozenset(Indirect(i.field, Kind.SORT_DEPENDENCY, i.masking, text) for i in by)
    return array_of(
        influenced(element, by),
        replace(combine([array], Kind.DERIVE, text), indirect=array.indirect | by),
        length=length_of([array]),
    )


def fold(call: Call) -> ValueLineage:
    """Read `aggregate(array, zero, (acc, x) -> …, acc -> …)`: the accumulator comes from the zero and the elements.

    The result of one step goes into the next, until no step adds a source.
    """
    array, zero, step, *finish = call.arguments
    element = part(array, ELEMENT)
    accumulator = replace(zero, text="acc")
    for _ in range(MAX_STEPS):
        after = merge([accumulator, _bound(step, [accumulator, element])], "acc")
        if same_sources(after, accumulator):
            break
        accumulator = after
    # The number of steps is the number of elements, or of elements that meet a condition: `(acc, x) -> acc + 1`.
    last = as_many_as(length_of([array]), accumulator)
    return stepped(_bound(finish[0], [last]) if finish else last, Kind.DERIVE, call.text)


def elements_that(call: Call) -> ValueLineage:
    """Read `exists(array, x -> …)`, `forall`: a test of the elements; the array may be empty."""
    array, function = call.arguments
    return combine([array, _bound(function, [part(array, ELEMENT)])], Kind.DERIVE, call.text)


def any_of(call: Call) -> ValueLineage:
    """Read a higher-order function without a rule: a parameter may be any part of any other argument."""
    functions = [a for a in call.arguments if a.parameters]
    values = [a for a in call.arguments if not a.parameters]
    any_value = combine([_parts(v) for v in values], Kind.DERIVE, "element")
    bodies = [bind(f, dict.fromkeys(f.parameters, any_value)) for f in functions]
    return combine([*values, *bodies], Kind.DERIVE, call.text)


def _parts(column: ValueLineage) -> ValueLineage:
    known = part_type(column.type, ELEMENT) is not None or ELEMENT in column.parts
    return part(column, ELEMENT) if known else column


def _bound(function: ValueLineage, values: list[ValueLineage]) -> ValueLineage:
    # A parameter beyond the values is an index, which comes from no field.
    index = ValueLineage(CONSTANT, text="index")
    variables = {n: values[i] if i < len(values) else index for i, n in enumerate(function.parameters)}
    return replace(bind(function, variables), parameters=())


LAMBDAS: dict[str, Rule] = {
    "NamedLambdaVariable": variable,
    "LambdaFunction": lambda_function,
    **rules(transform, "ArrayTransform ZipWith"),
    "ArrayFilter": filter_elements,
    "ArraySort": sort_elements,
    "MapFilter": filter_values,
    "MapZipWith": zip_maps,
    "TransformKeys": transform_keys,
    "TransformValues": transform_values,
    "ArrayAggregate": fold,
    **rules(elements_that, "ArrayExists ArrayForAll"),
}
