"""Columns: conversion between schema facets and paths, and between columnLineage facets and edges.

A path consists of the names of nested fields, joined by `.` (`headwater_schemas.events.ColumnEdge`). OpenLineage's
Spark agent represents array elements as a field `_element` and map values as `value`; in a path they are `[]` and `{}`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from headwater_openlineage.facets import is_deleted
from headwater_openlineage.reading import Json, flag, given_text, members, need_dataset, rows, text
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    Expression,
    SchemaDefinition,
    SchemaField,
    TransformationKind,
    TransformationType,
)
from headwater_schemas.reasons import no_schema_of, no_source_of

_INSIDE: Final = {("array", "_element"): "[]", ("map", "value"): "{}"}
"""Step of a path for the field inside an array or map, by the parent's type and the field's name in a document."""
_TYPES: Final = {type_.value: type_ for type_ in TransformationType}
_KINDS: Final = {
    ("DIRECT", "IDENTITY"): TransformationKind.COPY,
    ("DIRECT", "TRANSFORMATION"): TransformationKind.DERIVE,
    ("DIRECT", "AGGREGATION"): TransformationKind.AGGREGATE,
    ("INDIRECT", "JOIN"): TransformationKind.JOIN_DEPENDENCY,
    ("INDIRECT", "GROUP_BY"): TransformationKind.GROUP_DEPENDENCY,
    ("INDIRECT", "FILTER"): TransformationKind.FILTER_DEPENDENCY,
    ("INDIRECT", "SORT"): TransformationKind.SORT_DEPENDENCY,
    ("INDIRECT", "WINDOW"): TransformationKind.WINDOW_DEPENDENCY,
    ("INDIRECT", "CONDITIONAL"): TransformationKind.CONDITIONAL,
}

_OLDER: Final[Mapping[str, Json]] = {
    "IDENTITY": {"type": "DIRECT", "subtype": "IDENTITY"},
    "MASKED": {"type": "DIRECT", "masking": True},
}
"""Transformation for each `transformationType`, a member of facets older than 1-1-0."""


def path_step(name: str) -> str:
    """Return a field's name as a step of a path: in backquotes if it contains `.` or a backquote."""
    if "." in name or "`" in name:
        return f"`{name.replace('`', '``')}`"
    return name


def schema_of(facet: Json, at: str) -> SchemaDefinition:
    """Return the fields of a schema facet, each path once: the first of several fields with one name.

    Raises:
        Refused: a field has no name, or an unexpected shape.
    """
    if is_deleted(facet):
        return SchemaDefinition(())
    found: dict[str, SchemaField] = {}
    waiting = [(item, where, "", "") for item, where in reversed(list(rows(facet, "fields", at)))]
    while waiting:
        item, where, parent_path, parent_type = waiting.pop()
        name = given_text(item, "name", where)
        type_ = text(item, "type", where)
        last = _INSIDE.get((parent_type.partition("<")[0].lower(), name)) or path_step(name)
        path = f"{parent_path}.{last}" if parent_path else last
        description = text(item, "description", where)
        found.setdefault(path, SchemaField(path=path, type=type_, description=description))
        waiting += [(inner, there, path, type_ or "") for inner, there in reversed(list(rows(item, "fields", where)))]
    return SchemaDefinition(tuple(found.values()))


@dataclass(slots=True)
class CollectedEdges:
    """Collector of edges from the facets of one document.

    Attributes:
        top_level: for each dataset whose schema the document has: names of its top-level fields.
        edges: edges; their `output` and `input` are indices of `datasets`.
        datasets: index of each dataset in the lineage's table of datasets.
        covered: for each output: names of its fields that have sources in the facets.
    """

    top_level: Mapping[DatasetRef, tuple[str, ...]]
    edges: list[ColumnEdge] = field(default_factory=list)
    datasets: dict[DatasetRef, int] = field(default_factory=dict)
    expressions: dict[str, Expression] = field(default_factory=dict)
    covered: dict[DatasetRef, set[str]] = field(default_factory=dict)

    def index(self, dataset: DatasetRef) -> int:
        """Return the dataset's index in the table of datasets."""
        return self.datasets.setdefault(dataset, len(self.datasets))

    def path(self, dataset: DatasetRef, name: str) -> str:
        """Return the path of a field by its name in a facet."""
        return path_step(name) if "`" in name or name in self.top_level.get(dataset, ()) else name

    def cover(self, dataset: DatasetRef, name: str) -> None:
        """Record that the facets have sources of a field."""
        self.covered.setdefault(dataset, set()).add(name)

    def add(
        self,
        output: tuple[DatasetRef, str | None],
        source: tuple[DatasetRef, str | None] | None,
        transformation: Json,
        at: str,
        default: TransformationType = TransformationType.UNKNOWN,
    ) -> None:
        """Add an edge.

        Args:
            output: dataset and path of the output field; without a path: every field of the dataset.
            source: dataset and path of the input field; without a path: the whole dataset. None: no known source.
            transformation: item of the facet's `transformations`.
            at: JSON pointer of the transformation, for errors.
            default: type of the edge if the transformation has none.

        Raises:
            Refused: the transformation has an unexpected shape.
        """
        type_ = _TYPES.get((text(transformation, "type", at) or "").upper(), default)
        subtype = (text(transformation, "subtype", at) or "").upper() or None
        masking = flag(transformation, "masking", at) or False
        description = text(transformation, "description", at)
        self.edges.append(
            ColumnEdge(
                output=self.index(output[0]),
                output_field=output[1],
                input=self.index(source[0]) if source is not None else None,
                input_field=source[1] if source is not None else None,
                type=type_,
                subtype=subtype,
                kind=_kind(type_, subtype, masking=masking, renamed=source is not None and output[1] != source[1]),
                masking=masking,
                expression=self._expression(description) if description else None,
            )
        )

    def _expression(self, described: str) -> str:
        id_ = hashlib.blake2b(described.encode(), digest_size=8).hexdigest()
        self.expressions[id_] = Expression(id_, described)
        return id_

    def finished(self, outputs: Sequence[DatasetRef]) -> ColumnLineage | None:
        """Return the collected lineage; None if there is no edge.

        Args:
            outputs: every output of the document. The lineage is complete if each output has a schema and sources for
                all its columns.
        """
        if not self.edges:
            return None
        reasons = [
            reason(", ".join(found[:5]))
            for reason, found in (
                (no_source_of, [each.name for each in outputs if not self._has_sources_of_all(each)]),
                (no_schema_of, [each.name for each in outputs if not self._has_schema_of(each)]),
            )
            if found
        ]
        return ColumnLineage(
            datasets=tuple(self.datasets),
            edges=tuple(self.edges),
            expressions=tuple(self.expressions.values()),
            complete=not reasons,
            incomplete_reason="; ".join(reasons) or None,
        )

    def _has_sources_of_all(self, output: DatasetRef) -> bool:
        covered = self.covered.get(output, set())
        return bool(covered) and covered.issuperset(self.top_level.get(output, ()))

    def _has_schema_of(self, output: DatasetRef) -> bool:
        """Return True if the schema is present and complete: dbt's schemas have only documented columns."""
        names = self.top_level.get(output, ())
        return bool(names) and all(
            each in names or each.split(".")[0] in names for each in self.covered.get(output, ())
        )


