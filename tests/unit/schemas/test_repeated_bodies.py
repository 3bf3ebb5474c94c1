"""Bodies that several records have are written and read once, with the same bytes, events and errors as the first."""

from __future__ import annotations

import copy
import itertools
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest

from headwater_schemas import codec
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.errors import DecodeError, EncodeError
from headwater_schemas.events import JobRef, LineageEvent, RetentionEvent, RetentionMode, RunRef
from headwater_schemas.identity import event_id
from headwater_schemas.latest import Latest, LatestOf
from support.events import FULL_EVENTS
from support.raw_records import raw

REPEATED = ("dataset", "job", "plan")


class Sizes(LatestOf[bytes]):
    """Knows the size of each value that was kept."""

    def __init__(self) -> None:
        super().__init__(1 << 20)
        self.sizes: list[int] = []

    def put(self, source: object, value: bytes, size: int = 1) -> None:
        self.sizes.append(size)
        super().put(source, value, size)


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


def test_a_body_that_was_written_before_gives_the_same_bytes(subtests: pytest.Subtests) -> None:
    for name in REPEATED:
        with subtests.test(name=name):
            event = FULL_EVENTS[name]()
            copied = msgspec.structs.replace(
                event, **{f"{name}_event": getattr(Decoder().decode(encode(event)), f"{name}_event")}
            )
            assert encode(event) == encode(event) == encode(copied)
            assert encode(later(event)) == encode(later(copied))


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


def test_an_envelope_is_checked_also_around_a_body_that_was_written_before(subtests: pytest.Subtests) -> None:
    for name in REPEATED:
        with subtests.test(name=name):
            event = FULL_EVENTS[name]()
            encode(event)
            with pytest.raises(EncodeError, match="tenant"):
                encode(msgspec.structs.replace(event, tenant=""))
            with pytest.raises(EncodeError, match="kind"):
                encode(msgspec.structs.replace(event, kind="RUN"))


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
    "no offset": {"event_time": datetime(2026, 1, 1)},  # noqa: DTZ001 - it is refused
    "half a character": {"document": "\ud800"},
    "half a character in a name": {"producer": "\ud800"},
    "no text": {"document": 1},
    "no run at all": {"run": "run"},
    "a second body": {
        "retention_event": RetentionEvent(mode=RetentionMode.DROP, before=datetime(2026, 1, 1, tzinfo=UTC))
    },
}


NOT_WRITABLE = {"half a character", "half a character in a name", "no text", "no offset", "no run at all"}
"""By fastavro."""


def test_an_envelope_is_written_or_refused_alike_whether_its_body_was_written_before_or_not(
    subtests: pytest.Subtests,
) -> None:
    for name, (envelope, changed) in itertools.product(REPEATED, ENVELOPES.items()):
        with subtests.test(name=name, envelope=envelope):
            event = FULL_EVENTS[name]()
            new = msgspec.structs.replace(event, **{f"{name}_event": copy.deepcopy(getattr(event, f"{name}_event"))})
            encode(event)
            before, anew = (_written(msgspec.structs.replace(each, **changed)) for each in (event, new))
            assert before == anew


GOOD_ENVELOPES = list(ENVELOPES)[: list(ENVELOPES).index("no job")]
assert GOOD_ENVELOPES[-1] == "no names"


def refused(*_: object) -> None:
    raise AssertionError("looked at a second time")


def test_a_body_that_was_written_before_is_neither_checked_nor_written_again(
    subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, envelope in [*itertools.product(REPEATED, GOOD_ENVELOPES), ("dataset", "no job")]:
        with subtests.test(name=name, envelope=envelope), monkeypatch.context() as patched:
            event = FULL_EVENTS[name]()
            encode(event)
            other = msgspec.structs.replace(event, **ENVELOPES[envelope])
            expected = raw(other)
            patched.setattr(codec, "first_violation", refused)
            patched.setattr(codec, "_fields", refused)
            assert encode(other) == expected


def test_what_no_other_event_has_is_not_kept(subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in ["run", "interval", "retention", "declaration"]:
        with subtests.test(kind=kind):
            written = Sizes()
            monkeypatch.setattr(codec, "_written", written)
            assert encode(FULL_EVENTS[kind]()) == encode(FULL_EVENTS[kind]())
            assert written.sizes == []


def test_a_kept_body_counts_as_its_bytes(subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in REPEATED:
        with subtests.test(name=name):
            written = Sizes()
            monkeypatch.setattr(codec, "_written", written)
            event = msgspec.structs.replace(FULL_EVENTS[name](), job=None if name == "dataset" else JobRef("f", "j"))
            encode(event)
            body = written.get(getattr(event, f"{name}_event"))
            assert body is not None
            assert written.sizes == [len(body)]
            assert body in encode(event)


def test_an_envelope_is_read_or_refused_alike_whether_its_body_was_read_before_or_not(
    subtests: pytest.Subtests,
) -> None:
    writable = [name for name in ENVELOPES if name not in NOT_WRITABLE]
    for name, envelope in itertools.product(REPEATED, writable):
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


class Text(str):
    """Equal to a text, and none."""

    __slots__ = ()


def test_a_text_of_another_type_is_refused_also_around_a_body_that_was_written_before() -> None:
    for name in REPEATED:
        event = FULL_EVENTS[name]()
        encode(event)
        with pytest.raises(TypeError):
            encode(msgspec.structs.replace(event, event_id=Text("e")))


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


def _written(event: LineageEvent) -> object:
    try:
        return encode(event)
    except EncodeError as error:
        return error.field, str(error)


def test_the_latest_stay_within_the_size() -> None:
    latest: Latest[str] = Latest(30)
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
    known: LatestOf[int] = LatestOf(100)
    one, equal = [1], [1]
    known.put(one, 1)
    assert (known.get(one), known.get(equal)) == (1, None)
