"""The newest .avsc and the event types say the same, field by field: order, type, nullability, default, symbols."""

from __future__ import annotations

import json
import types
import typing
from datetime import datetime
from enum import Enum
from typing import Any

import msgspec

from headwater_schemas import events
from headwater_schemas.avro_schema import current_schema
from headwater_schemas.events import EventKind, LineageEvent
from headwater_schemas.rules import BODY_OF_KIND

if typing.TYPE_CHECKING:
    import pytest

PRIMITIVES = {str: "string", bool: "boolean", float: "double"}


def named_types(schema: Any, found: dict[str, Any]) -> dict[str, Any]:
    """Records and enums by name."""
    if isinstance(schema, list):
        for part in schema:
            named_types(part, found)
    elif isinstance(schema, dict):
        if schema.get("type") == "record" or schema.get("type") == "enum":
            found[schema["name"]] = schema
        for key in ("type", "fields", "items", "values"):
            named_types(schema.get(key), found)
    return found


AVRO = named_types(json.loads(current_schema().text), {})


def struct_types(kind: Any, found: dict[str, Any]) -> dict[str, Any]:
    """Structs and enums by name, from the types of the fields."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        found[kind.__name__] = kind
    elif isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind.__name__ not in found:
        found[kind.__name__] = kind
        for hint in typing.get_type_hints(kind).values():
            struct_types(hint, found)
    for part in typing.get_args(kind):
        struct_types(part, found)
    return found


PYTHON = struct_types(LineageEvent, {})


def avro_of(hint: Any, bits: int) -> Any:
    """Avro type of a Python type; named types by their name."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        (inner,) = (part for part in arguments if part is not types.NoneType)
        return ["null", avro_of(inner, bits)]
    if origin is tuple:
        return {"type": "array", "items": avro_of(arguments[0], bits)}
    if origin is dict:
        return {"type": "map", "values": "string"}
    if hint is datetime:
        return {"type": "long", "logicalType": "timestamp-micros"}
    if hint is int:
        return "int" if bits == 32 else "long"
    return PRIMITIVES.get(hint) or hint.__name__


def by_name(schema: Any) -> Any:
    """A schema with the named types in it replaced by their names."""
    if isinstance(schema, list):
        return [by_name(part) for part in schema]
    if isinstance(schema, dict):
        if schema["type"] == "record" or schema["type"] == "enum":
            return schema["name"]
        return {key: by_name(value) if key in {"items", "values"} else value for key, value in schema.items()}
    return schema


def is_32_bits(hint: Any) -> bool:
    metas = [hint, *typing.get_args(hint)]
    return any(
        isinstance(part, msgspec.Meta) and part.le == 2**31 - 1 for meta in metas for part in typing.get_args(meta)
    )


def test_the_same_types_on_both_sides() -> None:
    assert set(AVRO) == set(PYTHON)


def test_a_record_has_the_fields_of_its_struct(subtests: pytest.Subtests) -> None:
    for name, struct in PYTHON.items():
        if not issubclass(struct, msgspec.Struct):
            continue
        with subtests.test(name=name):
            record = AVRO[name]
            hints = typing.get_type_hints(struct, include_extras=True)
            plain = typing.get_type_hints(struct)
            fields = msgspec.structs.fields(struct)
            assert [field["name"] for field in record["fields"]] == [field.encode_name for field in fields]
            for avro, field in zip(record["fields"], fields, strict=True):
                where = f"{name}.{field.name}"
                bits = 32 if is_32_bits(hints[field.name]) else 64
                assert by_name(avro["type"]) == avro_of(plain[field.name], bits), where
                assert ("default" not in avro) == field.required, where
                if not field.required:
                    default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
                    assert avro["default"] == json.loads(msgspec.json.encode(default)), where


def test_an_enum_has_the_symbols_of_its_python_enum(subtests: pytest.Subtests) -> None:
    for name, kind in PYTHON.items():
        if issubclass(kind, Enum):
            with subtests.test(name=name):
                assert AVRO[name]["symbols"] == [member.value for member in kind]


def test_each_kind_has_one_body_and_each_body_a_kind() -> None:
    bodies = [name for name in LineageEvent.__struct_fields__ if name.endswith("_event")]
    assert list(BODY_OF_KIND.values()) == bodies
    assert list(BODY_OF_KIND) == [kind.value for kind in EventKind]
    hints = typing.get_type_hints(LineageEvent)
    assert {part for body in bodies for part in typing.get_args(hints[body])} - {types.NoneType} == set(
        typing.get_args(events.Body)
    )


def test_every_public_type_is_exported() -> None:
    # EventKind is a string on the wire, Body a union of bodies.
    assert {*PYTHON, "EventKind", "Body"} == set(events.__all__)
