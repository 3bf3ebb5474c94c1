"""Generators, which make several rows from one row: a column whose parts `0`, `1` … are the generated columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from headwater_producers.spark.plan.column import CONSTANT, ELEMENT, VALUE, ValueLineage, combine
from headwater_producers.spark.plan.expressions.call import Call, Rule
from headwater_producers.spark.plan.structure import field_names, is_map, key_of, length_of, merge, part
from headwater_schemas.events import TransformationKind as Kind


def explode(call: Call) -> ValueLineage:
    """Read `explode`: the elements, or a map's keys and values."""
    return as_parts(call, _exploded(call), length_of(call.arguments))


def posexplode(call: Call) -> ValueLineage:
    """Read `posexplode`: the position, which depends only on the number of elements, then the columns of `explode`."""
    (collection,) = call.arguments
    position = combine([length_of([collection])], Kind.DERIVE, f"position in {collection.text}")
    return as_parts(call, [position, *_exploded(call)], length_of(call.arguments))


def inline(call: Call) -> ValueLineage:
    """Read `inline(array of structs)`: the fields."""
    element = part(call.arguments[0], ELEMENT)
    return as_parts(call, [part(element, name) for name in field_names(element)], length_of(call.arguments))


def stack(call: Call) -> ValueLineage:
    """Read `stack(n, a, b, c, d)`: n rows; with two columns, each takes every second argument."""
    count, *values = call.arguments
    rows = int(next(iter(count.constants), "1")) if count.constants else 1
    width = -(-len(values) // max(rows, 1))
    return as_parts(call, [merge(values[i::width], call.text) for i in range(width)])


def _exploded(call: Call) -> list[ValueLineage]:
    (collection,) = call.arguments
    if is_map(collection):
        return [key_of(collection), part(collection, VALUE)]
    return [part(collection, ELEMENT)]


def as_parts(call: Call, columns: Iterable[ValueLineage], length: ValueLineage | None = None) -> ValueLineage:
    """Build a generator's column of these parts; `length` determines the number of rows (None: a constant)."""
    parts = {str(i): column for i, column in enumerate(columns)}
    return replace(length or ValueLineage(CONSTANT), text=call.text, parts=parts)


GENERATORS: dict[str, Rule] = {
    "Explode": explode,
    "PosExplode": posexplode,
    "Inline": inline,
    "Stack": stack,
    "GeneratorOuter": lambda call: call.arguments[0],
}
