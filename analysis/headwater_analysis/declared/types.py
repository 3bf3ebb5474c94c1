"""Agreement of a declared data type with the observed one, across the spellings of different systems.

A declaration has the type as its file spells it: Spark's, the database's, or a data contract's logical type. Observed
types are mostly Spark's. So `varchar(20)` agrees with `string`, and `integer` with any whole number. But `bigint`
doesn't agree with `int`, nor `decimal(10,2)` with `decimal(12,2)`. A word that isn't in the table below is unknown and
agrees with every type.
"""

from __future__ import annotations

import re
from typing import Final

from headwater_analysis.data_types import ArrayOf, Atom, DataType, MapOf, StructOf, parse_type

_TEXT: Final = "text"
_WHOLE: Final = "whole number"
_REAL: Final = "real number"
_DECIMAL: Final = "decimal number"
_ANY_NUMBER: Final = "number"
_TIME: Final = "time"
_BYTES: Final = "bytes"
_PARTS: Final = "parts"
_KINDS: Final = {
    **dict.fromkeys(("string", "varchar", "char", "character", "character varying", "nvarchar", "nchar"), _TEXT),
    **dict.fromkeys(("varchar2", "nvarchar2", "bpchar", "clob", "mediumtext", "longtext", "uuid"), _TEXT),
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint", "integer"), _WHOLE),
    **dict.fromkeys(("int2", "int4", "int8", "int16", "int32", "int64"), _WHOLE),
    **dict.fromkeys(("float", "double", "float4", "float8", "float32", "float64"), _REAL),
    "decimal": _DECIMAL,
    "number": _ANY_NUMBER,
    "date": "day",
    **dict.fromkeys(("timestamp", "timestamp_ntz", "timestamp_tz", "timestamptz", "datetime", "datetime2"), _TIME),
    **dict.fromkeys(("timestamp without time zone", "timestamp with time zone"), _TIME),
    "boolean": "truth",
    **dict.fromkeys(("binary", "varbinary", "bytea", "blob"), _BYTES),
    **dict.fromkeys(("array", "map", "struct"), _PARTS),
}
"""Kind of a type, by the type's word without parameters. Types may agree if they are of one kind, or both numeric."""
_NUMBERS: Final = frozenset({_WHOLE, _REAL, _DECIMAL, _ANY_NUMBER})
_OF_ONE_WIDTH: Final = frozenset({"tinyint", "smallint", "int", "bigint"})
"""Words that mean the same whole numbers in all systems."""
_OF_ANY_WIDTH: Final = {"integer": "integer", **dict.fromkeys(("decimal", "numeric", "dec"), "decimal")}
"""Words whose width without parameters depends on the system: fixed in Spark, any width in a contract."""
_PARAMETERS: Final = re.compile(r"\s*\(([^)]*)\)")


def agree(declared: str, observed: str) -> bool:
    """Return whether a column of the observed type may have the declared type; True if unknown."""
    return _agree(_spelled(declared), _spelled(observed))


def _spelled(text: str) -> DataType:
    plain = " ".join(text.split())
    word = _OF_ANY_WIDTH.get(plain.lower())
    return parse_type(plain) if word is None else Atom(word)


def _agree(declared: DataType, observed: DataType) -> bool:
    match declared, observed:
        case Atom(one), Atom(other):
            return _words_agree(one, other)
        case ArrayOf(one_), ArrayOf(other_):
            return _agree(one_, other_)
        case MapOf(key, value), MapOf(other_key, other_value):
            return _agree(key, other_key) and _agree(value, other_value)
        case StructOf(fields), StructOf(others):
            types = {each.name.lower(): each.type for each in others}
            return all(
                field.name.lower() in types and _agree(field.type, types[field.name.lower()]) for field in fields
            )
    words = [_outermost(each) for each in (declared, observed)]
    # An array, a map or a struct may be declared by a single word: `ARRAY`.
    return words[0] == words[1] or any(_KINDS.get(word) is None for word in words)


def _outermost(type_: DataType) -> str:
    match type_:
        case Atom(name):
            return _word(name)[0]
        case ArrayOf():
            return "array"
        case MapOf():
            return "map"
        case StructOf():
            return "struct"


def _words_agree(one: str, other: str) -> bool:
    (word, parameters), (observed, other_parameters) = _word(one), _word(other)
    kind, observed_kind = _KINDS.get(word), _KINDS.get(observed)
    if word == observed:
        # Not every system keeps the length limit of a text.
        return kind != _DECIMAL or not (parameters and other_parameters) or parameters == other_parameters
    if kind is None or observed_kind is None:
        return True
    if {word, observed} <= _OF_ONE_WIDTH:
        return False
    if _ANY_NUMBER in (kind, observed_kind):
        return {kind, observed_kind} <= _NUMBERS
    if word == "integer" and observed_kind == _DECIMAL:
        return other_parameters.endswith(",0")
    return kind == observed_kind


def _word(name: str) -> tuple[str, str]:
    """Split a type into its word and its parameters without spaces: `decimal(10, 2)` → `decimal`, `10,2`."""
    found = _PARAMETERS.search(name)
    parameters = "" if found is None else found[1].replace(" ", "")
    return _PARAMETERS.sub("", name).strip().lower(), parameters
