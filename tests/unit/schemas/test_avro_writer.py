"""Values at the ends of their ranges are written as fastavro writes them; what no event has is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest
from fastavro import parse_schema, schemaless_writer

from headwater_schemas.avro_writer import compiled

VALUES: dict[str, tuple[Any, list[Any]]] = {
    "long": ("long", [0, -1, 1, 63, 64, -64, -65, 127, 128, 2**31, 2**63 - 1, -(2**63)]),
    "int": ("int", [0, -1, 2**31 - 1, -(2**31)]),
    "string": ("string", ["", "a", "\u00fc\U0001f600", "x" * 63, "x" * 64, "x" * 10_000]),
    "boolean": ("boolean", [True, False]),
    "double": ("double", [0.0, -1.5, 1e308, float("inf")]),
    "time": (
        {"type": "long", "logicalType": "timestamp-micros"},
        [
            datetime(1970, 1, 1, tzinfo=UTC),
            datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
            datetime(1, 1, 1, tzinfo=UTC),
            datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        ],
    ),
    "enum": ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, ["A", "B"]),
    "array": ({"type": "array", "items": "long"}, [[], [1], (1, 2), list(range(100))]),
    "map": ({"type": "map", "values": "string"}, [{}, {"a": "b", "": "c"}]),
    "record": (
        {
            "type": "record",
            "name": "R",
            "fields": [
                {"name": "a", "type": ["null", {"type": "record", "name": "S", "fields": []}]},
                {"name": "b", "type": ["null", "S"]},
            ],
        },
        [{"a": None, "b": {}}, {"a": {}, "b": None}],
    ),
}


def test_values_are_written_as_fastavro_writes_them(subtests: pytest.Subtests) -> None:
    for name in VALUES:
        with subtests.test(name=name):
            schema = parse_schema(VALUES[name][0])
            write = compiled(schema)
            for value in VALUES[name][1]:
                expected, out = BytesIO(), bytearray()
                schemaless_writer(expected, schema, value, disable_tuple_notation=True)
                write(out, value)
                assert bytes(out) == expected.getvalue(), value


def test_a_number_that_does_not_fit_is_refused(subtests: pytest.Subtests) -> None:
    for type_, value in [("int", 2**31), ("int", -(2**31) - 1), ("long", 2**63)]:
        with subtests.test(type_=type_, value=value), pytest.raises(OverflowError):
            compiled(parse_schema(type_))(bytearray(), value)


def test_what_no_event_has_is_refused_when_the_schema_is_compiled(subtests: pytest.Subtests) -> None:
    cases = [
        ["null", "string", "long"],
        ["string", "null"],
        ["string"],
        "bytes",
        {"type": "array", "items": ["null"]},
    ]
    for type_ in cases:
        with (
            subtests.test(type_=type_),
            pytest.raises(ValueError, match=r"no field of an event has|null and one other type"),
        ):
            compiled(parse_schema({"type": "record", "name": "R", "fields": [{"name": "a", "type": type_}]}))
