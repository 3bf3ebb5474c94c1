"""Kinds of tests, in the words of the tools that make them."""

from __future__ import annotations

import pytest

from headwater_schemas.quality import rule_of


@pytest.mark.parametrize(
    ("word", "rule"),
    [
        ("not_null", "COMPLETENESS"),
        ("dbt_utils.accepted_range", "RANGE"),
        ("expect_column_values_to_be_unique", "UNIQUENESS"),
        ("isContainedIn", "VALIDITY"),
        ("relationships", "REFERENTIAL"),
        ("freshness", "FRESHNESS"),
        ("row_count", "VOLUME"),
        ("schema", "SCHEMA"),
        ("privacy", "PRIVACY"),
        ("custom_sql", None),
        ("", None),
    ],
)
def test_a_word_of_a_tool_has_one_rule(word: str, rule: str | None) -> None:
    assert rule_of(word) == rule
