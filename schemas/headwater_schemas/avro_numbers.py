"""Records that differ in their whole numbers and a few texts alone: found by their bytes, and read without a decoder.

From one report of a streaming query to the next only offsets, times, counts and the event id change. `NumbersPattern`
is made of one record and matches all others that are the same but for those: a regular expression, in which a whole
number is any varint, a text that may change is as many bytes as it has, and every other byte is itself. A match costs a
tenth of decoding the record.

https://avro.apache.org/docs/1.12.0/specification/#primitive-types-1
"""

from __future__ import annotations

import re
import struct
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, TypeAlias

Path: TypeAlias = "tuple[str | int, ...]"
"""Where in a record a value is: names of fields, and places in arrays."""

_VARINT = rb"([\x80-\xff]*[\x00-\x7f])"
_LANE = 8
"""Bytes in which a varint has 56 bits."""
LIMIT = 1 << 55
"""Numbers from 0 to below this are read. Microseconds since the epoch are, for a thousand years."""


class Place(NamedTuple):
    """A whole number, or the bytes of a text, in the bytes of a record."""

    begin: int
    end: int
    path: Path
    is_text: bool


def places(schema: Any, value: bytes, at: int, texts: Collection[str]) -> list[Place]:
    """Where the long integers of a record are, times included, and some of its texts, in their order.

    Args:
        schema: of the record, as `fastavro.parse_schema` gives it.
        value: the bytes.
        at: where the record begins in them; it ends with them.
        texts: names of the fields whose texts are wanted, in whatever record they are.

    Raises:
        ValueError: the bytes aren't of this schema, or have an array in blocks with sizes.
    """
    found: list[Place] = []
    try:
        end = _Walk(value, _named(schema), texts, found).walk(schema, at, ())
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


class _Walk(NamedTuple):
    """Through the bytes of a record; what is wanted of it is added to `found`."""

    value: bytes
    named: dict[str, Any]
    texts: Collection[str]
    found: list[Place]

    def walk(self, schema: Any, at: int, path: Path) -> int:
        """Where a value ends that begins at `at`."""
        if isinstance(schema, list):
            branch, at = _number(self.value, at)
            return self.walk(schema[branch], at, path)
        kind = schema["type"] if isinstance(schema, dict) else schema
        if isinstance(kind, dict):
            return self.walk(kind, at, path)
        if kind in _SIZES:
            return at + _SIZES[kind]
        if kind in _VARINTS:
            return self._varint(kind, at, path)
        if kind == "record":
            for field in schema["fields"]:
                at = self.walk(field["type"], at, (*path, field["name"]))
            return at
        if kind in ("array", "map"):
            return self._items(schema, at, path)
        if kind not in self.named:
            raise ValueError(f"{kind} is a type that no event has")
        return self.walk(self.named[kind], at, path)

    def _varint(self, kind: str, at: int, path: Path) -> int:
        number, end = _number(self.value, at)
        if kind == "long":
            self.found.append(Place(at, end, path, is_text=False))
        if kind != "string":
            return end
        if number < 0:
            raise ValueError("a text of a negative length")
        if path and path[-1] in self.texts:
            self.found.append(Place(end, end + number, path, is_text=True))
        return end + number

    def _items(self, schema: Any, at: int, path: Path) -> int:
        item = 0
        while True:
            count, at = _number(self.value, at)
            if count < 0:
                raise ValueError("a block with its size")
            if count == 0:
                return at
            for _ in range(count):
                if schema["type"] == "map":
                    at = self.walk(schema["values"], self.walk("string", at, ()), path)
                else:
                    at = self.walk(schema["items"], at, (*path, item))
                item += 1


_SIZES = {"null": 0, "boolean": 1, "double": 8}
_VARINTS = frozenset({"long", "int", "enum", "string"})
"""What is a whole number, or begins with one: its length."""


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
    """Matches records that are the same as one but for its numbers and some texts, which are as long as its own.

    Args:
        value: the bytes of that one.
        at: where its numbers and those texts are, in their order.
    """

    def __init__(self, value: bytes, at: Sequence[Place]) -> None:
        parts: list[bytes] = []
        self._parts: list[tuple[bytes, int | None]] = []
        end = 0
        for place in at:
            literal, size = value[end : place.begin], place.end - place.begin if place.is_text else None
            self._parts.append((literal, size))
            parts += [re.escape(literal), _VARINT if size is None else b"(.{%d})" % size]
            end = place.end
        self._rest = value[end:]
        self._match = re.compile(b"".join([*parts, re.escape(self._rest)]), re.DOTALL).fullmatch
        texts = [number for number, place in enumerate(at) if place.is_text]
        # Where each is when those before it are gone.
        self._texts = [number - before for before, number in enumerate(texts)]
        count = len(at) - len(texts)
        self.count = count
        self._bytes = count * _LANE
        self._unpack = struct.Struct(f"<{count}Q").unpack
        # Of each pair of neighbours the lower one: 7 bits of 16, 14 of 32, 28 of 64.
        self._low = [_mask(7 << step, 16 << step, count) for step in range(3)]
        self._high = [mask << (7 << step) for step, mask in enumerate(self._low)]
        self._odd = _mask(1, 64, count)

    def read(self, value: bytes) -> tuple[list[bytes], tuple[int, ...]] | None:
        """The texts and the numbers of a record; None where it is another, or has a number that isn't below `LIMIT`."""
        match = self._match(value)
        if match is None:
            return None
        found = list(match.groups())
        texts = [found.pop(number) for number in self._texts]
        lanes = b"".join([number.ljust(_LANE, b"\0") for number in found])
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
        return texts, self._unpack((bits >> 1).to_bytes(self._bytes, "little"))

    def fill(self, texts: Sequence[bytes], numbers: Sequence[int]) -> bytes:
        """The record with these texts, each as long as its own, and these numbers, each from 0 to below `LIMIT`."""
        out = bytearray()
        text, number = iter(texts), iter(numbers)
        for literal, size in self._parts:
            out += literal
            if size is not None:
                out += next(text)
                continue
            rest = next(number) << 1
            while rest > 0x7F:
                out.append(rest & 0x7F | 0x80)
                rest >>= 7
            out.append(rest)
        return bytes(out + self._rest)


def _mask(bits: int, lane: int, count: int) -> int:
    """The lowest bits of each lane, of `count` lanes of 64 bits."""
    one = ((1 << bits) - 1).to_bytes(lane // 8, "little")
    return int.from_bytes(one * (count * 64 // lane), "little")
