"""Differences that the soak's comparison accepts, and those that fail it."""

from __future__ import annotations

from typing import Any

import pytest

from headwater_benchmarks.soak.world import committed_up_to, discrepancies
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


def found(**given: Any) -> list[str]:
    good: dict[str, Any] = {
        "accounting": accounting(),
        "comparison": SAME,
        "earlier": (0, 0),
        "bad": 1,
        "acknowledged": 10,
    }
    return discrepancies(**{**good, **given})


def test_nothing_is_wrong_where_all_is_applied_or_dead_lettered() -> None:
    assert found() == []


def test_records_of_topics_that_are_gone_count() -> None:
    assert found(earlier=(30, 2), acknowledged=40, bad=3) == []
    assert len(found(acknowledged=40, bad=3)) == 2


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
            assert any(named in fault for fault in found(**given)), found(**given)


def test_a_letter_that_was_sent_twice_is_one() -> None:
    assert found(accounting=accounting(letters=(3, 3))) == []


def test_one_property_that_differs_is_found() -> None:
    line = '{"key": "a", "_stamp": 1}'
    assert found(comparison=compare(iter([line]), iter([line]))) == []
    assert found(comparison=compare(iter([line]), iter([line.replace("1", "2")]))) != []


def test_a_group_has_recovered_once_all_of_its_partitions_are_committed() -> None:
    positions = [PartitionOffsets(Partition("soak.events", 0, "id"), 0, 9, 5)]
    nothing = PartitionOffsets(Partition("soak.events", 1, "id"), 0, 3, None)
    assert committed_up_to(positions, {0: 5})
    assert not committed_up_to(positions, {0: 6})
    assert not committed_up_to([*positions, nothing], {0: 5, 1: 3})
    assert committed_up_to([*positions, nothing], {0: 5, 1: 0})
