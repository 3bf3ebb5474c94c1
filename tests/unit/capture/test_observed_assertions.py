from __future__ import annotations

import json

from headwater_producers.spark.streaming.interval import parse_progress
from headwater_schemas.events import QualityResult
from support.capture import recorded


def quality(observed: object) -> tuple[QualityResult, ...]:
    document = json.loads(recorded("kafka_next_batch"))
    return parse_progress(json.dumps({**document, "observedMetrics": observed})).quality


def test_a_boolean_is_an_assertion_and_a_number_beside_it_its_value() -> None:
    observed = {
        "orders": {"has_id": False, "has_id_value": 3, "positive": True, "rows": 100, "by": "EWR"},
        "last": {"fresh": True, "fresh_value": None},
    }
    assert quality(observed) == (
        QualityResult(assertion="last.fresh", passed=True),
        QualityResult(assertion="orders.has_id", passed=False, value=3.0),
        QualityResult(assertion="orders.positive", passed=True),
    )


def test_the_name_of_a_metric_decides_its_rule() -> None:
    observed = {"orders": {"not_null_id": False, "unique": True, "has_id": True, "privacy": 0}, "unique": {"id": True}}
    assert [(each.assertion, each.rule) for each in quality(observed)] == [
        ("orders.has_id", None),
        ("orders.not_null_id", "COMPLETENESS"),
        ("orders.unique", "UNIQUENESS"),
        ("unique.id", None),
    ]


def test_nothing_observed_asserts_nothing() -> None:
    assert quality({}) == quality(None) == quality({"orders": None}) == quality({"orders": {"rows": 7}}) == ()
