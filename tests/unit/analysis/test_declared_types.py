"""Declared types that equal the observed ones, as systems spell them, and types that don't."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_analysis.declared import Declaration, merge
from headwater_analysis.declared.types import agree

if TYPE_CHECKING:
    import pytest


def test_one_type(subtests: pytest.Subtests) -> None:
    cases = [
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
    ]
    for declared, observed in cases:
        with subtests.test(declared=declared, observed=observed):
            assert agree(declared, observed)


def test_other_types(subtests: pytest.Subtests) -> None:
    cases = [
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
    ]
    for declared, observed in cases:
        with subtests.test(declared=declared, observed=observed):
            assert not agree(declared, observed)


def test_sets_that_spell_one_type_otherwise_do_not_contradict_each_other(subtests: pytest.Subtests) -> None:
    cases = [
        ("int", "INT", False),
        ("number", "integer", False),
        ("bigint", "integer", False),
        ("int", "string", True),
    ]
    for first, second, contradicts in cases:
        with subtests.test(first=first, second=second):
            rows = [
                Declaration(name, name, "d", "dataset", "n", "d", columns={"a": {"type": type_}})
                for name, type_ in (("x", first), ("y", second))
            ]
            found = merge(rows)
            assert found.columns["a"]["type"] == first
            assert [(each.column, each.property) for each in found.contradictions] == [("a", "type")] * contradicts
