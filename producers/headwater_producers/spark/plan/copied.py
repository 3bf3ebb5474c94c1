"""Columns of a command that copies a dataset as a whole."""

from __future__ import annotations

from collections.abc import Collection

from headwater_producers.spark.plan.column import DataType, DirectSource, FieldRef, ValueLineage
from headwater_producers.spark.plan.description import PlanInput
from headwater_producers.spark.plan.names import shown_name
from headwater_producers.spark.plan.relation import Attribute, Relation
from headwater_producers.spark.plan.schema import type_parts


def copied(source: PlanInput, schema: DataType, but: Collection[str] = ()) -> Relation:
    """Build the relation of a copy of `source`: each column of `schema` comes from the source's column of that name.

    If the source's columns are unknown (files that are moved), each comes from the dataset as a whole.

    Args:
        but: columns to leave out: the statement itself sets their values.
    """
    named = source.schema is not None
    pairs = []
    for number, (name, data_type, _) in enumerate(part for part in type_parts(schema) if part[0] not in but):
        direct = DirectSource(FieldRef(source.dataset, (name,) if named else None), whole=named)
        # Negative ids: Spark's ids are positive.
        attribute = Attribute(-2 - number, name, data_type)
        pairs.append((attribute, ValueLineage(frozenset({direct}), text=shown_name(name), type=data_type)))
    return Relation(rows=frozenset({source.dataset})).with_output(pairs)
