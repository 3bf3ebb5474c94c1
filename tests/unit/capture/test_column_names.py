"""Reported names of columns that Spark made of expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_producers.spark.plan.names import PlanNames, reporting, without_keys, without_literals
from headwater_producers.spark.plan.schema import path_text, schema_definition

if TYPE_CHECKING:
    import pytest

ENCRYPTED: list[tuple[str, str]] = [
    ("aes_encrypt(ssn, SEKRIT, GCM, DEFAULT, , )", "aes_encrypt(ssn, ?)"),
    ("base64(aes_encrypt(ssn, SEKRIT, GCM, DEFAULT, , ))", "base64(aes_encrypt(ssn, ?))"),
    ("concat(aes_encrypt(a, SEKRIT, GCM, DEFAULT, , ), b)", "concat(aes_encrypt(a, ?), b)"),
    (
        "aes_decrypt(aes_encrypt(a, SEKRIT, GCM, DEFAULT, , ), SEKRIT, GCM, DEFAULT, )",
        "aes_decrypt(aes_encrypt(a, ?), ?)",
    ),
    ("try_aes_decrypt(unbase64(x), SEKRIT, GCM, DEFAULT, )", "try_aes_decrypt(unbase64(x), ?)"),
    ("aes_encrypt(ssn, unhex(SEKRIT), GCM, DEFAULT, , )", "aes_encrypt(ssn, ?)"),
    ("aes_encrypt(4111-SEKRIT, k, GCM, DEFAULT, , )", "aes_encrypt(?, ?)"),
    # Where a key has a comma or a bracket in it, nobody knows where it ends.
    ("upper(aes_encrypt(ssn, SEK)RIT, GCM, DEFAULT, , ))", "upper(aes_encrypt(ssn, ?))"),
    ("upper(aes_encrypt(ssn, SEK,RIT(, GCM, DEFAULT, , ))", "upper(aes_encrypt(ssn, ?))"),
    ("aes_encrypt(ssn, SEKRIT", "aes_encrypt(ssn, ?)"),
    ("aes_encrypt(" * 5_000 + "SEKRIT", "aes_encrypt(?, ?)"),
    ("hmac(ssn, SEKRIT, SHA-256)", "hmac(ssn, ?)"),
    ("to_base32(hmac(ssn, unhex(SEKRIT), SHA-256))", "to_base32(hmac(ssn, ?))"),
    ("hmac(aes_decrypt(ssn, SEKRIT, GCM, DEFAULT, ), SEKRIT, SHA-512)", "hmac(aes_decrypt(ssn, ?), ?)"),
    ("hmac(ssn, SEK,RIT, SHA-256)", "hmac(ssn, ?)"),
    ("sum(x)", "sum(x)"),
    ("hmac_of(x, y)", "hmac_of(x, y)"),
    ("concat(first, -, last)", "concat(first, -, last)"),
]


def test_keys_of_encryption_functions_are_never_in_a_name(subtests: pytest.Subtests) -> None:
    for name, shown in ENCRYPTED:
        with subtests.test(name[:80]):
            assert without_keys(name) == shown
            assert without_keys(shown) == shown
            assert path_text((name,)) == shown


MADE_BY_SPARK: list[tuple[str, str]] = [
    ("concat(first, SEKRIT, last)", "concat(?)"),
    ("concat(first, SEK)RIT(, last)", "concat(?)"),
    ("(delay + 5)", "(?)"),
    ("CASE WHEN (x = SEKRIT) THEN 1 END", "CASE WHEN ? END"),
    ("sum((x * 5))", "sum(?)"),
    ("DE_sum(x)", "?_sum(x)"),
    ("New York_avg((x * 5))", "?_avg(?)"),
    ("attributes[SEKRIT]", "attributes[?]"),
    ("DATE '2013-01-01'", "DATE ?"),
    # Of a column, as Spark names an aggregate.
    ("sum(x)", "sum(x)"),
    ("count(1)", "count(1)"),
    ("count(DISTINCT x)", "count(DISTINCT x)"),
    ("count_if(x)", "count_if(x)"),
    ("now()", "now()"),
    # Given.
    ("total (EUR)", "total (EUR)"),
    ("name", "name"),
    ("flight-number", "flight-number"),
]


def test_a_name_that_spark_made_is_recognized_by_its_shape(subtests: pytest.Subtests) -> None:
    for name, shown in MADE_BY_SPARK:
        with subtests.test(name):
            assert without_literals(name) == shown
            assert without_literals(shown) == shown


def test_a_schema_has_its_names_and_those_within_its_types_so() -> None:
    name = "aes_encrypt(ssn, SEKRIT, GCM, DEFAULT, , )"
    inner = {"type": "struct", "fields": [{"name": name, "type": "binary", "nullable": True}]}
    schema = {"type": "struct", "fields": [{"name": "a", "type": inner, "nullable": True}]}
    assert [(field.path, field.type) for field in schema_definition(schema).fields] == [
        ("a", "struct<aes_encrypt(ssn, ?):binary>"),
        ("a.aes_encrypt(ssn, ?)", "binary"),
    ]


def test_literals_are_hidden_in_names_where_that_is_asked_for_alone() -> None:
    name = "concat(first, SEKRIT, last)"
    assert path_text((name,)) == name
    with reporting(PlanNames(hidden=True)):
        assert path_text((name,)) == "concat(?)"
    assert path_text((name,)) == name
