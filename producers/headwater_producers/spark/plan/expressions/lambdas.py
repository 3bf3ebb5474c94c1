"""Higher-order functions. A lambda's variables are `Variable`s until the function that calls it binds them."""

from __future__ import annotations

from dataclasses import replace

from headwater_producers.spark.plan.column import (
    CONSTANT,
    ELEMENT,
    VALUE,
    Column,
    Direct,
    Variable,
    bind,
    combine,
    influences,
    part,
    part_type,
)
from headwater_producers.spark.plan.expressions.call import Call, Rule, rules
from headwater_producers.spark.plan.tree import expression_id
from headwater_schemas.events import TransformationKind as Kind


def variable(call: Call) -> Column:
    """A parameter of a lambda."""
    number = expression_id(call.node.fields)
    # `x_1`: Spark numbers them from the start of the driver.
    name = str(call.node.get("name")).rsplit("_", 1)[0]
    if number is None:
        return call.step(Kind.UNKNOWN)
    direct = frozenset({Direct(Variable(number), Kind.COPY, whole=True)})
    return Column(direct, text=name, type=call.node.get("dataType"), parameters=(number,))


def lambda_function(call: Call) -> Column:
    """`(x, i) -> body`."""
    body, *parameters = call.arguments
    names = ", ".join(p.text for p in parameters)
    return replace(
        body,
        parameters=tuple(p.parameters[0] for p in parameters if p.parameters),
        text=f"({names}) -> {body.text}",
    )


def transform(call: Call) -> Column:
    """`transform(array, x -> …)`: the elements are the lambda's."""
    array, function = call.arguments
    body = _bound(function, [part(array, ELEMENT)])
    return replace(
        combine([body], Kind.DERIVE, call.text),
        parts={ELEMENT: body},
        type={"type": "array", "elementType": body.type},
    )


def filter_elements(call: Call) -> Column:
    """`filter(array, x -> …)`: some of the elements."""
    array, function = call.arguments
    condition = _bound(function, [part(array, ELEMENT)])
    by = influences([condition], Kind.CONDITIONAL)
    element = part(array, ELEMENT)
    element = replace(element, indirect=element.indirect | by)
    return replace(
        combine([array], Kind.DERIVE, call.text),
        indirect=array.indirect | by,
        parts={ELEMENT: element},
        type=array.type,
    )


def transform_values(call: Call) -> Column:
    """`transform_values(map, (k, v) -> …)`."""
    source, function = call.arguments
    body = _bound(function, [source, part(source, VALUE)])
    return replace(
        combine([source, body], Kind.DERIVE, call.text),
        parts={VALUE: body},
        type={"type": "map", "valueType": body.type},
    )


def fold(call: Call) -> Column:
    """`aggregate(array, zero, (acc, x) -> …, acc -> …)`: the accumulator is made of the zero and the elements."""
    array, zero, *functions = call.arguments
    accumulator = combine([zero, array], Kind.DERIVE, "acc")
    for function in functions:
        accumulator = combine([_bound(function, [accumulator, part(array, ELEMENT)]), zero], Kind.DERIVE, "acc")
    return replace(accumulator, text=call.text)


def any_of(call: Call) -> Column:
    """Any other: a parameter may be any part of any other argument."""
    functions = [a for a in call.arguments if a.parameters]
    values = [a for a in call.arguments if not a.parameters]
    any_value = combine([_parts(v) for v in values], Kind.DERIVE, "element")
    bodies = [bind(f, dict.fromkeys(f.parameters, any_value)) for f in functions]
    return combine([*values, *bodies], Kind.DERIVE, call.text)


def _parts(column: Column) -> Column:
    known = part_type(column.type, ELEMENT) is not None or ELEMENT in column.parts
    return part(column, ELEMENT) if known else column


def _bound(function: Column, values: list[Column]) -> Column:
    # A parameter beyond the values is an index, which comes from no field.
    index = Column(CONSTANT, text="index")
    variables = {n: values[i] if i < len(values) else index for i, n in enumerate(function.parameters)}
    return replace(bind(function, variables), parameters=())


LAMBDAS: dict[str, Rule] = {
    "NamedLambdaVariable": variable,
    "LambdaFunction": lambda_function,
    "ArrayTransform": transform,
    "ArrayFilter": filter_elements,
    "TransformValues": transform_values,
    "ArrayAggregate": fold,
    **rules(any_of, "ArrayExists ArrayForAll ArraySort ZipWith TransformKeys MapFilter MapZipWith"),
}
