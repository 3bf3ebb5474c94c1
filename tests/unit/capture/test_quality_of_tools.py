"""Results of Great Expectations, Soda, dbt and Deequ, in the form that each tool gives them."""

from __future__ import annotations

from typing import Any

import pytest

from headwater_producers.spark import CaptureError, quality
from headwater_schemas.events import QualityResult


class OfGreatExpectations:
    """Validation result like those of Great Expectations: an object that makes a dictionary of itself."""

    def __init__(self, **fields: Any) -> None:
        self._fields = fields

    def to_json_dict(self) -> dict[str, Any]:
        return self._fields


def between(least: int, *, success: bool, percent: float) -> dict[str, Any]:
    kwargs = {"column": "price", "min_value": least, "batch_id": "orders"}
    return {
        "success": success,
        "expectation_config": {
            "type": "expect_column_values_to_be_between",
            "kwargs": kwargs,
            "severity": "warning",
            "meta": {},
        },
        "result": {"element_count": 50, "unexpected_count": 1, "unexpected_percent": percent},
    }


def test_great_expectations() -> None:
    rows = {
        "success": True,
        "expectation_config": {"type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 1}},
        "result": {"observed_value": 50},
    }
    keys = {
        "success": True,
        # As version 0.18 calls it.
        "expectation_config": {
            "expectation_type": "expect_compound_columns_to_be_unique",
            "kwargs": {"column_list": ["id", "Day"]},
        },
        "result": {},
    }
    several = [rows, keys, between(0, success=False, percent=2.0), between(-1, success=True, percent=0.0)]
    result = OfGreatExpectations(suite_name="orders", results=several)
    name = "expect_column_values_to_be_between"
    assert quality.great_expectations(result) == [
        QualityResult(assertion="expect_table_row_count_to_be_between", passed=True, value=50, rule="VOLUME"),
        QualityResult(
            assertion="expect_compound_columns_to_be_unique", passed=True, column="id, Day", rule="UNIQUENESS"
        ),
        QualityResult(assertion=name, passed=False, value=2, column="price", rule="RANGE", severity="warning"),
        QualityResult(assertion=f"{name} 2", passed=True, value=0, column="price", rule="RANGE", severity="warning"),
    ]
    assert quality.great_expectations({"results": []}) == []


def test_soda() -> None:
    def check(name: str, outcome: str | None, column: str | None = None, **more: Any) -> dict[str, Any]:
        definition = f"checks for orders:\n  - {name}"
        return {"name": name, "definition": definition, "table": "orders", "column": column, "outcome": outcome} | more

    scan = {
        "hasErrors": False,
        "checks": [
            check("missing_count(id) = 0", "pass", "id", diagnostics={"blocks": [], "value": 0}),
            check("row_count > 0", "warn", diagnostics={"value": 3}),
            check("values in (customer) must exist in customers (id)", "fail", "customer"),
            check("Nobody pays nothing", "fail", definition="checks for orders:\n  - failed rows:\n      name: Nobody"),
            check("freshness(at) < 1d", None, "at"),
            check("max(price) < 100", "pass", "price", table="prices"),
        ],
    }
    found = quality.soda(scan, table="orders")
    assert found == [
        QualityResult(assertion="missing_count(id) = 0", passed=True, value=0, column="id", rule="COMPLETENESS"),
        QualityResult(assertion="row_count > 0", passed=False, value=3, rule="VOLUME", severity="warn"),
        QualityResult(
            assertion="values in (customer) must exist in customers (id)",
            passed=False,
            column="customer",
            rule="REFERENTIAL",
        ),
        QualityResult(assertion="Nobody pays nothing", passed=False),
    ]
    assert [each.rule for each in quality.soda(scan)][-1] == "RANGE"


NOT_NULL = "test.shop.not_null_orders_order_id.1a2b3c"
RANGE = "test.shop.dbt_utils_accepted_range_orders_price__0.4d5e6f"
OWN = "test.shop.assert_paid.7a8b9c"
RESULTS = {
    "metadata": {"dbt_version": "1.9.0"},
    "results": [
        {"unique_id": "model.shop.orders", "status": "success", "failures": None},
        {"unique_id": NOT_NULL, "status": "pass", "failures": 0},
        {"unique_id": RANGE, "status": "warn", "failures": 7},
        {"unique_id": OWN, "status": "fail", "failures": 2},
        {"unique_id": "test.shop.unique_orders_id.0", "status": "skipped", "failures": None},
    ],
}
MANIFEST = {
    "nodes": {
        NOT_NULL: {
            "column_name": "order_id",
            "test_metadata": {"name": "not_null", "namespace": None},
            "attached_node": "model.shop.orders",
            "config": {"severity": "ERROR"},
        },
        RANGE: {
            "column_name": "price",
            "test_metadata": {"name": "accepted_range", "namespace": "dbt_utils"},
            "attached_node": "model.shop.orders",
            "config": {"severity": "warn"},
        },
        OWN: {"depends_on": {"nodes": ["model.shop.payments"]}, "config": {"severity": "ERROR"}},
    }
}


def test_dbt_with_its_manifest() -> None:
    assert quality.dbt(RESULTS, MANIFEST, model="orders") == [
        QualityResult(
            assertion="not_null_orders_order_id",
            passed=True,
            value=0,
            column="order_id",
            rule="COMPLETENESS",
            severity="ERROR",
        ),
        QualityResult(
            assertion="dbt_utils_accepted_range_orders_price__0",
            passed=False,
            value=7,
            column="price",
            rule="RANGE",
            severity="warn",
        ),
    ]
    assert [each.assertion for each in quality.dbt(RESULTS, MANIFEST, model="payments")] == ["assert_paid"]


def test_dbt_by_its_results_alone() -> None:
    found = quality.dbt(RESULTS)
    assert [(each.passed, each.rule, each.severity, each.column) for each in found] == [
        (True, "COMPLETENESS", None, None),
        (False, "RANGE", "warn", None),
        (False, None, None, None),
    ]
    with pytest.raises(CaptureError, match="needs the manifest"):
        quality.dbt(RESULTS, model="orders")


def test_a_dbt_test_of_severity_error_that_only_warns() -> None:
    """Its thresholds are `warn_if: ">0"` and `error_if: ">10"`."""
    results = {"results": [{"unique_id": NOT_NULL, "status": status, "failures": 5} for status in ("warn", "fail")]}
    assert [each.severity for each in quality.dbt(results, MANIFEST)] == ["warn", "ERROR"]


DEEQU_RULES: list[tuple[str, str | None, str | None]] = [
    ("CompletenessConstraint(Completeness(id,None,None))", "id", "COMPLETENESS"),
    ("UniquenessConstraint(Uniqueness(List(id, day),None,None))", "id, day", "UNIQUENESS"),
    ("SizeConstraint(Size(None))", None, "VOLUME"),
    ("MinimumConstraint(Minimum(price,None,None))", "price", "RANGE"),
    ("ComplianceConstraint(Compliance(price is positive,price > 0,None,List(price),None))", "price", "VALIDITY"),
    ("PatternMatchConstraint(PatternMatch(mail,None,^[^@]+@.+$,None))", "mail", "VALIDITY"),
    ("one of its own", None, None),
]


def test_deequ(subtests: pytest.Subtests) -> None:
    for constraint, column, rule in DEEQU_RULES:
        with subtests.test(constraint=constraint, column=column):
            row = {
                "check": "orders",
                "check_level": "Warning",
                "check_status": "Warning",
                "constraint": constraint,
                "constraint_status": "Failure",
                "constraint_message": "Value: 0.98 does not meet the constraint requirement!",
            }
            assert quality.deequ([row]) == [
                QualityResult(
                    assertion=constraint, passed=False, value=0.98, column=column, rule=rule, severity="Warning"
                )
            ]


OTHER_FORMS: list[tuple[Any, str]] = [
    (lambda: quality.great_expectations({"success": True}), "a list of `results`"),
    (lambda: quality.great_expectations("passed"), "is a mapping, not str"),
    (lambda: quality.soda({}), "a list of `checks`"),
    (lambda: quality.dbt({"results": {}}), "a list of `results`"),
    (lambda: quality.dbt({"results": [{"unique_id": "test.shop.paid.1", "status": "success"}]}), "and not run it"),
]


def test_another_form_is_refused(subtests: pytest.Subtests) -> None:
    for made, message in OTHER_FORMS:
        with subtests.test(message), pytest.raises(CaptureError, match=message):
            made()
