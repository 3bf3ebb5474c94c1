"""Columns in standard words: paths → the schema facet's fields, edges → columnLineage facets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from headwater_openlineage.reading import Json
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    SchemaDefinition,
    TransformationKind,
    TransformationType,
)

_STEP: Final = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
_NAMES: Final = {"[]": "_element", "{}": "value"}
_SUBTYPES: Final = {
    TransformationKind.COPY: ("DIRECT", "IDENTITY"),
    TransformationKind.RENAME: ("DIRECT", "IDENTITY"),
    TransformationKind.CAST: ("DIRECT", "TRANSFORMATION"),
    TransformationKind.HASH: ("DIRECT", "TRANSFORMATION"),
    TransformationKind.MASK: ("DIRECT", "TRANSFORMATION"),
    TransformationKind.DERIVE: ("DIRECT", "TRANSFORMATION"),
    TransformationKind.AGGREGATE: ("DIRECT", "AGGREGATION"),
    TransformationKind.FILTER_DEPENDENCY: ("INDIRECT", "FILTER"),
    TransformationKind.JOIN_DEPENDENCY: ("INDIRECT", "JOIN"),
    TransformationKind.GROUP_DEPENDENCY: ("INDIRECT", "GROUP_BY"),
    TransformationKind.SORT_DEPENDENCY: ("INDIRECT", "SORT"),
    TransformationKind.WINDOW_DEPENDENCY: ("INDIRECT", "WINDOW"),
    TransformationKind.CONDITIONAL: ("INDIRECT", "CONDITIONAL"),
}


def steps(path: str) -> list[str]:
    """The names of nested fields in a path; a path of another notation is one name."""
    found: list[str] = []
    at = 0
    while at <= len(path):
        step = _STEP.match(path, at)
        if step is None or (step.end() < len(path) and path[step.end()] != "."):
            return [path]
        found.append(step[2] if step[2] is not None else step[1].replace("``", "`"))
        at = step.end() + 1
    return found


def field_name(path: str) -> str:
    """A field's name in a columnLineage facet: as it is where it is of the top level, else its path."""
    found = steps(path)
    return found[0] if len(found) == 1 else path


def schema_fields(schema: SchemaDefinition) -> list[Json]:
    """The fields of a schema facet, nested as their paths are."""
    top: list[Json] = []
    by_path: dict[tuple[str, ...], Json] = {}
    for field in schema.fields:
        names = steps(field.path)
        entry: Json = {"name": _NAMES.get(names[-1], names[-1]) if len(names) > 1 else names[-1]}
        if field.type is not None:
            entry["type"] = field.type
        if field.description is not None:
            entry["description"] = field.description
        parent = by_path.get(tuple(names[:-1]))
        (top if parent is None else parent.setdefault("fields", [])).append(entry)
        by_path[tuple(names)] = entry
    return top


def column_lineage_facets(lineage: ColumnLineage) -> Mapping[DatasetRef, Json]:
    """By output: `fields` and `dataset` of its columnLineage facet. Edges from a whole dataset have no place there."""
    texts = {expression.id: expression.text for expression in lineage.expressions}
    found: dict[DatasetRef, Json] = {}
    grouped: dict[tuple[int, str | None, int, str], Json] = {}
    for edge in lineage.edges:
        facet = found.setdefault(lineage.datasets[edge.output], {"fields": {}})
        inputs: list[Json]
        if edge.output_field is None:
            inputs = facet.setdefault("dataset", [])
        else:
            inputs = facet["fields"].setdefault(field_name(edge.output_field), {"inputFields": []})["inputFields"]
        if edge.input is None or edge.input_field is None:
            continue
        source = lineage.datasets[edge.input]
        key = (edge.output, edge.output_field, edge.input, edge.input_field)
        if key not in grouped:
            grouped[key] = {
                "namespace": source.namespace,
                "name": source.name,
                "field": field_name(edge.input_field),
                "transformations": [],
            }
            inputs.append(grouped[key])
        grouped[key]["transformations"].append(_transformation(edge, texts))
    return found


def _transformation(edge: ColumnEdge, texts: Mapping[str, str]) -> Json:
    type_, subtype = _SUBTYPES.get(edge.kind, (None, None))
    if edge.type is not TransformationType.UNKNOWN:
        subtype = subtype if edge.type.value == type_ else None
        type_ = edge.type.value
    found: Json = {"type": type_ or "INDIRECT"}
    if edge.subtype or subtype:
        found["subtype"] = edge.subtype or subtype
    if edge.masking:
        found["masking"] = True
    if edge.expression is not None and edge.expression in texts:
        found["description"] = texts[edge.expression]
    return found
