"""Transposed frames (`transpose()`): rows become columns."""

from __future__ import annotations

from headwater_producers.spark.plan.column import CONSTANT, DataType, ValueLineage, influences
from headwater_producers.spark.plan.relation import Attribute, Relation
from headwater_producers.spark.plan.schema import type_parts, type_text
from headwater_producers.spark.plan.structure import influenced, merge, recast
from headwater_schemas.events import TransformationKind as Kind


def transposed(below: Relation, index: str, schema: DataType) -> Relation:
    """Read a transpose: one column for the former column names, and one for each row.

    The column of a row is named by the row's value of `index`, and has the values of all other columns.

    Args:
        below: the frame before the transpose.
        index: name of the column whose values name the new columns; if no column has this name, it may be any column.
        schema: schema of the frame after the transpose.
    """
    columns = list(zip(below.output, below.ordered(), strict=True))
    others = [pair for pair in columns if pair[0].name.lower() != index.lower()]
    keys = [column for attribute, column in columns if attribute.name.lower() == index.lower()]
    (first, first_type, _), *rows = type_parts(schema)
    pairs = [(Attribute(-2, first, first_type), ValueLineage(CONSTANT, text=first, type=first_type))]
    by = influences(keys or below.ordered(), Kind.CONDITIONAL)
    for number, (name, data_type, _) in enumerate(rows):
        values = [_as(column, attribute.type, data_type) for attribute, column in others]
        # The ids are negative: Spark's are positive.
        value = influenced(merge(values, "transpose"), by) if values else ValueLineage(CONSTANT)
        pairs.append((Attribute(-3 - number, name, data_type), value))
    return below.with_output(pairs)


def _as(column: ValueLineage, own: DataType, data_type: DataType) -> ValueLineage:
    wanted = type_text(data_type)
    return column if type_text(own) == wanted else recast(column, data_type, f"cast({column.text} as {wanted})")
