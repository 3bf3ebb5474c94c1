"""Spark's StructType as JSON, as `df.schema.json()` prints it.

A column's metadata may have `comment`, `unit`, `meaning` and `enum`; `CURRENT_DEFAULT` is Spark's own key for a
default.
"""

from __future__ import annotations

from typing import Any

from headwater_analysis.data_types import ArrayOf, DataType, MapOf, StructOf, TypedField, atom
from headwater_analysis.declaring.problems import Path
from headwater_review.reading.document import JsonDocument


def read_spark(document: JsonDocument) -> tuple[TypedField, ...]:
    """Parse the columns of a StructType.

    Raises:
        DeclarationError: the document isn't a StructType.
    """
    return _fields(document, document.value, ())


def _fields(document: JsonDocument, value: Any, path: Path) -> tuple[TypedField, ...]:
    struct = document.object(value, path)
    if "fields" not in struct:
        raise document.wrong((*path, "fields"), "is missing")
    return tuple(_field(document, *item) for item in document.items(struct["fields"], (*path, "fields")))


def _field(document: JsonDocument, value: Any, path: Path) -> TypedField:
    field = document.object(value, path)
    name = document.name(field, path)
    if "type" not in field:
        raise document.wrong((*path, "type"), "is missing")
    about = document.object(field.get("metadata") or {}, (*path, "metadata"))
    inside = (*path, "metadata")
    return TypedField(
        name,
        _type(document, field["type"], (*path, "type")),
        document.flag(field, "nullable", path),
        "CURRENT_DEFAULT" in about,
        document.enum(about.get("enum"), (*inside, "enum")),
        document.text(about, "unit", inside),
        document.text(about, "meaning", inside),
        document.text(about, "comment", inside),
        document.line(path),
    )


def _type(document: JsonDocument, value: Any, path: Path) -> DataType:
    if isinstance(value, str) and value:
        return atom(value)
    type_ = document.object(value, path)
    match type_.get("type"):
        case "struct":
            return StructOf(_fields(document, type_, path))
        case "array":
            element = _part(document, type_, "elementType", path)
            return ArrayOf(element, document.flag(type_, "containsNull", path))
        case "map":
            key, inner = (_part(document, type_, part, path) for part in ("keyType", "valueType"))
            return MapOf(key, inner, document.flag(type_, "valueContainsNull", path))
        case "udt":
            return _part(document, type_, "sqlType", path)
        case str(other):
            raise document.wrong((*path, "type"), f"{other!r} is none of struct, array, map and udt")
    raise document.wrong((*path, "type"), "is missing")


def _part(document: JsonDocument, type_: Any, part: str, path: Path) -> DataType:
    if part not in type_:
        raise document.wrong((*path, part), "is missing")
    return _type(document, type_[part], (*path, part))
