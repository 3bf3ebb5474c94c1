"""Offsets whose batch can't be read: what is fetched next, and what is passed over."""

from __future__ import annotations

from headwater_consumers.kafka.records import FetchedRecord, Partition, Unread, next_offsets
from headwater_consumers.kafka.unfetchable import Unfetchable
from headwater_consumers.materializer.batch import BatchPreparation, decode_one
from headwater_consumers.materializer.dead_letters.letter import DeadLetter, DeadLetterStage, coordinate, letter_of
from headwater_consumers.materializer.errors import DeadLetterReason
from headwater_schemas.codec import Decoder
from support.materializer.graph import fold_ids

P0, P1 = Partition("t", 0, "now"), Partition("t", 1, "now")


def failed(found: Unfetchable, offset: int) -> int:
    found.drained()
    return found.failed(P0, offset, "broken")


def test_an_error_that_waited_in_the_queue_is_not_of_the_offset_that_was_asked_for_since() -> None:
    found = Unfetchable()
    assert [failed(found, 5) for _ in range(3)] == [5, 5, 6]
    assert [found.failed(P0, 5, "broken") for _ in range(9)] == [6] * 9, "asked for again before 6 was"
    assert found.passed(P0, 6) == FetchedRecord(P0, 5, None, unread=Unread(6, "broken"))


def test_offsets_are_tried_one_by_one_until_one_can_be_read() -> None:
    found = Unfetchable()
    assert [failed(found, 5) for _ in range(3)] == [5, 5, 6], "thrice, as it may be broken on its way"
    assert failed(found, 5) == 7, "librdkafka may report the first offset of the batch"
    assert failed(found, 7) == 8
    assert found.expects(P0) == 8
    assert found.passed(P0, 6) is None, "of an earlier fetch"
    assert found.passed(P1, 9) is None
    assert found.passed(P0, 8) == FetchedRecord(P0, 5, None, unread=Unread(8, "broken"))
    assert (found.passed(P0, 9), found.expects(P0)) == (None, 0)


def test_what_is_read_after_all_is_not_passed_over() -> None:
    found = Unfetchable()
    assert [failed(found, 5) for _ in range(2)] == [5, 5]
    assert found.passed(P0, 5) is None
    assert failed(found, 5) == 5, "counted anew"
    found.forget(P0)
    assert found.passed(P0, 9) is None


def test_an_end_that_is_reached_ends_the_range_and_gaps_are_passed() -> None:
    found = Unfetchable()
    for _ in range(4):
        failed(found, 5)
    assert found.passed(P0, 20) == FetchedRecord(P0, 5, None, unread=Unread(7, "broken"))


def test_what_has_no_bytes_is_a_dead_letter_by_its_coordinates() -> None:
    broken = FetchedRecord(P0, 5, None, unread=Unread(8, "a wrong checksum"))
    long = FetchedRecord(P0, 9, b"x" * 50, b"key", (("mine", b"1"),), 17).without_bytes(
        "a record of 50 bytes is over 10"
    )
    how = BatchPreparation(Decoder(), lambda _: None, fold_ids, lambda *_: None, lambda: 0.0)
    letters = [decode_one(record, how) for record in (broken, long)]
    assert next_offsets([broken]) == {P0: 8}
    assert str(broken) == "t[0]@5 to 7"
    found = []
    for letter in letters:
        assert isinstance(letter, DeadLetter)
        headers = dict(letter.headers(group="g"))
        source = coordinate(headers.items())
        assert source is not None
        found.append((letter.reason, letter.message, str(source), headers["headwater.left.out.bytes"]))
    assert found == [
        (DeadLetterReason.UNFETCHABLE, "A wrong checksum.", "t[0]@5 to 7", b"unknown"),
        (DeadLetterReason.TOO_LARGE, "A record of 50 bytes is over 10.", "t[0]@9", b"50"),
    ]


def test_a_record_can_not_make_its_letter_stand_for_other_offsets() -> None:
    spoofed = FetchedRecord(P0, 5, b"x", headers=(("headwater.offset.end", b"99"), ("headwater.left.out.bytes", b"1")))
    letter = DeadLetter(spoofed, DeadLetterReason.NOT_AN_EVENT, DeadLetterStage.DECODE, error="E", message="m")
    stored = letter_of(FetchedRecord(P1, 0, b"x", headers=letter.headers(group="g")))
    assert (str(stored.source), stored.left_out) == ("t[0]@5", None)
