"""Bodies that several records have are read once, with the same events and errors as the first."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import msgspec

from headwater_schemas.codec import Decoder, encode
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import JobRef, LineageEvent, RetentionEvent, RetentionMode, RunRef
from headwater_schemas.identity import event_id
from headwater_schemas.lru_cache import IdentityCache, LruCache
from support.events import FULL_EVENTS
from support.raw_records import raw

if TYPE_CHECKING:
    import pytest

REPEATED = ("dataset", "job", "plan")


def later(event: LineageEvent) -> LineageEvent:
    """Event with the same body at another time, in another run, by another producer."""
    return msgspec.structs.replace(
        event,
        event_id=event.event_id[::-1],
        event_time=event.event_time + timedelta(hours=1),
        producer="https://example.com/other",
        run=RunRef("0197c1de-52f0-7bd1-9d55-1a2b3c4d5e6f"),
    )


def test_a_body_that_was_read_before_is_shared_and_the_rest_is_of_the_record(subtests: pytest.Subtests) -> None:
    for name in REPEATED:
        with subtests.test(name=name):
            event, decoder = FULL_EVENTS[name](), Decoder()
            first, second = decoder.decode(encode(event)), decoder.decode(encode(later(event)))
            assert (first, second) == (event, later(event))
            assert getattr(first, f"{name}_event") is getattr(second, f"{name}_event")


def test_a_broken_record_is_refused_alike_whether_its_body_was_read_before_or_not(subtests: pytest.Subtests) -> None:
    """Each byte changed, and the record cut off there."""
    for name in REPEATED:
        with subtests.test(name=name):
            value, warm = encode(FULL_EVENTS[name]()), Decoder()
            warm.decode(value)
            for at in range(len(value)):
                for broken in (value[:at], value[:at] + bytes([value[at] ^ 0x11]) + value[at + 1 :]):
                    assert _outcome(warm, broken) == _outcome(Decoder(), broken), at


def _outcome(decoder: Decoder, value: bytes) -> object:
    try:
        return decoder.decode(value)
    except DecodeError as error:
        return type(error), str(error)


LONG = "é" * 100
ENVELOPES: dict[str, dict[str, Any]] = {
    "the same": {},
    "names of one character": {
        "tenant": "t",
        "producer": "p",
        "event_id": "e",
        "job": JobRef("f", "j"),
        "run": RunRef("r"),
        "document": "d",
    },
    "names of 63 and 64 bytes": {"tenant": "t" * 63, "producer": "p" * 64, "event_id": "é" * 32},
    "no run": {"run": None},
    "no document": {"document": None},
    "a part of a document": {"document": ""},
    "a document": {"document": LONG},
    "before 1970": {"event_time": datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC)},
    "another offset": {"event_time": datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=-5)))},
    "long names": {"tenant": LONG, "producer": LONG, "event_id": LONG, "job": JobRef(LONG, LONG)},
    "no names": {"producer": "", "job": JobRef("", "x")},
    "no job": {"job": None},
    "no id": {"event_id": ""},
    "no tenant": {"tenant": ""},
    "no run id": {"run": RunRef("")},
    "no job name": {"job": JobRef("x", "")},
    "a second body": {
        "retention_event": RetentionEvent(mode=RetentionMode.DROP, before=datetime(2026, 1, 1, tzinfo=UTC))
    },
}


def test_an_envelope_is_read_or_refused_alike_whether_its_body_was_read_before_or_not(
    subtests: pytest.Subtests,
) -> None:
    for name, envelope in itertools.product(REPEATED, ENVELOPES):
        with subtests.test(name=name, envelope=envelope):
            event, warm = FULL_EVENTS[name](), Decoder()
            warm.decode(encode(event))
            value = raw(msgspec.structs.replace(event, **ENVELOPES[envelope]))
            assert _outcome(warm, value) == _outcome(Decoder(), value)


def test_a_body_is_of_its_kind_also_if_it_was_read_before(subtests: pytest.Subtests) -> None:
    for name, kind in itertools.product(REPEATED, ["DATASET", "JOB", "PLAN"]):
        with subtests.test(name=name, kind=kind):
            event, warm = FULL_EVENTS[name](), Decoder()
            warm.decode(encode(event))
            value = raw(msgspec.structs.replace(event, kind=kind))
            assert _outcome(warm, value) == _outcome(Decoder(), value)


def test_a_dataset_s_body_is_shared_without_a_job() -> None:
    event, decoder = msgspec.structs.replace(FULL_EVENTS["dataset"](), job=None), Decoder()
    first, second = decoder.decode(encode(event)), decoder.decode(encode(later(event)))
    assert (first, second) == (event, later(event))
    assert first.dataset_event is second.dataset_event


def test_a_run_is_never_read_by_half() -> None:
    """A tenant may be called as a kind, which is what bodies that repeat are recognized by."""
    event, decoder = msgspec.structs.replace(FULL_EVENTS["run"](), tenant="PLAN"), Decoder()
    for value in (event, event, msgspec.structs.replace(event, run=None)):
        assert _outcome(decoder, raw(value)) == _outcome(Decoder(), raw(value))
    assert decoder.decode(encode(event)).run_event is not decoder.decode(encode(event)).run_event


def test_an_hour_that_a_clock_shows_twice_is_two_times() -> None:
    """Times of one zone are equal, and have one hash, though they differ in `fold`."""
    first = datetime(2025, 10, 26, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    one, other = (
        msgspec.structs.replace(FULL_EVENTS["dataset"](), event_time=first.replace(fold=fold)) for fold in (0, 1)
    )
    assert one.event_time == other.event_time
    assert event_id(one) != event_id(other)
    for event in (one, other, one):
        assert Decoder().decode(encode(event)).event_time == event.event_time.astimezone(UTC)


def test_the_latest_stay_within_the_size() -> None:
    latest: LruCache[str] = LruCache(30)
    for number in range(10):
        latest.put(number, str(number), 3)
    assert [latest.get(number) for number in range(10)] == [str(number) for number in range(10)]
    latest.get(0)
    latest.put(10, "10", 3)
    assert (latest.get(0), latest.get(1), latest.get(10)) == ("0", None, "10")
    latest.put(11, "too large", 4)
    assert latest.get(11) is None
    latest.put(10, "replaced", 1)
    latest.put(12, "12", 2)
    assert (latest.get(10), latest.get(2)) == ("replaced", "2")


def test_a_value_is_that_of_the_very_object() -> None:
    known: IdentityCache[int] = IdentityCache(100)
    one, equal = [1], [1]
    known.put(one, 1)
    assert (known.get(one), known.get(equal)) == (1, None)
