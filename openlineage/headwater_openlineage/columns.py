"""Columns: the schema facet's fields ⇄ paths, and the columnLineage facet ⇄ edges of a column lineage.

A path is the names of nested fields joined by `.` (`headwater_schemas.events.ColumnEdge`). OpenLineage's Spark agent
has elements of an array as a field `_element` and values of a map as `value`; they are `[]` and `{}` here.
"""

from __future__ import annotations

import hashlib
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


def path_step(name: str) -> str:
    """A field's name as a step of a path: in backquotes where it has what would end the step."""
    if "." in name or "`" in name:
        return f"`{name.replace('`', '``')}`"
    return name


def schema_of(facet: Json, at: str) -> SchemaDefinition:
    """The fields of a schema facet, each path once: of two fields of one name the first.

    Raises:
        Refused: a field without a name, or of another shape.
    """
    if is_deleted(facet):
        return SchemaDefinition(())
    found: dict[str, SchemaField] = {}
    waiting = [(item, where, "", "") for item, where in reversed(list(rows(facet, "fields", at)))]
    while waiting:
        item, where, above, type_above = waiting.pop()
        name = given_text(item, "name", where)
        type_ = text(item, "type", where)
        last = _INSIDE.get((type_above.partition("<")[0].lower(), name)) or path_step(name)
        path = f"{above}.{last}" if above else last
        description = text(item, "description", where)
        found.setdefault(path, SchemaField(path=path, type=type_, description=description))
        waiting += [(inner, there, path, type_ or "") for inner, there in reversed(list(rows(item, "fields", where)))]
    return SchemaDefinition(tuple(found.values()))


@dataclass(slots=True)
class Lineage:
    """Edges being collected from the facets of one document.

    Attributes:
        top_level: names of the top-level fields of each dataset, where the document has its schema.
        covered: names of the output's fields with sources in the facets.
    """

    top_level: Mapping[DatasetRef, tuple[str, ...]]
    edges: list[ColumnEdge] = field(default_factory=list)
    datasets: dict[DatasetRef, int] = field(default_factory=dict)
    expressions: dict[str, Expression] = field(default_factory=dict)
    covered: dict[DatasetRef, set[str]] = field(default_factory=dict)

    def index(self, dataset: DatasetRef) -> int:
        """The dataset's index in the table."""
        return self.datasets.setdefault(dataset, len(self.datasets))

    def path(self, dataset: DatasetRef, name: str) -> str:
        """The path of a field by its name in a facet."""
        return path_step(name) if "`" in name or name in self.top_level.get(dataset, ()) else name

    def cover(self, dataset: DatasetRef, name: str) -> None:
        """Note that the facets account for a field."""
        self.covered.setdefault(dataset, set()).add(name)

    def add(
        self,
        output: tuple[DatasetRef, str | None],
        source: tuple[DatasetRef, str | None] | None,
        transformation: Json,
        at: str,
        default: TransformationType = TransformationType.UNKNOWN,
    ) -> None:
        """An edge.

        Raises:
            Refused: the transformation has another shape.
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
            outputs: every output of the document. It is complete if each has a schema and sources for all its columns.
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
        """Return True if the schema is there, and whole: dbt's has the documented columns only, its lineage others."""
        names = self.top_level.get(output, ())
        return bool(names) and all(
            each in names or each.split(".")[0] in names for each in self.covered.get(output, ())
        )


def _kind(type_: TransformationType, subtype: str | None, *, masking: bool, renamed: bool) -> TransformationKind:
    if masking:
        return TransformationKind.MASK
    kind = _KINDS.get((type_.value, subtype or ""), TransformationKind.UNKNOWN)
    return TransformationKind.RENAME if kind is TransformationKind.COPY and renamed else kind


def read_column_lineage(facet: Json, at: str, output: DatasetRef, lineage: Lineage) -> None:
    """Put the edges of a columnLineage facet into `lineage`.

    Raises:
        Refused: it has another shape.
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
    """The transformation of a field as facets before 1-1-0 have it, one for all of its inputs."""
    kind = (text(entry, "transformationType", at) or "").upper()
    described = text(entry, "transformationDescription", at)
    found = _OLDER.get(kind, {})
    return {**found, "description": described} if described else dict(found)


def _sources(
    entry: Json, name: str, at: str, lineage: Lineage
) -> Iterator[tuple[tuple[DatasetRef, str], list[Json], str]]:
    for item, where in rows(entry, name, at):
        dataset = need_dataset(item, where)
        path = lineage.path(dataset, given_text(item, "field", where))
        yield (dataset, path), [row for row, _ in rows(item, "transformations", where)], where


def top_level_names(facet: Json, at: str) -> tuple[str, ...]:
    """Names of a schema facet's top-level fields, in order.

    Raises:
        Refused: its fields aren't an array of objects.
    """
    return tuple(name for item, _ in rows(facet, "fields", at) if isinstance(name := item.get("name"), str))
