"""Every kind of difference: a case that is one, and one that nearly is."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis.errors import QuestionError
from headwater_review.compare import DifferenceKind, Retyping, SchemaDifference, compare, retyping
from headwater_review.reading.files import read_schema
from headwater_review.wording import text_of

AVRO = '{{"type": "record", "name": "R", "fields": [{{"name": "a", "type": {}}}]}}'
WIDER = "(WIDER: every old value is one of the new type)"
NARROWER = "(NARROWER: Spark casts it, and values may be lost or refused)"
OTHER = "(OTHER: Spark can't cast the values)"
COLUMN = '[{{"name": "a", "type": "int"{}}}]'


def enum(*symbols: str, name: str = "E") -> str:
    return AVRO.format(json.dumps({"type": "enum", "name": name, "symbols": symbols}))


def differences(old: str, new: str, renames: Mapping[str, str] | None = None) -> tuple[SchemaDifference, ...]:
    return compare(read_schema("old", old), read_schema("new", new), renames)


def texts(old: str, new: str, **renames: str) -> list[str]:
    return [text_of(each) for each in differences(old, new, renames)]


def test_a_difference(subtests: pytest.Subtests) -> None:
    cases = [
        ("a int", "a int, b int", ["b is added as int, optional"]),
        ("a int", "a int, b int not null", ["b is added as int, required"]),
        ("a int", "a int, b int not null default 3", ["b is added as int, optional"]),
        ("a int", "a int, s struct<x: int>", ["s is added as struct<x:int>, optional"]),
        ("s struct<x: int>", "s struct<x: int, y: int>", ["s.y is added as int, optional"]),
        ("a int, b int", "a int", ["b is removed"]),
        ("a int, b int", "b int, a int", []),
        ("a int, s struct<x: int, y: int>", "a int", ["s is removed"]),
        ("s struct<x: int, y: int>", "s struct<x: int>", ["s.y is removed"]),
        ("l array<struct<x: int, y: int>>", "l array<struct<x: int>>", ["l.[].y is removed"]),
        ("a int", "a bigint", [f"a is retyped from int to bigint {WIDER}"]),
        ("a int", "a INTEGER", []),
        ("a decimal(8,2)", "a decimal(8, 2)", []),
        ("a bigint", "a int", [f"a is retyped from bigint to int {NARROWER}"]),
        ("a int", "a array<int>", [f"a is retyped from int to array<int> {OTHER}", "a.[] is added as int, optional"]),
        (
            "s struct<x: int>",
            "s string",
            [f"s is retyped from struct<x:int> to string {OTHER}", "s.x is removed"],
        ),
        ("l array<int>", "l array<bigint>", [f"l.[] is retyped from int to bigint {WIDER}"]),
        (
            "m map<int, int>",
            "m map<string, int>",
            [f"m is retyped from map<int,int> to map<string,int> {OTHER}"],
        ),
        ("a int not null", "a int", ["a may be null from now on"]),
        ("a int", "a int not null", ["a is never null from now on"]),
        ("a int", COLUMN.format(""), []),  # a list of columns that doesn't state whether it may be null
        (enum("x", "y"), enum("x", "z"), ["a has other values: + z, - y"]),
        (enum("x", "y"), enum("y", "x", name="F"), []),
        (enum("x"), AVRO.format('"string"'), ["a has other values: x → any"]),
        ("a string not null", enum("x"), []),  # DDL has no enums
        (COLUMN.format(', "unit": "km"'), COLUMN.format(', "unit": "mi"'), ["a has another unit: km → mi"]),
        (COLUMN.format(""), COLUMN.format(', "unit": "km"'), ["The description of a changes"]),
        (COLUMN.format(', "meaning": "x"'), COLUMN.format(', "meaning": "y"'), ["a means something else: x → y"]),
        (COLUMN.format(', "meaning": "gross"'), COLUMN.format(', "meaning": "gross"'), []),
        ("a int comment 'x'", "a int comment 'y'", ["The description of a changes"]),
        ("a int comment 'x'", "a int comment 'x'", []),
        (
            "create table t (a int, b int) partitioned by (a)",
            "create table t (a int, b int) partitioned by (b)",
            ["The dataset is partitioned differently: a → b"],
        ),
        ("create table t (a int) partitioned by (a)", "create table t (a int) partitioned by (A)", []),
        ("create table t (a int) partitioned by (a)", "a int", []),  # columns alone don't state a partitioning
    ]
    for old, new, expected in cases:
        with subtests.test(old=old, new=new):
            assert texts(old, new) == expected


def test_several_at_once() -> None:
    assert texts("a int, b int, c string", "a bigint, c string not null, d date") == [
        f"a is retyped from int to bigint {WIDER}",
        "b is removed",
        "c is never null from now on",
        "d is added as date, optional",
    ]


def test_a_rename_is_declared() -> None:
    assert texts("a int, b int", "a int, c int", b="c") == ["b is renamed to c"]
    assert texts("s struct<x: int>", "t struct<x: bigint>", s="t") == [
        "s is renamed to t",
        f"s.x is retyped from int to bigint {WIDER}",
    ]
    assert texts("create table t (a int) partitioned by (a)", "create table t (b int) partitioned by (b)", a="b") == [
        "a is renamed to b"
    ]


def test_a_rename_is_suggested_and_never_taken_for_one() -> None:
    gone, come = differences("a int, total_price int, x int", "a int, price_total int, x int")
    assert (gone.kind, gone.similar) == (DifferenceKind.REMOVED, "price_total")
    assert come.kind is DifferenceKind.ADDED
    assert [each.similar for each in differences("a int, b int", "a int, c string")] == [None, None]
    several = differences("a int, customer int, zone int", "customer_id int, day int, hour int")
    assert {each.column: each.similar for each in several if each.similar} == {"customer": "customer_id"}


def test_a_rename_of_what_is_not_there(subtests: pytest.Subtests) -> None:
    cases = [
        ({"z": "b"}, "old has no column 'z'"),
        ({"a": "z"}, "new has no column 'z'"),
        ({"kept": "b"}, "'kept' is still in new"),
        ({"a": "kept"}, "'kept' can't be a new name"),
    ]
    for renames, says in cases:
        with subtests.test(renames=renames):
            with pytest.raises(QuestionError) as refused:
                differences("a int, kept int", "b int, kept int", renames)
            assert says in str(refused.value)
            assert refused.value.field == "rename"


def test_retyping(subtests: pytest.Subtests) -> None:
    cases = [
        ("int", "bigint", "WIDER"),
        ("int", "double", "WIDER"),
        ("bigint", "double", "NARROWER"),
        ("float", "double", "WIDER"),
        ("decimal(8,2)", "decimal(10,2)", "WIDER"),
        ("decimal(8,2)", "decimal(10,4)", "WIDER"),
        ("decimal(8,2)", "decimal(9,4)", "NARROWER"),
        ("int", "decimal(10,0)", "WIDER"),
        ("int", "decimal(9,0)", "NARROWER"),
        ("varchar(5)", "string", "WIDER"),
        ("string", "varchar(5)", "NARROWER"),
        ("int", "string", "NARROWER"),
        ("date", "timestamp", "WIDER"),
        ("timestamp", "date", "NARROWER"),
        ("boolean", "int", "NARROWER"),
        ("date", "int", "OTHER"),
        ("binary", "int", "OTHER"),
        ("struct", "string", "OTHER"),
    ]
    for old, new, verdict in cases:
        with subtests.test(old=old, new=new):
            assert retyping(old, new) is Retyping(verdict)


NAMES = st.sampled_from(["a", "b", "c", "d"])
TYPES = st.sampled_from(["int", "bigint", "string", "struct<x: int, y: string>", "array<int>", "map<string, int>"])
SCHEMAS = st.dictionaries(NAMES, st.tuples(TYPES, st.booleans()), min_size=1).map(
    lambda columns: ", ".join(f"{name} {type_}{' not null' * required}" for name, (type_, required) in columns.items())
)


@given(SCHEMAS)
def test_a_schema_does_not_differ_from_itself(schema: str) -> None:
    assert differences(schema, schema) == ()


@given(SCHEMAS, SCHEMAS)
def test_there_and_back(old: str, new: str) -> None:
    """Columns added one way are removed the other way; other differences are there both ways."""
    there, back = differences(old, new), differences(new, old)
    opposite = {DifferenceKind.ADDED: DifferenceKind.REMOVED, DifferenceKind.REMOVED: DifferenceKind.ADDED}
    assert sorted((each.kind, each.column) for each in there) == sorted(
        (opposite.get(each.kind, each.kind), each.column) for each in back
    )


@given(SCHEMAS, SCHEMAS)
def test_no_column_is_listed_twice(old: str, new: str) -> None:
    found = [(each.kind, each.column) for each in differences(old, new)]
    assert len(found) == len(set(found))
    gone = [each.column for each in differences(old, new) if each.kind is DifferenceKind.REMOVED]
    assert not any(one.startswith(f"{other}.") for one, other in itertools.permutations(gone, 2))
