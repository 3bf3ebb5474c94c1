"""Whatever a good event holds, reading what was written gives it back; whatever bytes come, only drawn errors do."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from headwater_graph.fold import reject, reject_decoded
from headwater_schemas import identity
from headwater_schemas.avro_schema import current_schema
from headwater_schemas.codec import SINGLE_OBJECT_MAGIC, Decoder, encode
from headwater_schemas.errors import DecodeError, TruncatedError
from headwater_schemas.events import LineageEvent
from support.event_strategies import events
from support.events import FULL_EVENTS
from support.examples import examples
from support.raw_records import raw

HEADER = SINGLE_OBJECT_MAGIC + current_schema().fingerprint
GOOD = [raw(make()) for make in FULL_EVENTS.values()]
DECODER = Decoder()
# Of the payload; none of it may get into a message.
PIECES = ("flights", "headwater.example", "enrich", "IATA")


@settings(max_examples=examples(300))
@given(events())
def test_reading_what_was_written_gives_the_event_back(event: LineageEvent) -> None:
    assert DECODER.decode(encode(event)) == event


@settings(max_examples=examples(300))
@given(events())
def test_the_bytes_are_those_that_fastavro_writes(event: LineageEvent) -> None:
    assert encode(event) == raw(event)


def test_every_proper_prefix_is_truncated_or_empty(subtests: pytest.Subtests) -> None:
    for name, value in zip(FULL_EVENTS, GOOD, strict=True):
        with subtests.test(name):
            for length in range(2, len(value)):
                with pytest.raises(TruncatedError):
                    DECODER.decode(value[:length])


@settings(max_examples=examples(500))
@given(st.binary(max_size=300))
@example(b"")
@example(b"\x00")
@example(HEADER)
def test_garbage_raises_nothing_but_drawn_errors(value: bytes) -> None:
    for candidate in (value, HEADER + value):
        with pytest.raises(DecodeError):
            DECODER.decode(candidate)


@settings(max_examples=examples(1_000))
@given(st.sampled_from(GOOD), st.data())
def test_damaged_events_raise_nothing_but_drawn_errors(value: bytes, data: st.DataObject) -> None:
    damaged = bytearray(value)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(value) - 1))] = data.draw(st.integers(0, 255))
    text = ""
    try:
        DECODER.decode(bytes(damaged))
    except DecodeError as error:
        text = str(error)
    assert not any(piece in text for piece in PIECES)


@given(st.sampled_from(GOOD), st.binary(min_size=1, max_size=20))
def test_left_over_bytes_are_an_error(value: bytes, tail: bytes) -> None:
    with pytest.raises(DecodeError, match="left over"):
        DECODER.decode(value + tail)


@given(events())
def test_what_is_decoded_needs_no_look_at_what_can_be_stored(made: LineageEvent) -> None:
    event = msgspec.structs.replace(made, event_id=identity.event_id(made))
    decoded = Decoder().decode(encode(event))
    assert reject_decoded(decoded) == reject(decoded)
