"""Rules of assertions, by the names that tools give their tests: `not_null` ⇒ COMPLETENESS."""

from __future__ import annotations

from typing import Final

_WORDS: Final = {
    # dbt, OpenLineage; Great Expectations; Soda; Deequ
    "COMPLETENESS": (
        *("not_null", "not_null_proportion", "expect_column_values_to_not_be_null", "missing_count"),
        *("missing_percent", "completeness", "hascompleteness", "iscomplete"),
    ),
    "UNIQUENESS": (
        *("unique", "unique_combination_of_columns", "expect_column_values_to_be_unique"),
        *("expect_compound_columns_to_be_unique", "duplicate_count", "duplicate_percent", "uniqueness"),
        *("isunique", "hasuniqueness", "isprimarykey", "distinctness", "uniquevalueratio"),
    ),
    "VALIDITY": (
        *("accepted_values", "expect_column_values_to_be_in_set", "expect_column_values_to_match_regex"),
        *("invalid_count", "invalid_percent", "compliance", "iscontainedin", "haspattern", "patternmatch", "validity"),
    ),
    "RANGE": (
        *("accepted_range", "between", "expect_column_values_to_be_between", "expect_column_max_to_be_between"),
        *("expect_column_min_to_be_between", "expect_column_mean_to_be_between", "hasmin", "hasmax", "range"),
        *("avg", "min", "max", "minimum", "maximum", "mean"),
    ),
    "REFERENTIAL": ("relationships", "relationships_where", "reference", "referentialintegrity", "referential"),
    "FRESHNESS": ("freshness", "recency"),
    "VOLUME": (
        *("row_count", "equal_rowcount", "expect_table_row_count_to_be_between"),
        *("expect_table_row_count_to_equal", "size", "hassize", "volume"),
    ),
    "SCHEMA": (
        *("schema", "expect_table_columns_to_match_ordered_list", "expect_table_columns_to_match_set"),
        *("expect_column_to_exist", "expect_column_values_to_be_of_type", "hasdatatype", "datatype"),
    ),
    "DRIFT": ("drift", "distribution_difference", "expect_column_kl_divergence_to_be_less_than"),
    "PRIVACY": ("privacy",),
}
_RULES: Final = {word: rule for rule, words in _WORDS.items() for word in words}


def rule_of(word: str) -> str | None:
    """Return the rule that a test asserts; None if the test isn't known.

    Args:
        word: the tool's name of the test, in upper or lower case; a dbt test may have its package before it:
            `dbt_utils.accepted_range`.
    """
    return _RULES.get(word.lower().rpartition(".")[2])


def rule_by_beginning(name: str) -> str | None:
    """Return the rule whose test's name is the beginning of a name; the longest beginning wins. None: there is none.

    Examples: `not_null_orders_id` ⇒ COMPLETENESS, `accepted_range_price` ⇒ RANGE.

    Args:
        name: name of one check, words separated by `_`.
    """
    words = name.split("_")
    beginnings = ("_".join(words[:count]) for count in range(len(words), 0, -1))
    return next(filter(None, map(rule_of, beginnings)), None)
