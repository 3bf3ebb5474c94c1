"""Paths and schemas as Headwater writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_producers.spark.plan.schema import path_text, schema_definition, type_text

if TYPE_CHECKING:
    import pytest

LEG = {"type": "struct", "fields": [{"name": "origin", "type": "string", "nullable": True}]}
TRIP = {
    "type": "struct",
    "fields": [
        {"name": "id", "type": "integer", "nullable": False},
        {"name": "legs", "type": {"type": "array", "elementType": LEG, "containsNull": True}, "nullable": True},
        {
            "name": "marks",
            "type": {"type": "map", "keyType": "string", "valueType": "long", "valueContainsNull": False},
            "nullable": True,
        },
    ],
}


def test_nested_fields_follow_their_parent() -> None:
    assert [(f.path, f.type, f.nullable) for f in schema_definition(TRIP).fields] == [
        ("id", "int", False),
        ("legs", "array<struct<origin:string>>", True),
        ("legs.[]", "struct<origin:string>", True),
        ("legs.[].origin", "string", True),
        ("marks", "map<string,bigint>", True),
        ("marks.{}", "bigint", False),
    ]


def test_two_fields_of_one_name_are_one() -> None:
    twice = {"type": "struct", "fields": [{"name": "a", "type": "string"}, {"name": "a", "type": "long"}]}
    assert [(f.path, f.type) for f in schema_definition(twice).fields] == [("a", "string")]


PATHS: list[tuple[tuple[str, ...], str]] = [
    (("a", "b"), "a.b"),
    (("a.b", "c"), "`a.b`.c"),
    (("a`b",), "`a``b`"),
    (("legs", "[]", "x"), "legs.[].x"),
    # A column's own name: nothing has elements yet.
    (("[]", "[]"), "`[]`.[]"),
]


def test_paths(subtests: pytest.Subtests) -> None:
    for path, text in PATHS:
        with subtests.test(path=path):
            assert path_text(path) == text


def test_types_as_sql_writes_them() -> None:
    assert type_text("decimal(10,2)") == "decimal(10,2)"
    assert type_text({"type": "udt", "sqlType": {"type": "array", "elementType": "double"}}) == "array<double>"
