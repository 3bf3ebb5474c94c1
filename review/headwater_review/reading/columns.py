"""List of columns: `{"fields": [{"name": "id", "type": "bigint", "fields": […]}]}`, as in OpenLineage's schema facet.

The list may also be the whole document, or have the key `columns`. Besides OpenLineage's `name`, `type`, `description`
and `fields`, a column may have `nullable`, `default`, `enum`, `unit` and `meaning`; the document may have
`partitioned_by`.
"""

from __future__ import annotations

from typing import Any

from headwater_analysis.data_types import ArrayOf, Atom, DataType, MapOf, StructOf, TypedField, parse_type
from headwater_analysis.declaring.problems import Path
from headwater_review.reading.document import JsonDocument

_ELEMENT, _VALUE = "_element", "value"


def read_columns(document: JsonDocument) -> tuple[tuple[TypedField, ...], tuple[str, ...] | None]:
    """Parse the columns and the partitioning (None if not stated) of the dataset.

    Raises:
        DeclarationError: the document is malformed.
    """
    value = document.value
    if isinstance(value, list):
        return _fields(document, value, ()), None
    key = "fields" if "fields" in value else "columns"
    fields = _fields(document, value[key], (key,))
    if "partitioned_by" not in value:
        return fields, None
    parts = document.items(value["partitioned_by"], ("partitioned_by",))
    return fields, tuple(_text(document, *part) for part in parts)


def _text(document: JsonDocument, value: Any, path: Path) -> str:
    if not isinstance(value, str) or not value:
        raise document.wrong(path, "must be the name of a column")
    return value


def _fields(document: JsonDocument, value: Any, path: Path) -> tuple[TypedField, ...]:
    return tuple(_field(document, *item) for item in document.items(value, path))


def _field(document: JsonDocument, value: Any, path: Path) -> TypedField:
    field = document.object(value, path)
    name = document.name(field, path)
    type_ = document.text(field, "type", path)
    inner = _fields(document, field.get("fields") or [], (*path, "fields"))
    if type_ is None and not inner:
        raise document.wrong((*path, "type"), "is missing")
    return TypedField(
        name,
        _with_fields(parse_type(type_ or "struct"), inner),
        document.flag(field, "nullable", path),
        field.get("default") is not None,
        document.enum(field.get("enum"), (*path, "enum")),
        document.text(field, "unit", path),
        document.text(field, "meaning", path),
        document.text(field, "description", path),
        document.line(path),
    )


def _with_fields(type_: DataType, inner: tuple[TypedField, ...]) -> DataType:
    """Type with the fields listed below it; the element of an array or the value of a map is listed as a field."""
    if not inner:
        return type_
    word = type_.name if isinstance(type_, Atom) else ""
    if (isinstance(type_, ArrayOf) or word == "array") and [each.name for each in inner] == [_ELEMENT]:
        return ArrayOf(inner[0].type, inner[0].nullable)
    if isinstance(type_, MapOf) and [each.name for each in inner][-1:] == [_VALUE]:
        return MapOf(type_.key, inner[-1].type, inner[-1].nullable)
    if isinstance(type_, ArrayOf) or word == "array":
        return ArrayOf(StructOf(inner))
    return StructOf(inner)
