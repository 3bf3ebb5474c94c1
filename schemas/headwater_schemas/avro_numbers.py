"""Records that differ in their whole numbers alone: found by their bytes, and read without a decoder.

From one report of a streaming query to the next only offsets, times, counts and the event id change. `NumbersPattern`
is made of one record and matches all others that are the same but for those: a regular expression, in which a whole
number is any varint and every other byte is itself. A match costs a tenth of decoding the record.

https://avro.apache.org/docs/1.12.0/specification/#primitive-types-1
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

Path: TypeAlias = "tuple[str | int, ...]"
"""Where in a record a value is: names of fields, and places in arrays."""

_VARINT = rb"([\x80-\xff]*[\x00-\x7f])"
_LANE = 8
"""Bytes in which a varint has 56 bits."""
LIMIT = 1 << 55
"""Numbers from 0 to below this are read. Microseconds since the epoch are, for a thousand years."""


class Place(NamedTuple):
    """A whole number in the bytes of a record."""

    begin: int
    end: int
    path: Path


def places(schema: Any, value: bytes, at: int) -> list[Place]:
    """Where the long integers of a record are, times included, in their order.

    Args:
        schema: of the record, as `fastavro.parse_schema` gives it.
        value: the bytes.
        at: where the record begins in them; it ends with them.

    Raises:
        ValueError: the bytes aren't of this schema, or have an array in blocks with sizes.
    """
    found: list[Place] = []
    try:
        end = _walk(schema, value, at, _named(schema), (), found)
    except IndexError:
        raise ValueError("ends inside a field") from None
    if end != len(value):
        raise ValueError("doesn't end with its last field")
    return found


def _named(schema: Any) -> dict[str, Any]:
    """The types that a schema defines, by name; where they are defined may be a branch that a record doesn't have."""
    if isinstance(schema, list):
        return {name: type_ for branch in schema for name, type_ in _named(branch).items()}
    if not isinstance(schema, dict):
        return {}
    found = {schema["name"]: schema} if "name" in schema else {}
    for part in (*(field["type"] for field in schema.get("fields", ())), schema.get("items"), schema.get("values")):
        found |= _named(part)
    return found


def _walk(schema: Any, value: bytes, at: int, named: dict[str, Any], path: Path, found: list[Place]) -> int:
    """Where a value ends that begins at `at`; its numbers are added to those found."""
    if isinstance(schema, list):
        branch, at = _number(value, at)
        return _walk(schema[branch], value, at, named, path, found)
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(kind, dict):
        return _walk(kind, value, at, named, path, found)
    if kind in _SIZES:
        return at + _SIZES[kind]
    if kind in _VARINTS:
        number, end = _number(value, at)
        if kind == "long":
            found.append(Place(at, end, path))
        return _text_end(number, end) if kind == "string" else end
    if kind == "record":
        for field in schema["fields"]:
            at = _walk(field["type"], value, at, named, (*path, field["name"]), found)
        return at
    if kind in ("array", "map"):
        return _items(schema, value, at, named, path, found)
    if kind not in named:
        raise ValueError(f"{kind} is a type that no event has")
    return _walk(named[kind], value, at, named, path, found)


_SIZES = {"null": 0, "boolean": 1, "double": 8}
_VARINTS = frozenset({"long", "int", "enum", "string"})
"""What is a whole number, or begins with one: its length."""


def _text_end(length: int, at: int) -> int:
    if length < 0:
        raise ValueError("a text of a negative length")
    return at + length


def _items(schema: Any, value: bytes, at: int, named: dict[str, Any], path: Path, found: list[Place]) -> int:
    item = 0
    while True:
        count, at = _number(value, at)
        if count < 0:
            raise ValueError("a block with its size")
        if count == 0:
            return at
        for _ in range(count):
            if schema["type"] == "map":
                at = _walk("string", value, at, named, path, found)
                at = _walk(schema["values"], value, at, named, path, found)
            else:
                at = _walk(schema["items"], value, at, named, (*path, item), found)
            item += 1


def _number(value: bytes, at: int) -> tuple[int, int]:
    """A whole number and where it ends."""
    number = shift = 0
    while True:
        byte = value[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at
        shift += 7


class NumbersPattern:
    """Matches records that are the same as one but for its numbers and one text.

    Args:
        value: the bytes of that one.
        numbers: where its numbers are, in their order.
        free: where the text begins and ends, before all numbers.
    """

    def __init__(self, value: bytes, numbers: Sequence[Place], free: tuple[int, int]) -> None:
        begin, end = free
        self._head, self._free_bytes = value[:begin], end - begin
        parts, at = [re.escape(self._head), b"(.{%d})" % self._free_bytes], end
        self._between: list[bytes] = []
        for place in numbers:
            self._between.append(value[at : place.begin])
            parts += [re.escape(value[at : place.begin]), _VARINT]
            at = place.end
        self._rest = value[at:]
        self._match = re.compile(b"".join([*parts, re.escape(self._rest)]), re.DOTALL).fullmatch
        count = len(numbers)
        self.count = count
        self._bytes = count * _LANE
        self._unpack = struct.Struct(f"<{count}Q").unpack
        # Of each pair of neighbours the lower one: 7 bits of 16, 14 of 32, 28 of 64.
        self._low = [_mask(7 << step, 16 << step, count) for step in range(3)]
        self._high = [mask << (7 << step) for step, mask in enumerate(self._low)]
        self._odd = _mask(1, 64, count)

    def read(self, value: bytes) -> tuple[bytes, tuple[int, ...]] | None:
        """The text and the numbers of a record; None where it is another, or has a number that isn't below `LIMIT`."""
        match = self._match(value)
        if match is None:
            return None
        text, *numbers = match.groups()
        lanes = b"".join([number.ljust(_LANE, b"\0") for number in numbers])
        if len(lanes) != self._bytes:
            return None
        # All at once, as one long integer: the seven bits of each byte are moved together in three steps.
        bits = int.from_bytes(lanes, "little")
        low, high = self._low, self._high
        bits = bits & low[0] | bits >> 1 & high[0]
        bits = bits & low[1] | bits >> 2 & high[1]
        bits = bits & low[2] | bits >> 4 & high[2]
        if bits & self._odd:  # zigzag's mark of a negative number
            return None
        return text, self._unpack((bits >> 1).to_bytes(self._bytes, "little"))

    def fill(self, text: bytes, numbers: Sequence[int]) -> bytes:
        """The record with this text and these numbers, each from 0 to below `LIMIT`."""
        out = bytearray(self._head + text)
        for between, number in zip(self._between, numbers, strict=True):
            out += between
            rest = number << 1
            while rest > 0x7F:
                out.append(rest & 0x7F | 0x80)
                rest >>= 7
            out.append(rest)
        return bytes(out + self._rest)


def _mask(bits: int, lane: int, count: int) -> int:
    """The lowest bits of each lane, of `count` lanes of 64 bits."""
    one = ((1 << bits) - 1).to_bytes(lane // 8, "little")
    return int.from_bytes(one * (count * 64 // lane), "little")
