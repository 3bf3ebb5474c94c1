"""JSON Schema of an object. Its properties are columns; a property that isn't required may be missing, and so null.

`unit`, `x-unit`, `meaning` and `x-meaning` are read in addition to the keywords of JSON Schema. References must be
within the file. The type of a property with several types names all of them, in order of name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwater_analysis.data_types import ArrayOf, Atom, DataType, MapOf, StructOf, TypedField, type_text
from headwater_analysis.declaring.problems import Path
from headwater_review.reading.document import JsonDocument, shown

_PLAIN = {"string": "string", "integer": "bigint", "number": "double", "boolean": "boolean", "null": "void"}
_FORMATS = {"date": "date", "date-time": "timestamp"}
_CHOICES = ("anyOf", "oneOf")
_OF_VALUES = {str: "string", bool: "boolean", int: "bigint", float: "double"}
_DEEPEST = 40


def read_json_schema(document: JsonDocument) -> tuple[TypedField, ...]:
    """Parse the properties of an object, or of the objects of an array.

    Raises:
        DeclarationError: the schema doesn't describe an object, or contains something that columns can't have.
    """
    type_ = _JsonSchema(document).type(document.value, (), ())
    if isinstance(type_, ArrayOf):
        type_ = type_.element
    if not isinstance(type_, StructOf):
        raise document.wrong(("type",), "must be `object`, with `properties`: only an object has columns")
    return type_.fields


class _JsonSchema:
    def __init__(self, document: JsonDocument) -> None:
        self._document = document

    def type(self, value: Any, path: Path, within: tuple[str, ...]) -> DataType:
        """Type that a schema describes, without null."""
        schema, path, within = self._merged(value, path, within)
        if within and within.count(within[-1]) > 1:
            return Atom(f"recursive {within[-1]}")
        if len(path) > 4 * _DEEPEST:
            raise self._document.wrong(path[:8], f"nested deeper than {_DEEPEST} levels")
        for key in _CHOICES:
            if key in schema:
                return self._any(
                    [self.type(item, where, within) for item, where in self._document.items(schema[key], (*path, key))]
                )
        kinds = schema.get("type")
        if kinds is None:
            kinds = self._inferred_kind(schema, path)
        names = kinds if isinstance(kinds, list) else [kinds]
        return self._any([self._of(name, schema, path, within) for name in names])

    def _inferred_kind(self, schema: Mapping[str, Any], path: Path) -> Any:
        if "properties" in schema:
            return "object"
        if "items" in schema:
            return "array"
        constants = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else []
        values = [item for item, _ in self._document.items(constants, (*path, "enum"))]
        kinds = sorted({_OF_VALUES.get(type(item), "") for item in values if item is not None})
        if len(kinds) == 1 and kinds[0]:
            return next(name for name, type_ in _PLAIN.items() if type_ == kinds[0])
        raise self._document.wrong((*path, "type"), "is missing")

    def _of(self, name: Any, schema: Mapping[str, Any], path: Path, within: tuple[str, ...]) -> DataType:
        if name == "object":
            return self._object(schema, path, within)
        if name == "array":
            if "items" not in schema:
                raise self._document.wrong((*path, "items"), "is missing: an array needs the schema of its items")
            items = schema["items"]
            return ArrayOf(self.type(items, (*path, "items"), within), self.may_be_null(items, (*path, "items")))
        if name == "string" and (format_ := self._document.text(schema, "format", path)) in _FORMATS:
            return Atom(_FORMATS[str(format_)])
        if not isinstance(name, str) or name not in _PLAIN:
            raise self._document.wrong((*path, "type"), f"{shown(name)} is no type of JSON Schema")
        return Atom(_PLAIN[name])

    def _object(self, schema: Mapping[str, Any], path: Path, within: tuple[str, ...]) -> DataType:
        if "properties" not in schema:
            additional = schema.get("additionalProperties", True)
            if isinstance(additional, dict) and additional:
                where = (*path, "additionalProperties")
                return MapOf(Atom("string"), self.type(additional, where, within), self.may_be_null(additional, where))
            return MapOf(Atom("string"), Atom("any"))
        needed = schema.get("required", [])
        required = {shown(item) for item, _ in self._document.items(needed, (*path, "required"))}
        properties = self._document.object(schema["properties"], (*path, "properties"))
        fields = []
        for name, value in properties.items():
            where = (*path, "properties", name)
            about, merged_path, _ = self._merged(value, where, ())
            text = self._document.text
            fields.append(
                TypedField(
                    name,
                    self.type(value, where, within),
                    name not in required or self.may_be_null(value, where),
                    about.get("default") is not None,
                    self._document.enum(
                        [about["const"]] if "const" in about else about.get("enum"), (*merged_path, "enum")
                    ),
                    text(about, "unit", merged_path) or text(about, "x-unit", merged_path),
                    text(about, "meaning", merged_path) or text(about, "x-meaning", merged_path),
                    text(about, "description", merged_path),
                    self._document.line(where),
                )
            )
        return StructOf(tuple(fields))

    def may_be_null(self, value: Any, path: Path, depth: int = 0) -> bool:
        """Return whether a schema allows null."""
        schema, path, _ = self._merged(value, path, ())
        kinds = schema.get("type")
        values = [item for item, _ in self._document.items(schema.get("enum", []), (*path, "enum"))]
        if kinds == "null" or (isinstance(kinds, list) and "null" in kinds) or None in values:
            return True
        return depth < _DEEPEST and any(
            self.may_be_null(item, where, depth + 1)
            for key in _CHOICES
            if key in schema
            for item, where in self._document.items(schema[key], (*path, key))
        )

    def _merged(
        self, value: Any, path: Path, within: tuple[str, ...]
    ) -> tuple[Mapping[str, Any], Path, tuple[str, ...]]:
        """Merge a schema with its references and `allOf` parts; also return its path and the enclosing references."""
        if value is True or value == {}:
            return {"type": "string", "description": "any value"}, path, within
        schema = self._document.object(value, path)
        hops = 0
        while "$ref" in schema:
            reference = schema["$ref"]
            siblings = {key: each for key, each in schema.items() if key != "$ref"}
            target, path = self._referred(reference, (*path, "$ref"))
            within = (*within, reference)
            schema = {**self._document.object(target, path), **siblings}
            hops += 1
            if hops > _DEEPEST:
                raise self._document.wrong(path, f"{reference} refers to itself")
        if "allOf" in schema:
            merged: dict[str, Any] = {key: each for key, each in schema.items() if key != "allOf"}
            for item, where in self._document.items(schema["allOf"], (*path, "allOf")):
                part, _, within = self._merged(item, where, within)
                for key, each in part.items():
                    if key == "properties":
                        merged[key] = {**merged.get(key, {}), **self._document.object(each, (*where, key))}
                    elif key == "required":
                        names = self._document.items(each, (*where, key))
                        merged[key] = [*merged.get(key, []), *(name for name, _ in names)]
                    else:
                        merged.setdefault(key, each)
            schema = merged
        return schema, path, within

    def _referred(self, reference: Any, path: Path) -> tuple[Any, Path]:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise self._document.wrong(
                path, f"{shown(reference)} is in another file: put it into this one, under `$defs`"
            )
        value: Any = self._document.value
        steps = [part.replace("~1", "/").replace("~0", "~") for part in reference[1:].split("/")[1:]]
        for part in steps:
            if not isinstance(value, dict) or part not in value:
                raise self._document.wrong(path, f"{reference} isn't in the file")
            value = value[part]
        return value, tuple(steps)

    def _any(self, types: list[DataType]) -> DataType:
        some = sorted({each for each in types if each != Atom("void")}, key=type_text)
        if not some:
            return Atom("void")
        return some[0] if len(some) == 1 else Atom(f"any of {', '.join(type_text(each) for each in some)}")
