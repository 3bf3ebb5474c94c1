"""Binding of variables: parameters of lambdas, common expressions and recursions, replaced by their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from headwater_producers.spark.plan.column import (
    CONSTANT,
    DirectSource,
    Indirect,
    Path,
    ValueLineage,
    Variable,
    influences,
)
from headwater_producers.spark.plan.structure import merge, part, stepped


def bind(column: ValueLineage, variables: Mapping[int, ValueLineage]) -> ValueLineage:
    """Replace variables by their values."""
    direct: set[DirectSource] = set()
    indirect = bind_influences(column.indirect, variables)
    whole: list[ValueLineage] = []
    for d in column.direct:
        if isinstance(d.field, Variable) and d.field.id in variables:
            value = _descend(variables[d.field.id], d.field.path)
            direct.update(s.then(d.kind, masking=d.masking, whole=d.whole) for s in value.direct)
            indirect |= value.indirect
            whole += [stepped(value, d.kind)] if d.whole else []
        else:
            direct.add(d)
            whole += [ValueLineage(frozenset({d}), type=column.type)]
    if any(d.field is not None for d in direct):
        direct -= CONSTANT
    parts = {name: bind(item, variables) for name, item in column.parts.items()}
    # `x -> x` has the parts of x's value.
    inherited = {name for value in whole for name in value.parts} - parts.keys()
    for name in sorted(inherited):
        parts[name] = merge([part(value, name) for value in whole], name)
    return replace(
        column,
        direct=frozenset(direct),
        indirect=indirect,
        parts=parts,
        encoded=bind(column.encoded, variables) if column.encoded else None,
    )


def bind_influences(found: Iterable[Indirect], variables: Mapping[int, ValueLineage]) -> frozenset[Indirect]:
    """Replace variables in influences by the fields of their values."""
    bound: set[Indirect] = set()
    for i in found:
        if isinstance(i.field, Variable) and i.field.id in variables:
            bound |= influences([_descend(variables[i.field.id], i.field.path)], i.kind, i.text)
        else:
            bound.add(i)
    return frozenset(bound)


def _descend(column: ValueLineage, path: Path) -> ValueLineage:
    for step in path:
        column = part(column, step)
    return column
