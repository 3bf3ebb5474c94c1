"""Schemas: Spark's schema JSON as Headwater's fields, and the spelling of paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from headwater_producers.spark.plan.column import ELEMENT, VALUE, DataType, Path
from headwater_producers.spark.plan.names import shown_name
from headwater_schemas.events import SchemaDefinition, SchemaField

_TYPE_NAMES = {"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint"}


def path_text(path: Path) -> str:
    """Join a path: `("legs", "[]", "origin")` ⇒ `legs.[].origin`; names with `.` or a backquote are quoted."""
    name, *steps = path
    return ".".join([quoted(name), *(step if step in (ELEMENT, VALUE) else quoted(step) for step in steps)])


def quoted(name: str) -> str:
    """Quote a name for reports: `a.b` in backquotes, and also columns named `[]` or `{}`, which aren't elements."""
    name = shown_name(name)
    if "." in name or "`" in name or name in (ELEMENT, VALUE):
        return "`" + name.replace("`", "``") + "`"
    return name


def type_text(data_type: DataType) -> str | None:
    """Render a type as SQL: `struct<a:int,b:array<string>>`; None for None."""
    if data_type is None or isinstance(data_type, str):
        return _TYPE_NAMES.get(data_type or "", data_type)
    kind = data_type.get("type")
    if kind == "struct":
        inner = ",".join(f"{shown_name(f['name'])}:{type_text(f['type'])}" for f in data_type.get("fields", ()))
        return f"struct<{inner}>"
    if kind == "array":
        return f"array<{type_text(data_type.get('elementType'))}>"
    if kind == "map":
        return f"map<{type_text(data_type.get('keyType'))},{type_text(data_type.get('valueType'))}>"
    if kind == "udt":
        return type_text(data_type.get("sqlType")) or "udt"
    return str(kind)


def type_parts(data_type: DataType) -> list[tuple[str, DataType, bool | None]]:
    """Return the parts one step down: (step, type, nullable); empty for a type without parts."""
    if not isinstance(data_type, dict):
        return []
    match data_type.get("type"):
        case "struct":
            return [(f["name"], f["type"], f.get("nullable")) for f in data_type.get("fields", ())]
        case "array":
            return [(ELEMENT, data_type.get("elementType"), data_type.get("containsNull"))]
        case "map":
            return [(VALUE, data_type.get("valueType"), data_type.get("valueContainsNull"))]
    return []


def schema_definition(struct: DataType) -> SchemaDefinition:
    """Return a struct type's fields with nested ones under their full path, a parent before its children.

    A field's description is its comment.
    """
    found, comments = definition(type_parts(struct)), dict(_comments((), struct))
    if not comments:
        return found
    return SchemaDefinition(
        tuple(msgspec.structs.replace(each, description=comments.get(each.path)) for each in found.fields)
    )


def _comments(above: tuple[str, ...], data_type: DataType) -> Iterator[tuple[str, str]]:
    """Yield the comments of a type's fields, nested ones too, by path."""
    fields = data_type.get("fields", ()) if isinstance(data_type, dict) else ()
    for field in fields:
        comment = (field.get("metadata") or {}).get("comment")
        if isinstance(comment, str) and comment:
            yield path_text((*above, field["name"])), comment
    for step, inner, _ in type_parts(data_type):
        yield from _comments((*above, step), inner)


def definition(parts: Iterable[tuple[str, DataType, bool | None]]) -> SchemaDefinition:
    """Return the fields (name, type, nullable), nested ones under their full path; of equal names the first wins."""
    fields: dict[str, SchemaField] = {}
    for name, data_type, nullable in parts:
        for field in _fields((name,), data_type, nullable):
            fields.setdefault(field.path, field)
    return SchemaDefinition(tuple(fields.values()))


def _fields(path: Path, data_type: Any, nullable: bool | None) -> Iterator[SchemaField]:  # noqa: FBT001 - a schema's own column
    yield SchemaField(path=path_text(path), type=type_text(data_type), nullable=nullable)
    for step, inner, inner_nullable in type_parts(data_type):
        yield from _fields((*path, step), inner, inner_nullable)
