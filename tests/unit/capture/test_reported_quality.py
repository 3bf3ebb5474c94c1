"""Outcomes of checks: those that a write's frame observed, and those that another tool reports of a dataset."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from headwater_producers.spark import Capture, CaptureError
from headwater_producers.spark.driver.reported_quality import quality_events, quality_reported
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_schemas.codec import encode
from headwater_schemas.events import DatasetRef, DatasetUse, QualityResult, RunEventType
from support.capture import body, event_context

AT = datetime(2026, 11, 23, tzinfo=UTC)
ORDERS = DatasetRef("file", "/data/orders")


def reported(*results: Any, dataset: Any = "/data/orders", suite: str = "orders", **more: Any) -> Any:
    defaults: dict[str, Any] = {"suite_version": None, "started_at": None, "at": AT}
    return quality_reported(results, dataset=dataset, suite=suite, **(defaults | more))


def test_a_suite_is_a_run_of_its_own_that_read_the_dataset() -> None:
    signal = reported(
        {"assertion": "not_null", "passed": False, "column": "id", "severity": "error"},
        QualityResult(assertion="unique", passed=True, value=7, rule="own"),
        suite_version="3",
        started_at=AT - timedelta(seconds=5),
    )
    job, start, end = list(quality_events(event_context(), signal, DedupCache()))
    assert all(encode(event) for event in (job, start, end))
    assert (body(start).type, body(end).type) == (RunEventType.START, RunEventType.COMPLETE)
    assert end.job is not None
    assert end.job.name == "flights.orders"
    assert body(end).inputs == (DatasetUse(dataset=ORDERS),)
    assert body(end).quality == (
        QualityResult(
            assertion="not_null",
            passed=False,
            column="id",
            dataset=ORDERS,
            rule="COMPLETENESS",
            severity="error",
            suite="orders",
            suite_version="3",
        ),
        QualityResult(
            assertion="unique", passed=True, value=7, dataset=ORDERS, rule="own", suite="orders", suite_version="3"
        ),
    )
    assert body(end).ended_at == AT


MISSING: list[tuple[dict[str, Any], str]] = [
    ({"dataset": "orders"}, "dataset is a path"),
    ({"dataset": 7}, "dataset is a path"),
    ({"suite": ""}, "needs the name of the suite"),
]


def test_what_is_missing_is_named(subtests: pytest.Subtests) -> None:
    for given, message in MISSING:
        with subtests.test(given=given), pytest.raises(CaptureError, match=message):
            reported(**given)


ILL_FORMED: list[tuple[Any, str]] = [
    ({"assertion": "a"}, r"results\[0\].*passed"),
    ({"assertion": "a", "passed": "yes"}, r"results\[0\].*passed"),
    ({"assertion": "a", "passed": True, "colum": "id"}, r"results\[0\] has a field 'colum'"),
    ("a", r"results\[0\] is a mapping"),
]


def test_an_ill_formed_result_is_refused_with_its_field(subtests: pytest.Subtests) -> None:
    for result, message in ILL_FORMED:
        with subtests.test(result=result), pytest.raises(CaptureError, match=message):
            reported(result)


def test_nothing_is_reported_where_nothing_is_captured() -> None:
    assert Capture().report_quality([], dataset=ORDERS, suite="orders") is None
    with pytest.raises(CaptureError):
        Capture().report_quality([], dataset="orders", suite="orders")
