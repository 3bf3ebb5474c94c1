"""Run events made of an earlier one are those that decoding makes, whatever the record holds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater_consumers.materializer.fold.rebuilt import _FREE, RunReader
from headwater_schemas.avro_numbers import LIMIT, NumbersPattern, places
from headwater_schemas.avro_schema import current_schema
from headwater_schemas.codec import SINGLE_OBJECT_HEADER_BYTES, Decoder, encode
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import JobRef, LineageEvent, OffsetRange, RunEvent, RunRef
from headwater_schemas.events.build import lineage_event
from support.event_strategies import of_type
from support.examples import examples


def run_events() -> st.SearchStrategy[LineageEvent]:
    """Any, but for numbers that are negative or too large, which nothing is made of."""
    return st.builds(
        lambda body, job, run, time: lineage_event(
            bounded(body), job=job, run=run, producer="p", event_time=bounded(time), tenant="t"
        ),
        of_type(RunEvent),
        of_type(JobRef),
        of_type(RunRef),
        st.datetimes(timezones=st.just(UTC)),
    )


def bounded(value: Any) -> Any:
    if isinstance(value, OffsetRange):
        first, last = sorted([value.from_ % LIMIT, value.to_exclusive % LIMIT])
        return OffsetRange(partition=value.partition, from_=first, to_exclusive=last)
    if isinstance(value, msgspec.Struct):
        return type(value)(**{name: bounded(getattr(value, name)) for name in value.__struct_fields__})
    if isinstance(value, tuple):
        return tuple(map(bounded, value))
    if isinstance(value, datetime):
        return value.replace(year=2000 + value.year % 100, day=min(value.day, 28))
    return value % LIMIT if type(value) is int else value


def decoded(value: bytes) -> LineageEvent | None:
    try:
        return Decoder().decode(value)
    except DecodeError:
        return None


@st.composite
def changed(draw: st.DrawFn, value: bytes) -> bytes:
    """The record with other numbers and ids, or with another byte anywhere."""
    if draw(st.booleans()):
        at = draw(st.integers(SINGLE_OBJECT_HEADER_BYTES, len(value) - 1))
        return value[:at] + bytes([draw(st.integers(0, 255))]) + value[at + 1 :]
    pattern = NumbersPattern(value, places(current_schema().parsed, value, SINGLE_OBJECT_HEADER_BYTES, _FREE))
    found = pattern.read(value)
    if found is None:
        return value
    texts, numbers = found
    drawn: Any = [draw(st.just(text) | st.binary(min_size=len(text), max_size=len(text))) for text in texts]
    return pattern.fill(drawn, [draw(st.just(number) | st.integers(0, LIMIT - 1)) for number in numbers])


@settings(max_examples=examples(60))
@given(run_events(), st.data())
def test_what_is_rebuilt_is_what_is_decoded(event: LineageEvent, data: st.DataObject) -> None:
    value = encode(event)
    reader = RunReader(value, event, Decoder(), 1 << 30)
    assert reader.read(value) == event
    for _ in range(4):
        other = data.draw(changed(value))
        read = reader.read(other)
        assert read is None or read == decoded(other)
