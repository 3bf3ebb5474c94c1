"""The figures, from what the brokers hold."""

from __future__ import annotations

from headwater_consumers.kafka.kafka_source import after_rewind
from headwater_consumers.kafka.offsets import CommittedOffset, PartitionOffsets, start_offset
from headwater_consumers.kafka.records import FetchedRecord, Partition, next_offsets
from headwater_consumers.materializer.accounting import settle
from headwater_consumers.materializer.dead_letters.letter import RecordCoordinates, coordinate
from headwater_consumers.materializer.errors import DeadLetterReason
from headwater_schemas.errors import DecodeReason

P0, P1 = Partition("t", 0, "now"), Partition("t", 1, "now")
BEFORE = Partition("t", 0, "before")


def of(partition: Partition, offset: int, end: int | None = None) -> RecordCoordinates:
    return RecordCoordinates(partition, offset, offset + 1 if end is None else end)


def test_acknowledged_is_applied_and_dead_lettered_and_pending() -> None:
    figures = settle([PartitionOffsets(P0, 0, 10, 8), PartitionOffsets(P1, 0, 5, None)], [of(P0, 3), of(P0, 7)])
    assert (figures.acknowledged, figures.applied, figures.dead_lettered, figures.pending) == (15, 6, 2, 7)
    assert not figures.closed
    assert figures.acknowledged == figures.applied + figures.dead_lettered + figures.pending + figures.expired


def test_a_letter_that_was_sent_twice_is_one() -> None:
    figures = settle([PartitionOffsets(P0, 0, 10, 10)], [of(P0, 3), of(P0, 3), of(P0, 3)])
    assert (figures.applied, figures.dead_lettered, figures.closed) == (9, 1, True)


def test_a_letter_of_several_offsets_is_each_of_them_once() -> None:
    figures = settle([PartitionOffsets(P0, 0, 10, 8)], [of(P0, 2, 6), of(P0, 4), of(P0, 5, 7), of(P0, 7, 100)])
    assert (figures.applied, figures.dead_lettered, figures.pending) == (2, 6, 2)


def test_a_letter_whose_offset_is_not_committed_is_pending_still() -> None:
    figures = settle([PartitionOffsets(P0, 0, 10, 3)], [of(P0, 3)])
    assert (figures.applied, figures.dead_lettered, figures.pending) == (3, 0, 7)


def test_letters_of_an_earlier_incarnation_of_the_topic_are_not_this_ones() -> None:
    figures = settle([PartitionOffsets(P0, 0, 10, 10)], [of(BEFORE, 3)])
    assert (figures.applied, figures.dead_lettered) == (10, 0)


def test_what_retention_deleted_unread_is_reported_and_never_counts_as_applied() -> None:
    figures = settle([PartitionOffsets(P0, 6, 10, 4)], [])
    assert (figures.applied, figures.expired, figures.pending, figures.closed) == (4, 2, 4, False)
    assert settle([PartitionOffsets(P0, 6, 10, 10)], []).closed, "read before it was deleted"


def test_coordinates_are_read_from_headers_of_ours_alone() -> None:
    headers = [
        ("__connect.errors.topic", b"t"),
        ("__connect.errors.partition", b"0"),
        ("__connect.errors.offset", b"12"),
        ("headwater.topic.id", b"now"),
    ]
    assert coordinate(headers) == RecordCoordinates(P0, 12, 13)
    assert coordinate([*headers, ("headwater.offset.end", b"15")]) == RecordCoordinates(P0, 12, 15)
    assert coordinate(headers[:2]) is None
    assert coordinate([*headers[:2], ("__connect.errors.offset", b"twelve")]) is None
    assert coordinate(None) is None


def test_a_committed_offset_is_where_to_start_only_in_its_own_incarnation() -> None:
    from confluent_kafka import OFFSET_BEGINNING, OFFSET_STORED

    assert start_offset(None, "now") == OFFSET_STORED
    assert start_offset(CommittedOffset(5, "now"), "now") == 5
    assert start_offset(CommittedOffset(5, "before"), "now") == OFFSET_BEGINNING
    assert start_offset(CommittedOffset(5, ""), "now") == 5, "committed by a tool that knows no ids"


def test_the_next_offset_is_behind_the_last_record_or_the_end_that_was_reached() -> None:
    records = [FetchedRecord(P0, 4, b""), FetchedRecord(P1, 9, b""), FetchedRecord(P0, 5, b"")]
    assert next_offsets(records) == {P0: 6, P1: 10}
    assert next_offsets(records, {P0: 8}) == {P0: 8, P1: 10}
    assert next_offsets([], {P0: 0}) == {P0: 0}


def test_the_contracts_decode_reasons_are_dead_letter_reasons() -> None:
    assert {reason.value for reason in DecodeReason} <= {reason.value for reason in DeadLetterReason}


def test_what_a_poll_brought_before_a_partition_was_set_back_is_left_out() -> None:
    def records(*offsets: int) -> list[FetchedRecord]:
        return [FetchedRecord(P0, offset, b"") for offset in offsets]

    assert after_rewind(records(1, 2, 3)) == records(1, 2, 3)
    assert after_rewind(records(7, 8, 3, 4)) == records(3, 4)
    assert after_rewind([*records(7), FetchedRecord(P1, 1, b""), *records(3)]) == [
        FetchedRecord(P1, 1, b""),
        *records(3),
    ]
