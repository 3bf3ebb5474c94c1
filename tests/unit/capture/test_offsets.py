from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from headwater_producers.spark.connectors.kafka.connector import kafka_offsets, kafka_ranges
from headwater_schemas.events import Certainty, KafkaRanges, OffsetRange

if TYPE_CHECKING:
    import pytest


def test_ranges_are_half_open_and_in_order_of_partition() -> None:
    read = kafka_ranges({"t": {10: 5, 9: 1}}, {"t": {10: 7, 9: 1}})
    assert read["t"].ranges == KafkaRanges("t", (OffsetRange(9, 1, 1), OffsetRange(10, 5, 7)))
    assert read["t"].certainty is Certainty.EXACT


def test_a_new_partition_is_inferred_from_its_beginning() -> None:
    read = kafka_ranges({"t": {0: 5}}, {"t": {0: 6, 1: 3}})
    assert read["t"].ranges.ranges == (OffsetRange(0, 5, 6), OffsetRange(1, 0, 3))
    assert read["t"].certainty is Certainty.INFERRED


def test_a_first_batch_begins_where_the_checkpoint_says() -> None:
    read = kafka_ranges(None, {"t": {0: 6}}, {"t": {0: 4}})
    assert read["t"].ranges.ranges == (OffsetRange(0, 4, 6),)
    assert read["t"].certainty is Certainty.EXACT


def test_a_first_batch_without_a_checkpoint_is_inferred() -> None:
    assert kafka_ranges(None, {"t": {0: 6}})["t"].certainty is Certainty.INFERRED


def test_the_log_of_first_offsets_counts_for_first_batches_only() -> None:
    read = kafka_ranges({"t": {0: 5}}, {"t": {0: 6, 1: 9}}, {"t": {0: 1, 1: 7}})
    assert read["t"].ranges.ranges == (OffsetRange(0, 5, 6), OffsetRange(1, 0, 9))


def test_a_vanished_partition_or_topic_is_not_listed() -> None:
    read = kafka_ranges({"t": {0: 5, 1: 5}, "gone": {0: 1}}, {"t": {0: 6}})
    assert list(read) == ["t"]
    assert [part.partition for part in read["t"].ranges.ranges] == [0]


def test_of_a_topic_made_anew_nothing_is_read_up_to_where_it_is_met() -> None:
    read = kafka_ranges({"t": {0: 500}}, {"t": {0: 6}})
    assert read["t"].ranges.ranges == (OffsetRange(0, 6, 6),)
    assert read["t"].certainty is Certainty.INFERRED


def test_what_is_no_kafka_offset(subtests: pytest.Subtests) -> None:
    values: list[object] = [None, 5, "x", {"logOffset": 3}, {"t": 3}, {"t": {"x": 3}}, {"t": {"0": -2}}, []]
    for value in values:
        with subtests.test(value=value):
            assert kafka_offsets(value) is None


steps = st.lists(st.dictionaries(st.integers(0, 4), st.integers(0, 20), min_size=1), min_size=1, max_size=8)


@given(steps)
def test_a_chain_of_batches_has_no_gap_and_no_overlap(additions: list[dict[int, int]]) -> None:
    """Whatever partitions appear when: what each batch reads joins up with what the last one read."""
    ends: list[dict[str, dict[int, int]]] = []
    total: dict[int, int] = {}
    for added in additions:
        total = {partition: total.get(partition, 0) + added.get(partition, 0) for partition in {*total, *added}}
        ends.append({"t": dict(total)})
    reached: dict[int, int] = {}
    start: dict[str, dict[int, int]] | None = None
    for end in ends:
        for part in kafka_ranges(start, end)["t"].ranges.ranges:
            assert part.from_ == reached.get(part.partition, 0)
            reached[part.partition] = part.to_exclusive
        start = end
    assert reached == total
