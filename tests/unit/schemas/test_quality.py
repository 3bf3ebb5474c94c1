"""Kinds of tests, in the words of the tools that make them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_schemas.quality import rule_by_beginning, rule_of

if TYPE_CHECKING:
    import pytest


def test_a_word_of_a_tool_has_one_rule(subtests: pytest.Subtests) -> None:
    cases = [
        ("not_null", "COMPLETENESS"),
        ("dbt_utils.accepted_range", "RANGE"),
        ("expect_column_values_to_be_unique", "UNIQUENESS"),
        ("isContainedIn", "VALIDITY"),
        ("relationships", "REFERENTIAL"),
        ("freshness", "FRESHNESS"),
        ("row_count", "VOLUME"),
        ("schema", "SCHEMA"),
        ("distribution_difference", "DRIFT"),
        ("expect_column_kl_divergence_to_be_less_than", "DRIFT"),
        ("privacy", "PRIVACY"),
        ("distribution", None),
        ("custom_sql", None),
        ("", None),
    ]
    for word, rule in cases:
        with subtests.test(word=word):
            assert rule_of(word) == rule


def test_the_longest_beginning_decides(subtests: pytest.Subtests) -> None:
    cases = [
        ("not_null", "COMPLETENESS"),
        ("not_null_orders_id", "COMPLETENESS"),
        ("UNIQUE_id", "UNIQUENESS"),
        ("row_count_of_orders", "VOLUME"),
        ("between_price", "RANGE"),
        ("is_unique", None),
        ("has_id", None),
        ("uniqueness2", None),
        ("bool_and((id IS NOT NULL))", None),
        ("", None),
    ]
    for name, rule in cases:
        with subtests.test(name=name):
            assert rule_by_beginning(name) == rule
