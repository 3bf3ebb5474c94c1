"""Contract of dead-letter sinks that the checkpoint relies on."""

from __future__ import annotations

from headwater_consumers.kafka.records import FetchedRecord, Partition
from headwater_consumers.materializer.dead_letters.letter import (
    DeadLetter,
    DeadLetterStage,
    RecordCoordinates,
    coordinate,
)
from headwater_consumers.materializer.errors import DeadLetterReason
from headwater_schemas.topics import DEFAULT_MAX_MESSAGE_BYTES
from support.materializer.worlds import World

PARTITION = Partition("lineage.events", 3, "an-id")


def letter(record: FetchedRecord, **fields: str) -> DeadLetter:
    return DeadLetter(
        record,
        DeadLetterReason.NOT_AN_EVENT,
        DeadLetterStage.DECODE,
        error="x.NotAnEventError",
        message="begins with 00",
        **fields,
    )


def test_a_letter_is_the_original_record_and_says_where_it_was_and_why(world: World) -> None:
    record = FetchedRecord(PARTITION, 17, b"\x00garbage", b"key", (("mine", b"1"), ("mine", b"2")), 1_700_000_000_123)
    sink = world.dead_letters()
    sink.send([letter(record, event_id="id-1")])

    (found,) = world.letters()
    assert (found.key, found.value, found.timestamp_ms) == (b"key", b"\x00garbage", 1_700_000_000_123)
    assert found.headers["mine"] == b"2"
    assert {name: value for name, value in found.headers.items() if name != "mine"} == {
        "__connect.errors.topic": b"lineage.events",
        "__connect.errors.partition": b"3",
        "__connect.errors.offset": b"17",
        "__connect.errors.connector.name": b"contract",
        "__connect.errors.task.id": b"0",
        "__connect.errors.stage": b"VALUE_CONVERTER",
        "__connect.errors.class.name": b"headwater_consumers.materializer",
        "__connect.errors.exception.class.name": b"x.NotAnEventError",
        "__connect.errors.exception.message": b"begins with 00",
        "headwater.topic.id": b"an-id",
        "headwater.reason": b"NOT_AN_EVENT",
        "headwater.event.id": b"id-1",
        "headwater.attempt": b"1",
    }
    assert coordinate(found.headers.items()) == RecordCoordinates(PARTITION, 17, 18)


def test_null_and_empty_values_stay_what_they_are(world: World) -> None:
    sink = world.dead_letters()
    sink.send([letter(FetchedRecord(PARTITION, 0, None, b"k")), letter(FetchedRecord(PARTITION, 1, b"", None))])
    assert [(found.key, found.value) for found in world.letters()] == [(b"k", None), (None, b"")]


def test_a_record_as_large_as_its_topic_takes_fits_with_the_longest_headers_of_ours(world: World) -> None:
    # A record batch's overhead is within the topic's limit; 200 bytes are more than it and the record's own.
    value = bytes(number % 251 for number in range(DEFAULT_MAX_MESSAGE_BYTES - 200))
    record = FetchedRecord(PARTITION, 0, value)
    world.put(value)
    sink = world.dead_letters()
    sink.send(
        [
            DeadLetter(
                record,
                DeadLetterReason.TOO_LARGE,
                DeadLetterStage.APPLY,
                error="x.E",
                message="ü" * 9_999,
                event_id="i" * 9_999,
            )
        ]
    )
    (found,) = world.letters()
    assert found.value == value


def test_a_letter_of_a_replayed_record_keeps_its_attempt_and_has_each_header_once(world: World) -> None:
    first = letter(FetchedRecord(PARTITION, 0, b"x"))
    headers = tuple((name, value) for name, value in first.headers(group="contract") if name != "headwater.attempt")
    replayed = FetchedRecord(PARTITION, 9, b"x", None, (*headers, ("headwater.attempt", b"2")))
    again = letter(replayed).headers(group="contract")
    assert len({name for name, _ in again}) == len(again)
    world.dead_letters().send([letter(replayed)])
    (found,) = world.letters()
    assert found.headers["headwater.attempt"] == b"2"
    assert found.headers["__connect.errors.offset"] == b"9"


def test_sending_nothing_is_no_trouble(world: World) -> None:
    world.dead_letters().send([])
    assert list(world.letters()) == []
