"""Repeated parts of documents are read once; parts that differ in anything, by themselves."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import msgspec
import pytest

from headwater_openlineage.decoding import decode
from headwater_openlineage.errors import Refused
from headwater_openlineage.incoming import events_of
from headwater_openlineage.repeated import Repeated
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.events import LineageEvent
from support.openlineage import run_data, run_id


def counted(calls: list[Any], made: Any) -> Any:
    calls.append(made)
    return made


def test_an_equal_text_is_read_once_and_another_one_by_itself() -> None:
    known, calls = Repeated[int](), list[int]()
    source = {"a": [1, {"b": "c"}]}
    assert [known.read("x", [dict(source)], lambda: counted(calls, 1)) for _ in range(3)] == [1, 1, 1]
    assert known.read("y", [source], lambda: counted(calls, 2)) == 2
    assert known.read("x", [{"a": [1.0, {"b": "c"}]}], lambda: counted(calls, 3)) == 3
    assert calls == [1, 2, 3]


def test_what_is_remembered_has_a_limit_and_the_latest_stay() -> None:
    known, calls = Repeated[int](max_bytes=100), list[int]()
    for number in (*range(1, 21), 1, 20):
        known.read("x", [f"{number:08}"], partial(counted, calls, number))
    assert calls == [*range(1, 21), 1]


def test_a_text_that_is_too_long_is_not_remembered() -> None:
    known, calls = Repeated[int](max_bytes=100), list[int]()
    for _ in range(2):
        known.read("x", ["x" * 20], lambda: counted(calls, 1))
    assert calls == [1, 1]


def test_what_has_no_text_is_read_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def overflows(_: object) -> bytes:  # as msgspec did of numbers of more than 64 bits
        raise OverflowError

    monkeypatch.setattr(msgspec.json, "encode", overflows)
    known, calls = Repeated[int](), list[int]()
    for _ in range(2):
        known.read("x", [{"a": 1 << 70}], lambda: counted(calls, 1))
    assert calls == [1, 1]


def test_a_fault_is_refused_each_time() -> None:
    known = Repeated[int]()
    for pointer in ("/inputs/0", "/inputs/1"):

        def fail(pointer: str = pointer) -> int:
            raise Refused(pointer, "is missing")

        with pytest.raises(Refused, match="is missing") as refused:
            known.read("x", {}, fail)
        assert refused.value.pointer == pointer


def described(number: int, type_: str = "int") -> list[LineageEvent]:
    """Events of a run that reads and writes a table, with the same facets each time."""
    schema = {"_producer": "p", "_schemaURL": "s", "fields": [{"name": "a", "type": type_}, {"name": "b"}]}
    sources = {"inputFields": [{"namespace": "n", "name": "t", "field": "a"}]}
    lineage = {"_producer": "p", "_schemaURL": "s", "fields": {"a": sources, "b": sources}}
    document = json.loads(run_data(number))
    document["job"] = {"namespace": "shop", "name": "totals"}
    document["eventTime"] = f"2026-01-01T00:00:{number:02}Z"
    document["inputs"] = [{"namespace": "n", "name": "t", "facets": {"schema": schema}}]
    facets = {"schema": schema, "columnLineage": lineage, "custom": {"_producer": "p", "_schemaURL": "s", "x": 1}}
    document["outputs"] = [{"namespace": "n", "name": "u", "facets": facets}]
    return events_of(decode(json.dumps(document).encode()), tenant="default")


def test_events_of_another_run_have_the_same_bodies_and_their_own_ids_and_times() -> None:
    first, second = described(1), described(2)
    assert [event.kind for event in first] == ["RUN", "DATASET", "DATASET", "PLAN"]
    for one, other in zip(first[1:], second[1:], strict=True):
        body = one.dataset_event or one.plan_event
        assert body is not None
        assert (other.dataset_event or other.plan_event) is body
        assert other.event_time > one.event_time
        assert other.run is not None
        assert other.run.run_id == run_id(2)
    assert len({event.event_id for event in (*first, *second)}) == 7  # a PLAN's id is that of its content


def test_a_body_that_was_written_before_is_written_the_same() -> None:
    first, second = described(1), described(2)
    for event in (*first, *second, *described(3, "long")):
        assert Decoder().decode(encode(event)) == event
    again = [encode(event) for event in first]
    assert again == [encode(Decoder().decode(each)) for each in again]
