"""Data types as a tree, independent of a file's format; and as Spark writes types: `struct<a:int,b:array<string>>`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

_ATOM = re.compile(r"[^<>]+")
_NAME = re.compile(r"`(?:[^`]|``)*`|[^:,<>`]+")
_DEEPEST = 60
_WORDS = {
    "long": "bigint",
    "integer": "int",
    "short": "smallint",
    "byte": "tinyint",
    "real": "float",
    "double precision": "double",
    "bool": "boolean",
    "str": "string",
    "text": "string",
    "bytes": "binary",
    "timestamp_ltz": "timestamp",
    "numeric": "decimal",
    "dec": "decimal",
}
_PARAMETERS = re.compile(r"(\w+)\s*\(\s*(\d+)\s*(?:,\s*(-?\d+)\s*)?\)")


@dataclass(frozen=True, slots=True)
class Atom:
    """A type without parts, in Spark's spelling: `bigint`, `decimal(10,2)`."""

    name: str


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """An array; `nullable`: whether elements may be null, where known."""

    element: DataType
    nullable: bool | None = None


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map; `nullable`: whether values may be null, where known."""

    key: DataType
    value: DataType
    nullable: bool | None = None


@dataclass(frozen=True, slots=True)
class TypedField:
    """A column, or a field of a struct.

    Attributes:
        nullable: whether it may be null, if the file states that.
        default: whether the field has a default value.
        enum: allowed values as text, sorted; None: any value.
        unit: unit of its values: `km`, `EUR`.
        meaning: declared meaning: a term of a glossary.
        line: line in the file, from 1; 0: unknown.
    """

    name: str
    type: DataType
    nullable: bool | None = None
    default: bool = False
    enum: tuple[str, ...] | None = None
    unit: str | None = None
    meaning: str | None = None
    description: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class StructOf:
    """A struct, its fields in order."""

    fields: tuple[TypedField, ...]


DataType: TypeAlias = Atom | ArrayOf | MapOf | StructOf


def atom(text: str) -> Atom:
    """Return a type without parts, by any of its usual names: `LONG`, `numeric(10, 2)`.

    `decimal` alone is Spark's `decimal(10,0)`.
    """
    plain = " ".join(text.lower().split())
    if found := _PARAMETERS.fullmatch(plain):
        word = _WORDS.get(found[1], found[1])
        digits = f"{found[2]},{found[3] or 0}" if word == "decimal" else ",".join(filter(None, found.groups()[1:]))
        return Atom(f"{word}({digits})")
    word = _WORDS.get(plain, plain)
    return Atom("decimal(10,0)" if word == "decimal" else word)


def within(fields: Iterable[TypedField]) -> Iterator[DataType]:
    """Types of these fields, and of all parts nested in these types."""
    waiting = [field.type for field in fields]
    while waiting:
        type_ = waiting.pop()
        yield type_
        match type_:
            case ArrayOf(element):
                waiting.append(element)
            case MapOf(key, value):
                waiting += [key, value]
            case StructOf(inner):
                waiting += [field.type for field in inner]


def type_text(type_: DataType) -> str:
    """Format a data type as Spark writes it."""
    match type_:
        case Atom(name):
            return name
        case ArrayOf(element):
            return f"array<{type_text(element)}>"
        case MapOf(key, value):
            return f"map<{type_text(key)},{type_text(value)}>"
        case StructOf(fields):
            return f"struct<{','.join(f'{field.name}:{type_text(field.type)}' for field in fields)}>"


def parse_type(text: str) -> DataType:
    """Parse a type as Spark writes it. A text in another form becomes an atom with this text."""
    if "<" not in text:
        return atom(text)
    try:
        type_, rest = _type(text.strip(), 0, 0)
    except ValueError:
        return Atom(text)
    return type_ if rest == len(text.strip()) else Atom(text)


def _type(text: str, at: int, depth: int) -> tuple[DataType, int]:
    if depth > _DEEPEST:
        raise ValueError
    opened = text.find("<", at)
    word = text[at:opened].strip().lower() if opened >= 0 else ""
    if word == "array":
        element, at = _type(text, opened + 1, depth + 1)
        return ArrayOf(element), _past(text, at, ">")
    if word == "map":
        key, at = _type(text, opened + 1, depth + 1)
        value, at = _type(text, _past(text, at, ","), depth + 1)
        return MapOf(key, value), _past(text, at, ">")
    if word == "struct":
        return _struct(text, opened + 1, depth)
    return _plain(text, at)


def _struct(text: str, at: int, depth: int) -> tuple[DataType, int]:
    fields: list[TypedField] = []
    while text[at : at + 1] != ">":
        if fields:
            at = _past(text, at, ",")
        found = _NAME.match(text, at)
        if found is None:
            raise ValueError
        name = found[0].strip()
        name = name[1:-1].replace("``", "`") if name.startswith("`") else name
        type_, at = _type(text, _past(text, found.end(), ":"), depth + 1)
        fields.append(TypedField(name, type_))
    return StructOf(tuple(fields)), at + 1


def _plain(text: str, at: int) -> tuple[DataType, int]:
    inside, end = 0, at
    while end < len(text) and not (text[end] in ",>" and not inside):
        inside += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    if not text[at:end].strip() or not _ATOM.fullmatch(text[at:end]):
        raise ValueError
    return atom(text[at:end]), end


def _past(text: str, at: int, mark: str) -> int:
    if text[at : at + 1] != mark:
        raise ValueError
    return at + 1