def _kind(type_: TransformationType, subtype: str | None, *, masking: bool, renamed: bool) -> TransformationKind:
    if masking:
        return TransformationKind.MASK
    kind = _KINDS.get((type_.value, subtype or ""), TransformationKind.UNKNOWN)
    return TransformationKind.RENAME if kind is TransformationKind.COPY and renamed else kind


def read_column_lineage(facet: Json, at: str, output: DatasetRef, lineage: CollectedEdges) -> None:
    """Add the edges of a columnLineage facet to `lineage`.

    Raises:
        Refused: the facet has an unexpected shape.
    """
    if is_deleted(facet):
        return
    for name, entry, where in members(facet, "fields", at):
        path = lineage.path(output, name)
        lineage.cover(output, name)
        older = _older(entry, where)
        for source, transformations, there in _sources(entry, "inputFields", where, lineage):
            for transformation in transformations or [older]:
                lineage.add((output, path), source, transformation, there)
    for source, transformations, there in _sources(facet, "dataset", at, lineage):
        for transformation in transformations or [{}]:
            lineage.add((output, None), source, transformation, there, TransformationType.INDIRECT)


def _older(entry: Json, at: str) -> Json:
    """Return the transformation of a field in a facet older than 1-1-0, which is common to all inputs of the field."""
    kind = (text(entry, "transformationType", at) or "").upper()
    described = text(entry, "transformationDescription", at)
    found = _OLDER.get(kind, {})
    return {**found, "description": described} if described else dict(found)


def _sources(
    entry: Json, name: str, at: str, lineage: CollectedEdges
) -> Iterator[tuple[tuple[DatasetRef, str], list[Json], str]]:
    """Yield each source in the member `name`: dataset and path, transformations, and the source's JSON pointer."""
    for item, where in rows(entry, name, at):
        dataset = need_dataset(item, where)
        path = lineage.path(dataset, given_text(item, "field", where))
        yield (dataset, path), [row for row, _ in rows(item, "transformations", where)], where


def top_level_names(facet: Json, at: str) -> tuple[str, ...]:
    """List the names of a schema facet's top-level fields, in order.

    Raises:
        Refused: the fields aren't an array of objects.
    """
    return tuple(name for item, _ in rows(facet, "fields", at) if isinstance(name := item.get("name"), str))


_STEP: Final = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
_NAMES: Final = {"[]": "_element", "{}": "value"}
"""Names of fields in a document for the steps `[]` and `{}` of a path."""
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
    """Split a path into names of nested fields; a path in another notation is one name."""
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
    """Return a field's name in a columnLineage facet: its name at the top level, else its path."""
    found = steps(path)
    return found[0] if len(found) == 1 else path


def schema_fields(schema: SchemaDefinition) -> list[Json]:
    """Make the fields of a schema facet, nested according to their paths."""
    top: list[Json] = []
    by_path: dict[tuple[str, ...], Json] = {}
    for column in schema.fields:
        names = steps(column.path)
        entry: Json = {"name": _NAMES.get(names[-1], names[-1]) if len(names) > 1 else names[-1]}
        if column.type is not None:
            entry["type"] = column.type
        if column.description is not None:
            entry["description"] = column.description
        parent = by_path.get(tuple(names[:-1]))
        (top if parent is None else parent.setdefault("fields", [])).append(entry)
        by_path[tuple(names)] = entry
    return top


def column_lineage_facets(lineage: ColumnLineage) -> Mapping[DatasetRef, Json]:
    """Return the columnLineage facet (`fields`, `dataset`) of each output. Edges from a whole dataset are left out."""
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
