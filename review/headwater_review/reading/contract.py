"""Table of an ODCS data contract, 3.0 or 3.1, in YAML or JSON.

A property's type is its `physicalType`, else its `logicalType`. A property with `required` or `primaryKey` is never
null. `partitioned` and `partitionKeyPosition` give the partitioning. `customProperties` may have `unit`, `meaning` and
`enum`, for which the standard has no field.

https://bitol-io.github.io/open-data-contract-standard/v3.1.0/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwater_analysis.data_types import ArrayOf, Atom, DataType, StructOf, TypedField, parse_type
from headwater_analysis.declaring.problems import DeclarationError, Path
from headwater_review.reading.document import JsonDocument, shown

_LOGICAL = {"integer": "bigint", "number": "double", "boolean": "boolean", "string": "string", "date": "date"}


def read_contract_table(
    document: JsonDocument, table: str | None
) -> tuple[tuple[TypedField, ...], tuple[str, ...] | None]:
    """Parse the columns and the partitioning (None if not stated) of a table.

    Args:
        table: `name` or `physicalName` of the table; None: the only table.

    Raises:
        DeclarationError: the contract lacks this table, has several tables without a chosen one, or the table is
            malformed.
    """
    contract = document.object(document.value, ())
    tables = [(document.object(each, path), path) for each, path in document.items(contract.get("schema"), ("schema",))]
    matching = [(each, path) for each, path in tables if table in (None, each.get("name"), each.get("physicalName"))]
    if len(matching) != 1:
        raise _wrong_choice(document, tables, table)
    ((one, path),) = matching
    properties = _properties(document, one, path)
    parts = [(each.get("partitionKeyPosition"), each["name"]) for each in one["properties"] if each.get("partitioned")]
    places = [position if isinstance(position, int) else len(parts) for position, _ in parts]
    partitioning = tuple(name for _, (_, name) in sorted(zip(places, parts, strict=True), key=lambda pair: pair[0]))
    return properties, partitioning or None


def _wrong_choice(
    document: JsonDocument, tables: list[tuple[Mapping[str, Any], Path]], table: str | None
) -> DeclarationError:
    names = ", ".join(sorted(shown(each.get("name")) for each, _ in tables))
    if table is None:
        return document.wrong(("schema",), f"has {len(tables)} tables ({names}): name one with --table")
    return document.wrong(("schema",), f"has no table, or several, of the name {table!r}; there are {names}")


def _properties(document: JsonDocument, owner: Mapping[str, Any], path: Path) -> tuple[TypedField, ...]:
    if "properties" not in owner:
        raise document.wrong((*path, "properties"), "is missing")
    return tuple(_property(document, *item) for item in document.items(owner["properties"], (*path, "properties")))


def _property(document: JsonDocument, value: Any, path: Path) -> TypedField:
    spec = document.object(value, path)
    name = document.name(spec, path)
    custom = _custom(document, spec, path)
    never_null = document.flag(spec, "required", path) or document.flag(spec, "primaryKey", path)
    where = (*path, "customProperties")
    return TypedField(
        name,
        _type(document, spec, path),
        not never_null,
        enum=document.enum(custom.get("enum"), where),
        unit=document.text(custom, "unit", where),
        meaning=document.text(custom, "meaning", where),
        description=document.text(spec, "description", path),
        line=document.line(path),
    )


def _custom(document: JsonDocument, spec: Mapping[str, Any], path: Path) -> dict[str, Any]:
    listed = document.items(spec.get("customProperties") or [], (*path, "customProperties"))
    rows = [document.object(each, where) for each, where in listed]
    return {row["property"]: row.get("value") for row in rows if isinstance(row.get("property"), str)}


def _type(document: JsonDocument, spec: Mapping[str, Any], path: Path) -> DataType:
    logical, physical = (document.text(spec, key, path) for key in ("logicalType", "physicalType"))
    if logical == "object" and spec.get("properties"):
        return StructOf(_properties(document, spec, path))
    if logical == "array" and spec.get("items"):
        items = document.object(spec["items"], (*path, "items"))
        return ArrayOf(_type(document, items, (*path, "items")))
    if physical is not None:
        return parse_type(physical)
    if logical is None:
        raise document.wrong((*path, "physicalType"), "is missing, and so is `logicalType`")
    return Atom(_LOGICAL.get(logical, logical))
