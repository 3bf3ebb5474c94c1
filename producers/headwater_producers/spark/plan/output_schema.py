"""Output schema: the fields that a plan writes."""

from __future__ import annotations

import msgspec

from headwater_producers.spark.plan.column import DataType
from headwater_producers.spark.plan.edges import OutputField, OutputFields
from headwater_producers.spark.plan.relation import Relation
from headwater_producers.spark.plan.schema import schema_definition, type_parts
from headwater_schemas.events import SchemaDefinition, SchemaField


def output_fields(relation: Relation, schema: DataType) -> tuple[OutputField, ...]:
    """Give the relation's output the types of `schema`, whose columns are in the same order."""
    types = [data_type for _, data_type, _ in type_parts(schema)]
    if len(types) != len(relation.output) or any(attribute.branch for attribute in relation.output):
        types = [attribute.type for attribute in relation.output]
    return tuple(
        OutputField(attribute.name, column, data_type, attribute.branch)
        for attribute, column, data_type in zip(relation.output, relation.ordered(), types, strict=True)
    )


def stored_schema(target: OutputFields, schema: DataType) -> SchemaDefinition:
    """Return the schema of an output; for a topic, with the payload's fields."""
    base = schema_definition(schema)
    if not target.payload:
        return base
    # A topic's field is text or bytes, followed by the payload's fields.
    encoded = {field.name: field.column.encoded for field in target.fields if field.column.encoded}
    fields: list[SchemaField] = []
    for field in base.fields:
        fields.append(field)
        inner = encoded.get(field.path)
        if inner is not None:
            parts = schema_definition(inner.type).fields
            fields += [msgspec.structs.replace(f, path=f"{field.path}.{f.path}") for f in parts]
    return SchemaDefinition(tuple(fields))
