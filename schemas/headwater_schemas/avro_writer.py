"""Writers of Avro values: closures that are compiled from a schema once.

fastavro checks each value of a union against the branches before writing it, and values inside nested unions once per
level. These checks take three quarters of the time to encode an event. This module's callers have checked the values
before, and every union has two branches: null and one other type.

https://avro.apache.org/docs/1.12.0/specification/#binary-encoding
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

Write: TypeAlias = Callable[[bytearray, Any], None]
"""Function that appends the encoding of one value to the bytes."""


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_SECONDS: Final = 86_400
_SECOND_MICROS: Final = 1_000_000
_NULL, _VALUE, _END = 0, 2, 0
_ONE_BYTE: Final = 63
"""Greatest length of a text, in bytes, whose length is encoded in one byte."""
_DOUBLE: Final = struct.Struct("<d")


def compiled(schema: Any) -> Write:
    """Compile a schema into a function that writes its values.

    Args:
        schema: result of `fastavro.parse_schema`: full names, each defined before its first use.

    Raises:
        ValueError: the schema has a union other than null and one type, or a type that no event has.
    """
    return _writer(schema, {})


def _writer(schema: Any, named: dict[str, Write]) -> Write:
    described = schema if isinstance(schema, dict) else {}
    type_ = described.get("type", schema)
    if described.get("logicalType") == "timestamp-micros":
        return _timestamp
    if not isinstance(type_, str) or type_ not in {*_PLAIN, *_COMPOUND, *named}:
        raise ValueError(f"{type_} is a type or a union that no field of an event has")
    if type_ in _COMPOUND:
        write = _COMPOUND[type_](described, named)
        if "name" in described:
            named[described["name"]] = write
        return write
    return _PLAIN.get(type_) or named[type_]


def _record(schema: Any, named: dict[str, Write]) -> Write:
    fields: list[tuple[str, Write, bool]] = []
    for field in schema["fields"]:
        type_, nullable = field["type"], False
        if isinstance(type_, list):
            if len(type_) != 2 or type_[0] != "null":
                raise ValueError(f"the union of the field {field['name']} isn't null and one other type, in this order")
            type_, nullable = type_[1], True
        fields.append((field["name"], _writer(type_, named), nullable))

    def write(out: bytearray, value: Any) -> None:
        for name, write_field, nullable in fields:
            item = value[name]
            if nullable:
                if item is None:
                    out.append(_NULL)
                    continue
                out.append(_VALUE)
            write_field(out, item)

    return write


def _varint(out: bytearray, value: int) -> None:
    """Append a zigzag-encoded integer, seven bits a byte, the lowest first."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def _integer(bits: int) -> Write:
    greatest = (1 << (bits - 1)) - 1

    def write(out: bytearray, value: Any) -> None:
        if not -greatest - 1 <= value <= greatest:
            raise OverflowError(f"more than {bits} bits")
        _varint(out, value << 1 if value >= 0 else ~(value << 1))

    return write


def _timestamp(out: bytearray, value: Any) -> None:
    since = value - _EPOCH
    _long(out, (since.days * _DAY_SECONDS + since.seconds) * _SECOND_MICROS + since.microseconds)


_int, _long = _integer(32), _integer(64)


def _string(out: bytearray, value: Any) -> None:
    data = value.encode()
    size = len(data)
    if size <= _ONE_BYTE:
        out.append(size << 1)
    else:
        _varint(out, size << 1)
    out += data


def _boolean(out: bytearray, value: Any) -> None:
    out.append(value)


def _double(out: bytearray, value: Any) -> None:
    out += _DOUBLE.pack(value)


def _enum(schema: Any, _named: dict[str, Write]) -> Write:
    index = {symbol: number for number, symbol in enumerate(schema["symbols"])}

    def write(out: bytearray, value: Any) -> None:
        _varint(out, index[value] << 1)

    return write


def _array(schema: Any, named: dict[str, Write]) -> Write:
    """Compile an array, which is written as one block."""
    write_item = _writer(schema["items"], named)

    def write(out: bytearray, value: Any) -> None:
        if value:
            _varint(out, len(value) << 1)
            for item in value:
                write_item(out, item)
        out.append(_END)

    return write


def _map(schema: Any, named: dict[str, Write]) -> Write:
    write_item = _writer(schema["values"], named)

    def write(out: bytearray, value: Any) -> None:
        if value:
            _varint(out, len(value) << 1)
            for name, item in value.items():
                _string(out, name)
                write_item(out, item)
        out.append(_END)

    return write


_PLAIN: Final[dict[str, Write]] = {
    "string": _string,
    "boolean": _boolean,
    "double": _double,
    "int": _int,
    "long": _long,
}
_COMPOUND: Final[dict[str, Callable[[Any, dict[str, Write]], Write]]] = {
    "record": _record,
    "enum": _enum,
    "array": _array,
    "map": _map,
}
