"""Columns: the schema facet's fields ⇄ paths, and the columnLineage facet ⇄ edges of a column lineage.

A path is the names of nested fields joined by `.` (`headwater_schemas.events.ColumnEdge`). OpenLineage's Spark agent
has elements of an array as a field `_element` and values of a map as `value`; they are `[]` and `{}` here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from headwater_openlineage.facets import is_deleted
from headwater_openlineage.reading import Json, flag, members, need_text, rows, text
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
from headwater_schemas.naming import normal

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
        name = need_text(item, "name", where)
        type_ = text(item, "type", where)
        last = _INSIDE.get((type_above.partition("<")[0].lower(), name)) or path_step(name)
        path = f"{above}.{last}" if above else last
        description = text(item, "description", where)
        found.setdefault(path, SchemaField(path=path, type=type_, description=description))
        waiting += [(inner, there, path, type_ or "") for inner, there in reversed(list(rows(item, "fields", where)))]
    return SchemaDefinition(tuple(found.values()))


def column_path(name: str, top_level: AbstractSet[str]) -> str:
    """The path that a columnLineage facet means by a field's name.

    Args:
        name: of a top-level field, or a path into it.
        top_level: names of the dataset's top-level fields, as far as the document has them.
    """
    return path_step(name) if name in top_level or "`" in name else name


@dataclass(slots=True)
class Lineage:
    """Edges being collected from the facets of one document.

    Attributes:
        top_level: names of the top-level fields of each dataset, where the document has its schema.
        incomplete: outputs of which not every column is accounted for.
    """

    top_level: dict[DatasetRef, AbstractSet[str]]
    edges: list[ColumnEdge] = field(default_factory=list)
    datasets: dict[DatasetRef, int] = field(default_factory=dict)
    expressions: dict[str, Expression] = field(default_factory=dict)
    incomplete: list[str] = field(default_factory=list)

    def index(self, dataset: DatasetRef) -> int:
        """The dataset's index in the table."""
        return self.datasets.setdefault(dataset, len(self.datasets))

    def path(self, dataset: DatasetRef, name: str) -> str:
        """The path of a field by its name in a facet."""
        return column_path(name, self.top_level.get(dataset, frozenset()))

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

    def finished(self) -> ColumnLineage | None:
        """What was collected; None where there is no edge."""
        if not self.edges:
            return None
        reason = (
            f"columns without a source in the document, of {', '.join(self.incomplete[:5])}"
            if self.incomplete
            else None
        )
        return ColumnLineage(
            datasets=tuple(self.datasets),
            edges=tuple(self.edges),
            expressions=tuple(self.expressions.values()),
            complete=not self.incomplete,
            incomplete_reason=reason,
        )


def _kind(type_: TransformationType, subtype: str | None, *, masking: bool, renamed: bool) -> TransformationKind:
    if masking:
        return TransformationKind.MASK
    kind = _KINDS.get((type_.value, subtype or ""), TransformationKind.UNKNOWN)
    return TransformationKind.RENAME if kind is TransformationKind.COPY and renamed else kind


def read_column_lineage(facet: Json, output: DatasetRef, lineage: Lineage, at: str) -> None:
    """Put the edges of a columnLineage facet into `lineage`.

    Raises:
        Refused: it has another shape.
    """
    if is_deleted(facet):
        return
    for name, entry, where in members(facet, "fields", at):
        path = lineage.path(output, name)
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
        dataset = normal(need_namespace(item, where), need_text(item, "name", where))
        path = lineage.path(dataset, need_text(item, "field", where))
        yield (dataset, path), [row for row, _ in rows(item, "transformations", where)], where


def need_namespace(source: Json, at: str) -> str:
    """A dataset's namespace, which may be empty: some catalogs have none.

    Raises:
        Refused: it is missing.
    """
    value = text(source, "namespace", at)
    return value if value is not None else need_text(source, "namespace", at)


def top_level_names(schema: Iterable[tuple[Json, str]]) -> frozenset[str]:
    """Names of a schema facet's top-level fields."""
    return frozenset(name for item, _ in schema if isinstance(name := item.get("name"), str))
