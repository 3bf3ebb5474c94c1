"""Differences that the soak's comparison accepts, and those that fail it."""

from __future__ import annotations

from typing import Any

import pytest

from headwater_benchmarks.soak.verdict import Verdict
from headwater_consumers.kafka.offsets import PartitionOffsets
from headwater_consumers.kafka.records import Partition
from headwater_consumers.materializer.accounting import Accounting, settle
from headwater_consumers.materializer.dead_letters.letter import RecordCoordinates
from headwater_graph.dump import Comparison, compare

pytestmark = pytest.mark.nightly

PARTITION = Partition("soak.events", 0, "id")
SAME = Comparison(equal=7)


def accounting(*, begin: int = 0, end: int = 10, committed: int = 10, letters: tuple[int, ...] = (3,)) -> Accounting:
    coordinates = [RecordCoordinates(PARTITION, offset, offset + 1) for offset in letters]
    return settle([PartitionOffsets(PARTITION, begin, end, committed)], coordinates)


def verdict(**given: Any) -> Verdict:
    good: dict[str, Any] = {
        "accounting": accounting(),
        "comparison": SAME,
        "earlier": (0, 0),
        "bad": 1,
        "acknowledged": 10,
        "seconds": 1.0,
    }
    return Verdict(**{**good, **given})


def test_nothing_is_wrong_where_all_is_applied_or_dead_lettered() -> None:
    assert verdict().faults == []


def test_records_of_topics_that_are_gone_count() -> None:
    assert verdict(earlier=(30, 2), acknowledged=40, bad=3).faults == []
    assert len(verdict(acknowledged=40, bad=3).faults) == 2


def test_each_thing_that_is_wrong_is_named(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"accounting": accounting(committed=9)}, "1 events pending"),
        ({"accounting": accounting(committed=11)}, "-1 events pending"),
        ({"accounting": accounting(begin=2, committed=0, letters=())}, "2 events expired"),
        ({"acknowledged": 11}, "11 records acknowledged, 10 on the topic"),
        ({"acknowledged": 9}, "9 records acknowledged, 10 on the topic"),
        ({"bad": 2}, "1 dead letters, 2 bad records"),
        ({"bad": 0}, "1 dead letters, 0 bad records"),
        ({"accounting": accounting(letters=(3, 4))}, "2 dead letters, 1 bad records"),
        ({"comparison": Comparison(equal=7, missing=1)}, "1 missing"),
        ({"comparison": Comparison(equal=7, extra=1)}, "1 too many"),
        ({"comparison": Comparison(equal=7, changed=1)}, "1 changed"),
    ]
    for given, named in cases:
        with subtests.test(given=given):
            assert any(named in fault for fault in verdict(**given).faults), verdict(**given).faults


def test_a_letter_that_was_sent_twice_is_one() -> None:
    assert verdict(accounting=accounting(letters=(3, 3))).faults == []


def test_one_property_that_differs_is_found() -> None:
    line = '{"key": "a", "_stamp": 1}'
    assert verdict(comparison=compare(iter([line]), iter([line]))).faults == []
    assert verdict(comparison=compare(iter([line]), iter([line.replace("1", "2")]))).faults != []
