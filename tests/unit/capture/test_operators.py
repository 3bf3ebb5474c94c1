from __future__ import annotations

import json
from typing import Any

from headwater_producers.spark.streaming.interval import StateOperator
from headwater_producers.spark.streaming.stream_run import StateTally


def operator(name: str, rows: int | None, dropped: int | None, size: int | None = 100) -> StateOperator:
    return StateOperator(name, rows=rows, bytes=size, dropped_late=dropped)


def facet_of(tally: StateTally) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(tally.facet("https://here"))["operators"]
    return found


def test_each_operator_has_what_it_keeps_now_the_most_it_kept_and_all_that_it_dropped() -> None:
    tally = StateTally()
    assert not tally
    for kept, dropped in ((3, 0), (9, 2), (4, 1)):
        tally.add([operator("stateStoreSave", kept, 0), operator("dedupe", 2 * kept, dropped)])
    save, dedupe = facet_of(tally)
    assert save == {
        "operatorName": "stateStoreSave",
        "numRowsTotal": 4,
        "maxNumRowsTotal": 9,
        "memoryUsedBytes": 100,
        "numRowsDroppedByWatermark": 0,
    }
    assert (dedupe["numRowsTotal"], dedupe["maxNumRowsTotal"], dedupe["numRowsDroppedByWatermark"]) == (8, 18, 3)


def test_two_of_one_name_are_two() -> None:
    tally = StateTally()
    for _ in range(2):
        tally.add([operator("dedupe", 1, 1), operator("dedupe", 5, 0)])
    assert [(each["numRowsTotal"], each["numRowsDroppedByWatermark"]) for each in facet_of(tally)] == [(1, 2), (5, 0)]


def test_what_spark_does_not_tell_is_not_claimed() -> None:
    tally = StateTally()
    tally.add([operator("custom", None, None, None)])
    tally.add([operator("custom", 2, None, None)])
    assert facet_of(tally) == [{"operatorName": "custom", "numRowsTotal": 2, "maxNumRowsTotal": 2}]


def test_a_micro_batch_without_operators_forgets_none() -> None:
    tally = StateTally()
    tally.add([operator("dedupe", 1, 1)])
    tally.add([])
    assert len(facet_of(tally)) == 1
