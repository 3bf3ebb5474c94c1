"""Letters as they are read back, which of them stand, and what goes back to the events topic."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.commands.dlq import letter_named
from headwater.errors import InputError
from headwater_consumers.kafka.offsets import PartitionOffsets
from headwater_consumers.kafka.records import FetchedRecord, Headers, Partition
from headwater_consumers.materializer.dead_letters.acknowledging import Acknowledged
from headwater_consumers.materializer.dead_letters.inspection import Census, LatestLetters, LetterFilter, content
from headwater_consumers.materializer.dead_letters.letter import (
    DeadLetter,
    DeadLetterStage,
    StoredDeadLetter,
    letter_of,
)
from headwater_consumers.materializer.dead_letters.replay import replay_headers
from headwater_consumers.materializer.errors import DeadLetterReason
from headwater_schemas.codec import Decoder
from support.materializer import events

EVENTS = Partition("lineage.events", 3, "incarnation-1")
LETTERS = Partition("lineage.events.dlq", 0, "")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def letter(
    source: int,
    at: int,
    *,
    headers: Headers = (("mine", b"kept"),),
    reason: DeadLetterReason = DeadLetterReason.INVALID_EVENT,
    **record: Any,
) -> StoredDeadLetter:
    """Dead letter that the materializer makes of a record of the events topic at offset `source`, read back at `at`."""
    fields = {
        "value": b"v",
        "key": b'["default","ns","enrich"]',
        "timestamp_ms": int(NOON.timestamp() * 1000),
        **record,
    }
    original = FetchedRecord(EVENTS, source, headers=headers, **fields)
    sent = DeadLetter(original, reason, DeadLetterStage.DECODE, "x.Error", "what is wrong", "event-1")
    return letter_of(FetchedRecord(LETTERS, at, headers=sent.headers(group="g"), **fields))


def replayed(found: StoredDeadLetter, source: int, at: int) -> StoredDeadLetter:
    """The letter that comes of replaying one in vain."""
    return letter(source, at, headers=replay_headers(found))


def test_a_letter_says_where_its_record_was_and_what_is_wrong() -> None:
    found = letter(17, 4)
    assert str(found.source) == "lineage.events[3]@17"
    assert (found.where, found.reason, found.message) == ("0@4", "INVALID_EVENT", "what is wrong")
    assert (found.job, found.time, found.attempt, found.replayed_from) == ("ns/enrich", NOON, 1, None)
    assert found.original_headers == (("mine", b"kept"),)


def test_a_key_that_names_no_job(subtests: pytest.Subtests) -> None:
    for key in (None, b"", b"\xff", b"{}", b'["a","b"]', b"[1,2,3]"):
        with subtests.test(key=key):
            assert letter(1, 1, key=key).job is None


def test_a_record_of_another_program_is_a_letter_with_no_reason() -> None:
    found = letter_of(FetchedRecord(LETTERS, 9, b"x", headers=(("theirs", None),)))
    assert (found.reason, found.source, found.attempt) == ("UNKNOWN", None, 1)
    assert LatestLetters([found]).stands(found)


def test_what_goes_back_is_the_original_with_its_attempt() -> None:
    assert replay_headers(letter(17, 4)) == (
        ("mine", b"kept"),
        ("headwater.attempt", b"2"),
        ("headwater.replayed.from", b"incarnation-1/3/17"),
    )


def test_a_replay_in_vain_is_one_attempt_more_of_the_same_bytes() -> None:
    second = replayed(letter(17, 4), 40, 5)
    assert (second.attempt, second.replayed_from) == (2, "incarnation-1/3/17")
    assert dict(replay_headers(second)) == {
        "mine": b"kept",
        "headwater.attempt": b"3",
        "headwater.replayed.from": b"incarnation-1/3/40",
    }


def test_of_each_record_the_last_letter_stands() -> None:
    first, again, other = letter(17, 0), letter(17, 1), letter(18, 2)
    second = replayed(again, 40, 3)
    standing = LatestLetters([first, again, other, second])
    assert [standing.stands(each) for each in (first, again, other, second)] == [False, False, True, True]


CHOICES: list[tuple[LetterFilter, bool]] = [
    (LetterFilter(), True),
    (LetterFilter(reasons=frozenset({"INVALID_EVENT", "EMPTY"})), True),
    (LetterFilter(reasons=frozenset({"EMPTY"})), False),
    (LetterFilter(job="ns/enrich"), True),
    (LetterFilter(job="enrich"), True),
    (LetterFilter(job="rich"), False),
    (LetterFilter(since=NOON), True),
    (LetterFilter(until=NOON), False),
    (LetterFilter(since=NOON, job="other"), False),
]


def test_a_choice_takes_what_agrees_with_all_of_it(subtests: pytest.Subtests) -> None:
    for choice, taken in CHOICES:
        with subtests.test(choice=choice):
            assert choice.takes(letter(1, 1)) is taken


def test_a_letter_without_a_time_is_meant_only_where_none_is_asked_for() -> None:
    timeless = letter(1, 1, timestamp_ms=None)
    assert LetterFilter().takes(timeless)
    assert not LetterFilter(until=NOON).takes(timeless)


def test_the_census_counts_by_reason_and_job() -> None:
    found = Census()
    for number in range(3):
        found.add(letter(number, number))
    found.add(letter(9, 9, reason=DeadLetterReason.EMPTY, key=None, value=None))
    assert [(group.reason, group.job, group.letters) for group in found.groups] == [
        ("INVALID_EVENT", "ns/enrich", 3),
        ("EMPTY", None, 1),
    ]
    assert (found.letters, found.by_reason) == (4, {"INVALID_EVENT": 3, "EMPTY": 1})
    assert found.groups[0].oldest == found.groups[0].newest == NOON


def test_content_is_shown_as_far_as_it_goes_without_secrets() -> None:
    secret = events.written_anyhow({"run": None, "producer": "https://ada:hunter2@host/x"})
    shown = content(secret, Decoder())
    assert shown.problem is not None
    assert shown.fields is not None
    assert shown.fields["kind"] == "RUN"
    assert "hunter2" not in repr(shown)

    assert content(events.GARBAGE, Decoder()).fields is None
    assert content(events.good(1), Decoder()).problem is None
    assert content(None, Decoder()).bytes == 0
    assert len(bytes.fromhex(content(events.GARBAGE, Decoder()).starts)) == 10


IDS = (
    "00000000-1111-5000-8000-000000000000",
    "00000000-2222-5000-8000-000000000000",
    "12345678-0000-5000-8000-00000000",
)


PLACES: list[tuple[str, str | None]] = [
    ("0@2", "0@2"),
    ("3", "0@3"),
    (IDS[0], "0@3"),
    ("00000000-1", "0@3"),
    ("000000002222", "0@1"),
    ("1234", "0@2"),
    ("123", None),
    ("9@9", None),
    ("abcdef", None),
]


def test_a_letter_by_place_or_id(subtests: pytest.Subtests) -> None:
    """The last one of an event; a place before an id that begins so."""
    for place, found in PLACES:
        with subtests.test(place):
            among = [replace(letter(n, n), event_id=IDS[each]) for n, each in enumerate((0, 1, 2, 0))]
            chosen = letter_named(place, among)
            assert (chosen and chosen.where) == found


def test_several_events_with_ids_that_begin_so() -> None:
    with pytest.raises(InputError, match="begin with '00000000'") as raised:
        letter_named("00000000", [replace(letter(n, n), event_id=each) for n, each in enumerate(IDS)])
    assert raised.value.nearest == IDS[:2]


def test_letters_are_acknowledged_up_to_the_first_that_is_left() -> None:
    found = Acknowledged(
        [PartitionOffsets(LETTERS, 0, 5, 1), PartitionOffsets(Partition("lineage.events.dlq", 1, ""), 0, 0)]
    )
    of_topic = [letter(10 + at, at) for at in range(6)]
    assert [found.covers(each) for each in of_topic] == [True, False, False, False, False, False]

    some = found.through(of_topic, frozenset({"0@1", "0@2", "0@4", "0@5"}))
    assert [each.committed for each in some.offsets()] == [3, 0]
    every = found.through(of_topic, frozenset(f"0@{at}" for at in range(6)))
    assert [each.committed for each in every.offsets()] == [5, 0], "one that came since isn't acknowledged"
    assert [each.committed for each in found.everything().offsets()] == [5, 0]
    assert not found.everything().covers(of_topic[5])
