"""Watermarks and state of streaming plans, and how far behind the watermark a record may still be in the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from headwater_producers.spark.jvm.event_time import event_time

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
MINUTE, HOUR = 60_000, 3_600_000

CASES: dict[str, tuple[Callable[[DataFrame], DataFrame], list[str], int | None, int | None]] = {
    # frame with a watermark of 10 minutes on t ⇒ stateful operators, window, horizon
    "tumbling windows": (lambda f: f.groupBy(F.window("t", "1 hour")).count(), ["Aggregate"], HOUR, HOUR + 10 * MINUTE),
    "sliding windows": (
        lambda f: f.groupBy(F.window("t", "1 hour", "15 minutes"), "value").count(),
        ["Aggregate"],
        HOUR,
        HOUR + 10 * MINUTE,
    ),
    "groups of the event time": (lambda f: f.groupBy("t").count(), ["Aggregate"], None, 10 * MINUTE),
    "groups without it": (lambda f: f.groupBy("value").count(), ["Aggregate"], None, None),
    "sessions": (lambda f: f.groupBy(F.session_window("t", "5 minutes")).count(), ["Aggregate"], None, None),
    "duplicates by event time": (lambda f: f.dropDuplicates(["value", "t"]), ["Deduplicate"], None, 10 * MINUTE),
    "duplicates without it": (lambda f: f.dropDuplicates(["value"]), ["Deduplicate"], None, None),
    "duplicates within the watermark": (
        lambda f: f.dropDuplicatesWithinWatermark(["value"]),
        ["DeduplicateWithinWatermark"],
        None,
        None,
    ),
    "a join of two streams": (
        lambda f: f.join(f.selectExpr("t AS t2", "value AS v2"), F.expr("value = v2 AND t = t2")),
        ["Join"],
        None,
        None,
    ),
    "two steps with state": (
        lambda f: f.dropDuplicates(["value", "t"]).groupBy(F.window("t", "1 hour")).count(),
        ["Aggregate", "Deduplicate"],
        HOUR,
        None,
    ),
    "an input without a watermark": (
        lambda f: f.union(f.sparkSession.readStream.format("rate").load()).groupBy(F.window("t", "1 hour")).count(),
        ["Aggregate"],
        HOUR,
        None,
    ),
    "no state": (lambda f: f.where("value > 1"), [], None, None),
}


@pytest.mark.parametrize("case", CASES)
def test_state_by_event_time(spark: SparkSession, case: str) -> None:
    made, operators, window, horizon = CASES[case]
    rate = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "t").withWatermark("t", "10 minutes")
    found = event_time(made(rate)._jdf.queryExecution().analyzed(), spark._jvm)
    expected: dict[str, Any] = {"statefulOperators": operators, "windowMs": window, "stateHorizonMs": horizon}
    watermarks = found.pop("watermarks")
    assert {tuple(each.values()) for each in watermarks} == {("t", 10 * MINUTE)}
    assert found == {name: value for name, value in expected.items() if value}


def test_one_watermark_over_two_streams(spark: SparkSession) -> None:
    rate = spark.readStream.format("rate").load()
    windows = rate.union(rate).withWatermark("timestamp", "10 minutes").groupBy(F.window("timestamp", "1 hour")).count()
    found = event_time(windows._jdf.queryExecution().analyzed(), spark._jvm)
    assert (len(found["watermarks"]), found["stateHorizonMs"]) == (1, HOUR + 10 * MINUTE)


def test_a_plan_at_rest_has_none(spark: SparkSession) -> None:
    frame = spark.range(3).dropDuplicates()
    assert event_time(frame._jdf.queryExecution().analyzed(), spark._jvm) == {}
