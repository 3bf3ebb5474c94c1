"""Which declared types are the observed ones, as systems spell them, and which are others."""

from __future__ import annotations

import pytest

from headwater_consumers.analysis.declared import Declaration, merge
from headwater_consumers.analysis.declared.types import agree


@pytest.mark.parametrize(
    ("declared", "observed"),
    [
        ("bigint", "bigint"),
        ("BIGINT", "long"),
        ("varchar(20)", "string"),
        ("character varying(20)", "varchar(30)"),
        ("uuid", "string"),
        ("integer", "bigint"),  # any whole number
        ("integer", "decimal(38,0)"),
        ("number", "bigint"),
        ("number", "double"),
        ("decimal(10,2)", "number(10,2)"),
        ("NUMERIC(10, 2)", "decimal(10,2)"),
        ("numeric", "decimal(12,4)"),
        ("float", "double"),
        ("int8", "bigint"),
        ("timestamp without time zone", "timestamp_ntz"),
        ("timestamp(6) with time zone", "timestamp"),
        ("bytea", "binary"),
        ("array<int>", "ARRAY<int>"),
        ("array<integer>", "array<int>"),
        ("ARRAY", "array<string>"),
        ("map<string,decimal(10,2)>", "map<string, decimal(10,2)>"),
        ("struct<A:int>", "struct<a:int,b:string>"),  # it may have more fields, as a dataset more columns
        ("geography", "string"),  # nothing is known of the word
        ("int", "hugeint"),
        ("jsonb", "struct<a:int>"),
    ],
)
def test_one_type(declared: str, observed: str) -> None:
    assert agree(declared, observed)


@pytest.mark.parametrize(
    ("declared", "observed"),
    [
        ("bigint", "int"),
        ("int", "bigint"),
        ("int", "string"),
        ("varchar(20)", "int"),
        ("integer", "decimal(10,2)"),
        ("integer", "double"),
        ("number", "string"),
        ("decimal(10,2)", "decimal(12,2)"),
        ("decimal(10,2)", "double"),
        ("date", "timestamp"),
        ("boolean", "int"),
        ("array<int>", "array<string>"),
        ("array<int>", "int"),
        ("string", "struct<a:int>"),
        ("map<string,int>", "struct<a:int>"),
        ("map<string,int>", "map<string,bigint>"),
        ("struct<a:int>", "struct<a:string>"),
        ("struct<a:int>", "struct<b:int>"),
    ],
)
def test_other_types(declared: str, observed: str) -> None:
    assert not agree(declared, observed)


@pytest.mark.parametrize(
    ("first", "second", "contradicts"),
    [("int", "INT", False), ("number", "integer", False), ("bigint", "integer", False), ("int", "string", True)],
)
def test_sets_that_spell_one_type_otherwise_do_not_contradict_each_other(
    first: str, second: str, contradicts: bool
) -> None:
    rows = [
        Declaration(name, name, "d", "dataset", "n", "d", columns={"a": {"type": type_}})
        for name, type_ in (("x", first), ("y", second))
    ]
    found = merge(rows)
    assert found.columns["a"]["type"] == first
    assert [(each.column, each.property) for each in found.contradictions] == [("a", "type")] * contradicts
