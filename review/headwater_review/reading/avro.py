"""Avro schema, `.avsc`: a record. Types become spark-avro's types."""

from __future__ import annotations

import re
from typing import Any

from headwater_analysis.data_types import ArrayOf, Atom, DataType, MapOf, StructOf, TypedField
from headwater_analysis.declaring.problems import Path
from headwater_review.reading.document import JsonDocument

_PRIMITIVE = {
    "boolean": "boolean",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "bytes": "binary",
    "string": "string",
    "null": "void",
}
_LOGICAL = {
    ("int", "date"): "date",
    ("long", "timestamp-millis"): "timestamp",
    ("long", "timestamp-micros"): "timestamp",
    ("long", "timestamp-nanos"): "timestamp",
    ("long", "local-timestamp-millis"): "timestamp_ntz",
    ("long", "local-timestamp-micros"): "timestamp_ntz",
    ("long", "local-timestamp-nanos"): "timestamp_ntz",
}
_NUMBERS = ({"int", "bigint"}, {"float", "double"})
_FULL = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def read_avro(document: JsonDocument) -> tuple[TypedField, ...]:
    """Parse the fields of a record.

    Raises:
        DeclarationError: the document isn't a record, or names a type that it doesn't define.
    """
    type_, _, _ = _Avro(document).type(document.value, (), "", ())
    if not isinstance(type_, StructOf):
        raise document.wrong(("type",), "must be `record`: only a record has columns")
    return type_.fields


class _Avro:
    def __init__(self, document: JsonDocument) -> None:
        self._document = document
        self._named: dict[str, tuple[Any, Path, str]] = {}

    def type(
        self, value: Any, path: Path, namespace: str, within: tuple[str, ...]
    ) -> tuple[DataType, bool, tuple[str, ...] | None]:
        """Return the type, whether it may be null, and the symbols of an enum.

        Args:
            namespace: namespace for names that have none.
            within: full names of the enclosing records.
        """
        if isinstance(value, list):
            return self._union(value, path, namespace, within)
        if isinstance(value, str):
            return self._by_name(value, path, namespace, within)
        definition = self._document.object(value, path)
        kind = definition.get("type")
        if isinstance(kind, dict | list):
            return self.type(kind, (*path, "type"), namespace, within)
        if not isinstance(kind, str):
            raise self._document.wrong((*path, "type"), "is missing")
        if kind in ("record", "error", "enum", "fixed"):
            return self._definition(definition, kind, path, namespace, within)
        if kind in ("array", "map"):
            part = "items" if kind == "array" else "values"
            if part not in definition:
                raise self._document.wrong((*path, part), "is missing")
            inner, nullable, _ = self.type(definition[part], (*path, part), namespace, within)
            return (
                (ArrayOf(inner, nullable) if kind == "array" else MapOf(Atom("string"), inner, nullable)),
                False,
                None,
            )
        logical = str(definition.get("logicalType"))
        if logical == "decimal" and kind == "bytes":
            return self._decimal(definition, path), False, None
        if (kind, logical) in _LOGICAL:
            return Atom(_LOGICAL[kind, logical]), False, None
        return self._by_name(kind, (*path, "type"), namespace, within)

    def _definition(
        self, definition: Any, kind: str, path: Path, namespace: str, within: tuple[str, ...]
    ) -> tuple[DataType, bool, tuple[str, ...] | None]:
        name = self._document.name(definition, path)
        if not _FULL.fullmatch(name):
            raise self._document.wrong((*path, "name"), f"{name!r} is no name of Avro")
        space = definition.get("namespace", namespace) if "." not in name else name.rpartition(".")[0]
        full = f"{space}.{name}" if space and "." not in name else name
        known = self._named.setdefault(full, (definition, path, str(space)))
        if known[0] is not definition:
            raise self._document.wrong(
                (*path, "name"), f"{full} is defined in line {self._document.line(known[1])} already"
            )
        return self._defined(definition, kind, path, str(space), (*within, full))

    def _defined(
        self, definition: Any, kind: str, path: Path, space: str, within: tuple[str, ...]
    ) -> tuple[DataType, bool, tuple[str, ...] | None]:
        if kind == "enum":
            symbols = self._document.enum(definition.get("symbols"), (*path, "symbols"))
            if symbols is None:
                raise self._document.wrong((*path, "symbols"), "is missing")
            return Atom("string"), False, symbols
        if kind == "fixed":
            return (
                (self._decimal(definition, path) if definition.get("logicalType") == "decimal" else Atom("binary")),
                False,
                None,
            )
        if "fields" not in definition:
            raise self._document.wrong((*path, "fields"), "is missing")
        items = self._document.items(definition["fields"], (*path, "fields"))
        return StructOf(tuple(self._field(item, where, space, within) for item, where in items)), False, None

    def _field(self, value: Any, path: Path, namespace: str, within: tuple[str, ...]) -> TypedField:
        field = self._document.object(value, path)
        name = self._document.name(field, path)
        if "type" not in field:
            raise self._document.wrong((*path, "type"), "is missing")
        type_, nullable, enum = self.type(field["type"], (*path, "type"), namespace, within)
        text = self._document.text
        return TypedField(
            name,
            type_,
            nullable,
            "default" in field,
            enum,
            text(field, "unit", path),
            text(field, "meaning", path),
            text(field, "doc", path),
            self._document.line(path),
        )

    def _by_name(
        self, name: str, path: Path, namespace: str, within: tuple[str, ...]
    ) -> tuple[DataType, bool, tuple[str, ...] | None]:
        if name in _PRIMITIVE:
            return Atom(_PRIMITIVE[name]), name == "null", None
        full = f"{namespace}.{name}" if namespace and "." not in name else name
        known, full = (self._named.get(full), full) if full in self._named else (self._named.get(name), name)
        if known is None:
            raise self._document.wrong(path, f"{name!r} is no type of Avro, and no earlier definition has this name")
        if full in within:
            return Atom(f"recursive {full}"), False, None
        definition, where, space = known
        return self._defined(definition, definition["type"], where, space, (*within, full))

    def _union(
        self, value: list[Any], path: Path, namespace: str, within: tuple[str, ...]
    ) -> tuple[DataType, bool, tuple[str, ...] | None]:
        branches = [self.type(item, (*path, index), namespace, within) for index, item in enumerate(value)]
        some = [branch for branch in branches if branch[0] != Atom("void")]
        nullable = len(some) < len(branches)
        if not some:
            return Atom("void"), True, None
        if len(some) == 1:
            return some[0][0], nullable, some[0][2]
        names = {type_.name if isinstance(type_, Atom) else "" for type_, *_ in some}
        for numbers in _NUMBERS:
            if names <= numbers:
                return Atom(max(numbers, key=lambda name: name in ("bigint", "double"))), nullable, None
        members = (TypedField(f"member{n}", type_, nullable=True, enum=enum) for n, (type_, _, enum) in enumerate(some))
        return StructOf(tuple(members)), nullable, None

    def _decimal(self, definition: Any, path: Path) -> DataType:
        precision, scale = definition.get("precision"), definition.get("scale", 0)
        if not isinstance(precision, int) or not isinstance(scale, int):
            raise self._document.wrong((*path, "precision"), "must be a whole number; so must `scale`")
        return Atom(f"decimal({precision},{scale})")
