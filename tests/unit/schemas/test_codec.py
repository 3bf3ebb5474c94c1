"""Encoding refuses what breaks the contract and names the field; decoding says which of the drawn errors it is."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest

from headwater_schemas import codec
from headwater_schemas.avro_schema import AvroSchema, current_schema
from headwater_schemas.codec import Decoder, encode, with_registry_id
from headwater_schemas.errors import (
    DecodeReason,
    EmptyRecordError,
    EncodeError,
    IncompatibleSchemaError,
    InvalidEventError,
    MalformedError,
    NotAnEventError,
    SchemasUnavailableError,
    TrailingBytesError,
    TruncatedError,
    UnknownKindError,
    UnknownSchemaError,
)
from headwater_schemas.events import (
    DatasetRef,
    DatasetUse,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    RunRef,
)
from support.events import FULL_EVENTS, TIME
from support.raw_records import raw

NAIVE = datetime(2013, 1, 1)  # noqa: DTZ001 - the mistake under test


def change(name: str, /, **fields: Any) -> LineageEvent:
    """A full event with fields of itself changed, or with `body__field` of its body."""
    event = FULL_EVENTS[name]()
    body = f"{name}_event"
    inner = {key.removeprefix("body__"): value for key, value in fields.items() if key.startswith("body__")}
    outer = {key: value for key, value in fields.items() if not key.startswith("body__")}
    if inner:
        outer[body] = msgspec.structs.replace(getattr(event, body), **inner)
    return msgspec.structs.replace(event, **outer)


def entries(**fields: Any) -> tuple[Any, ...]:
    interval = FULL_EVENTS["interval"]().interval_event
    assert interval is not None
    first, second = interval.entries
    return (first, msgspec.structs.replace(second, **fields))


def kafka(*ranges: OffsetRange) -> tuple[DatasetUse, ...]:
    return (DatasetUse(dataset=DatasetRef("k", "t"), position=Position(kafka=KafkaRanges("t", ranges))),)


BROKEN = {
    # name: (event, field that the error names)
    "no tenant": (change("run", tenant=""), "tenant"),
    "no id": (change("run", event_id=""), "event_id"),
    "wrong type": (change("run", producer=3), "producer"),
    "no time zone": (change("run", event_time=NAIVE), "event_time"),
    "no time zone, deep": (
        change("interval", body__entries=entries(watermark_after=NAIVE)),
        "entries[1].watermark_after",
    ),
    "body missing": (change("run", run_event=None), "run_event"),
    "run without run": (change("run", run=None), "run"),
    "job without name": (change("run", job=JobRef("flights", "")), "job.name"),
    "empty run id": (change("run", run=RunRef("")), "run.run_id"),
    "negative batch id": (change("interval", body__entries=entries(batch_id=-1)), "entries[1].batch_id"),
    "negative offset": (change("run", body__inputs=kafka(OffsetRange(0, -1, 4))), "ranges[0].from"),
    "partition over 32 bits": (change("run", body__inputs=kafka(OffsetRange(2**31, 0, 4))), "ranges[0].partition"),
    "over 64 bits": (
        change("run", body__outputs=(DatasetUse(dataset=DatasetRef("k", "t"), rows=2**63),)),
        "outputs[0].rows",
    ),
    "lone surrogate": (change("dataset", body__description="\ud800"), "dataset_event.description"),
    "lone surrogate in a key": (change("dataset", body__facets={"\ud800": "{}"}), "dataset_event.facets"),
    "unknown kind": (change("run", kind="CONSUMER"), "kind"),
}


def test_a_broken_event_is_not_written_and_its_field_is_named(subtests: pytest.Subtests) -> None:
    for name, (event, field) in BROKEN.items():
        with subtests.test(name=name):
            with pytest.raises(EncodeError) as caught:
                encode(event)
            assert field in str(caught.value.field)
            assert "flights" not in str(caught.value)


NOT_WRITABLE = {
    "wrong type",
    "over 64 bits",
    "partition over 32 bits",
    "lone surrogate",
    "lone surrogate in a key",
    "unknown kind",
}


def test_a_broken_event_written_by_somebody_else_is_invalid_and_its_field_is_named(subtests: pytest.Subtests) -> None:
    for name, (event, field) in BROKEN.items():
        if name in NOT_WRITABLE or "time zone" in name:
            continue
        with subtests.test(name=name):
            with pytest.raises(InvalidEventError) as caught:
                Decoder().decode(raw(event))
            assert field in str(caught.value.field)
            assert "flights" not in str(caught.value)
            assert caught.value.event_id == event.event_id
            assert caught.value.reason is DecodeReason.INVALID_EVENT


def test_an_unknown_kind_written_by_somebody_else_is_reported() -> None:
    with pytest.raises(UnknownKindError) as caught:
        Decoder().decode(raw(BROKEN["unknown kind"][0]))
    assert caught.value.kind == "CONSUMER"


GOOD = raw(FULL_EVENTS["run"]())


def test_each_kind_of_bad_bytes_has_its_error(subtests: pytest.Subtests) -> None:
    cases = [
        (None, EmptyRecordError, "EMPTY"),
        (b"", EmptyRecordError, "EMPTY"),
        (b'{"eventType":"START"}', NotAnEventError, "NOT_AN_EVENT"),
        (b"\xc3\x02rest", NotAnEventError, "NOT_AN_EVENT"),
        (b"\xc3", NotAnEventError, "NOT_AN_EVENT"),
        (GOOD[:5], TruncatedError, "TRUNCATED"),
        (GOOD[:10], TruncatedError, "TRUNCATED"),
        (GOOD[:200], TruncatedError, "TRUNCATED"),
        (b"\x00\x00", TruncatedError, "TRUNCATED"),
        (b"\xc3\x01" + b"\x07" * 8 + GOOD[10:], UnknownSchemaError, "UNKNOWN_SCHEMA"),
        (b"\x00\x00\x00\x00\x09" + GOOD[10:], UnknownSchemaError, "UNKNOWN_SCHEMA"),
        (GOOD[:11] + b"\xff" + GOOD[12:], MalformedError, "MALFORMED"),
        (GOOD + b"\x00", TrailingBytesError, "TRAILING_BYTES"),
    ]
    for value, error, reason in cases:
        with subtests.test(value=value):
            with pytest.raises(error) as caught:
                Decoder().decode(value)
            assert caught.value.reason.value == reason


class Registry:
    def __init__(self, found: AvroSchema | None) -> None:
        self.found = found
        self.asked: list[int] = []

    def schema(self, schema_id: int) -> AvroSchema | None:
        self.asked.append(schema_id)
        return self.found


def test_confluents_format_is_read_by_the_registrys_schema() -> None:
    registry = Registry(current_schema())
    value = with_registry_id(GOOD, 0x01020304)
    assert value[:5] == b"\x00\x01\x02\x03\x04"
    assert Decoder(registry=registry).decode(value) == FULL_EVENTS["run"]()
    assert registry.asked == [0x01020304]


def test_an_id_that_the_registry_does_not_have_is_an_unknown_schema() -> None:
    with pytest.raises(UnknownSchemaError, match="the id 7"):
        Decoder(registry=Registry(None)).decode(with_registry_id(GOOD, 7))


def test_an_unreachable_registry_is_no_decode_error() -> None:
    class Unreachable(Registry):
        def schema(self, schema_id: int) -> AvroSchema | None:
            raise SchemasUnavailableError("down")

    with pytest.raises(SchemasUnavailableError):
        Decoder(registry=Unreachable(None)).decode(with_registry_id(GOOD, 7))


def test_times_of_another_zone_are_the_same_instant() -> None:
    from zoneinfo import ZoneInfo

    there = TIME.astimezone(ZoneInfo("America/New_York"))
    assert Decoder().decode(encode(change("job", event_time=there))).event_time == TIME


def test_what_avro_cannot_hold_is_named_up_to_the_last_bit() -> None:
    datum = {"a": [-(2**63) - 1, -(2**63), 2**63 - 1, 2**63], "b": {"c": "\ud800"}}
    assert list(codec._unwritable(datum, "")) == [
        ("a[0]", "an integer of more than 64 bits"),
        ("a[3]", "an integer of more than 64 bits"),
        ("b.c", "text with a lone surrogate, which UTF-8 can't write"),
    ]


def test_a_walk_s_path_begins_at_the_event(subtests: pytest.Subtests) -> None:
    cases = [
        ("lone surrogate", "dataset_event.description"),
        ("lone surrogate in a key", "dataset_event.facets (a key)"),
    ]
    for name, field in cases:
        with subtests.test(name=name):
            with pytest.raises(EncodeError) as caught:
                encode(BROKEN[name][0])
            assert caught.value.field == field


def test_what_no_walk_finds_is_named_by_the_error_s_type_alone(
    subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error in [ValueError, OverflowError, TypeError]:
        with subtests.test(error=error):
            monkeypatch.setattr(codec, "_write", Mock(return_value=Mock(side_effect=error("flights"))))
            with pytest.raises(EncodeError) as caught:
                encode(FULL_EVENTS["run"]())
            assert caught.value.field is None
            assert str(caught.value) == str(EncodeError(f"can't be written as Avro: {error.__name__}", field=None))


def test_five_bytes_are_a_whole_schema_id() -> None:
    with pytest.raises(UnknownSchemaError, match="schema id 7"):
        Decoder().decode(b"\x00\x00\x00\x00\x07")


def test_what_reading_ran_into_is_described_without_the_payload(
    subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [
        (IndexError(), True, TruncatedError(f"the {len(GOOD)} bytes end inside a field")),
        (IndexError(), False, MalformedError("a union branch or enum symbol that the schema doesn't have")),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "flights"), True, MalformedError("a text isn't UTF-8")),
        (
            OverflowError("flights"),
            True,
            MalformedError("a time that no calendar has, or a number too large for its field"),
        ),
        (KeyError("flights"), False, MalformedError("doesn't follow its schema: KeyError")),
        (EOFError(), False, TruncatedError(f"the {len(GOOD)} bytes end inside a field")),
    ]
    for error, at_end, expected in cases:
        with subtests.test(error=error, at_end=at_end):

            def reads(stream: BytesIO, *_: object, at_end: bool = at_end, error: Exception = error) -> None:
                if at_end:
                    stream.read()
                raise error

            monkeypatch.setattr(codec, "schemaless_reader", reads)
            with pytest.raises(type(expected)) as caught:
                Decoder().decode(GOOD)
            assert str(caught.value) == str(expected)


def test_what_is_no_record_is_no_event() -> None:
    with pytest.raises(IncompatibleSchemaError, match="isn't a record"):
        Decoder._checked(["an", "array"])


def test_what_is_missing_or_no_symbol_is_named(subtests: pytest.Subtests) -> None:
    cases = [
        (("tenant",), None, "tenant", "missing"),
        (("job", "name"), None, "job.name", "missing"),
        (("run_event", "type"), "NOPE", "run_event.type", "not one of the enum's symbols"),
        (("run_event", "inputs", 0, "dataset", "name"), None, "run_event.inputs[0].dataset.name", "missing"),
    ]
    for path, value, field, message in cases:
        with subtests.test(path=path):
            datum = msgspec.to_builtins(FULL_EVENTS["run"](), builtin_types=(datetime,))
            holder = datum
            for step in path[:-1]:
                if isinstance(holder[step], tuple):
                    holder[step] = list(holder[step])
                holder = holder[step]
            if value is None:
                del holder[path[-1]]
            else:
                holder[path[-1]] = value
            with pytest.raises(InvalidEventError) as caught:
                Decoder._checked(datum)
            assert (caught.value.field, caught.value.event_id) == (field, FULL_EVENTS["run"]().event_id)
            assert message in str(caught.value)
            assert f"{message}XX" not in str(caught.value)
