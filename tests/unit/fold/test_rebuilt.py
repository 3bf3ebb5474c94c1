"""Which run events are made of an earlier one, and what is left to the decoder."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from headwater_consumers.materializer.fold import TemplateDecoder
from headwater_consumers.materializer.fold.rebuilt import RunReader, _maker
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import (
    DatasetRef,
    DatasetUse,
    EngineRef,
    FileSet,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    ParentRun,
    Position,
    RunError,
    RunEvent,
    RunEventType,
    RunRef,
    TableSnapshot,
    Versions,
)
from headwater_schemas.events.build import lineage_event

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
JOB = JobRef("n", "j")


class Counting:
    """A decoder that counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def decode(self, value: bytes | None) -> LineageEvent:
        self.asked += 1
        return Decoder().decode(value)


def id_of(number: int) -> str:
    return str(uuid.UUID(int=number, version=4))


def of_run(number: int, type_: RunEventType, job: JobRef = JOB, **fields: Any) -> LineageEvent:
    """A job's run that reads a topic, and writes a table whose snapshot has another id with each run."""
    began = BEGAN + timedelta(hours=number)
    ranges = (OffsetRange(partition=0, from_=number, to_exclusive=number + 7),)
    read = Position(kafka=KafkaRanges(topic="t", ranges=ranges))
    snapshot = TableSnapshot(format="iceberg", snapshot_id=f"{number:019d}", parent_id=f"{number - 1:019d}")
    written = Position(table_snapshot=snapshot)
    body: dict[str, Any] = {
        "type": type_,
        "inputs": (DatasetUse(dataset=DatasetRef("kafka://b", "t"), position=read, rows=7),),
        "outputs": (DatasetUse(dataset=DatasetRef("s3://b", "t"), position=written, rows=number * 300, bytes=number),),
        "started_at": began,
        "ended_at": None if type_ is RunEventType.START else began + timedelta(minutes=number),
        "parent": ParentRun(id_of(10**6 + number), JobRef("airflow", "dag.task")),
        "versions": Versions(code="c", engine=EngineRef("spark", "4.0.0")),
    }
    return lineage_event(
        RunEvent(**body | fields), job=job, run=RunRef(id_of(number)), producer="p", event_time=began, tenant="t"
    )


def runs(count: int, **fields: Any) -> Iterator[LineageEvent]:
    for number in range(1, count + 1):
        for type_ in (RunEventType.START, RunEventType.COMPLETE):
            yield of_run(number, type_, **fields)


def asked(decoder: TemplateDecoder, counting: Counting, events: Iterator[LineageEvent]) -> list[int]:
    """How often decoding each of the events took the other decoder."""
    out = []
    for event in events:
        before = counting.asked
        assert decoder.decode(encode(event)) == event
        out.append(counting.asked - before)
    return out


def test_a_job_s_runs_are_decoded_until_there_is_one_like_them() -> None:
    counting = Counting()
    # The second record and the fourth that isn't like one of before are decoded with marks as well.
    first = asked(TemplateDecoder(counting), counting, runs(6))
    assert first == [1, 2, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0]


def test_each_job_has_runs_of_its_own() -> None:
    counting = Counting()
    decoder = TemplateDecoder(counting)
    asked(decoder, counting, runs(6))
    other = asked(decoder, counting, runs(2, job=JobRef("n", "k")))
    assert other[0] == 1


def test_what_is_the_same_in_each_run_is_the_same_object() -> None:
    first, second = (of_run(number, RunEventType.COMPLETE) for number in (1, 2))
    read = RunReader(encode(first), first, Decoder(), 1 << 20).read(encode(second))
    assert read == second
    assert read is not None
    assert read.run_event is not None
    assert first.run_event is not None
    assert read.job is first.job
    assert read.run_event.versions is first.run_event.versions
    assert read.run_event.outputs[0].dataset is first.run_event.outputs[0].dataset


def test_what_has_no_number_may_stand_among_what_has() -> None:
    table = DatasetUse(dataset=DatasetRef("file", "/t"))
    events = []
    for number in (1, 2):
        event = of_run(number, RunEventType.COMPLETE)
        assert event.run_event is not None
        events.append(of_run(number, RunEventType.COMPLETE, inputs=(table, *event.run_event.inputs)))
    first, second = events
    assert RunReader(encode(first), first, Decoder(), 1 << 20).read(encode(second)) == second


def test_files_have_another_digest_with_each_run() -> None:
    first, second = (
        of_run(
            number,
            RunEventType.COMPLETE,
            outputs=(
                DatasetUse(
                    dataset=DatasetRef("file", "/t"),
                    position=Position(files=FileSet(count=number, manifest_digest=f"{number:064d}")),
                ),
            ),
        )
        for number in (1, 2)
    )
    assert RunReader(encode(first), first, Decoder(), 1 << 20).read(encode(second)) == second


def read_as_first(value: bytes) -> LineageEvent | None:
    first = of_run(1, RunEventType.COMPLETE)
    return RunReader(encode(first), first, Decoder(), 1 << 20).read(value)


OTHER_EVENTS: list[LineageEvent] = [
    of_run(2, RunEventType.FAIL, error=RunError(message="no")),
    of_run(2, RunEventType.START),
    of_run(2, RunEventType.COMPLETE, plan_digest="a" * 32),
    of_run(2, RunEventType.COMPLETE, rows_rejected=0),
    of_run(2, RunEventType.COMPLETE, job=JobRef("n", "k")),
    msgspec.structs.replace(of_run(2, RunEventType.COMPLETE), run=RunRef("x")),
]


def test_what_differs_in_more_is_left_to_the_decoder(subtests: pytest.Subtests) -> None:
    for other in OTHER_EVENTS:
        with subtests.test(other=other):
            assert read_as_first(encode(other)) is None


def test_a_record_that_breaks_the_contract_is_left_to_the_decoder() -> None:
    good = encode(of_run(100, RunEventType.COMPLETE))
    assert read_as_first(good) is not None
    # The topic's range from 100 to 107, in zigzag.
    start, end = b"\xc8\x01", b"\xd6\x01"
    assert good.count(start + end) == 1
    with pytest.raises(DecodeError, match="ends before it begins"):
        Decoder().decode(good.replace(start + end, end + start))
    assert read_as_first(good.replace(start + end, end + start)) is None


def test_an_id_that_is_no_text_is_left_to_the_decoder() -> None:
    good = encode(of_run(2, RunEventType.COMPLETE))
    bad = good.replace(id_of(2).encode(), b"\xff" + id_of(2).encode()[1:])
    with pytest.raises(DecodeError, match="UTF-8"):
        Decoder().decode(bad)
    assert read_as_first(bad) is None


def test_what_would_take_too_much_memory_is_decoded() -> None:
    event = of_run(1, RunEventType.COMPLETE, run_facets={"f": "x" * 1_000})
    with pytest.raises(ValueError, match="memory"):
        RunReader(encode(event), event, Decoder(), 40_000)


class Changing:
    """Gives another event than the record has, of a time that only marks have."""

    def decode(self, value: bytes | None) -> LineageEvent:
        event = Decoder().decode(value)
        return event if event.event_time.year > 2020 else msgspec.structs.replace(event, producer="another")


def test_of_what_is_not_made_as_decoding_does_nothing_is_made() -> None:
    event = of_run(1, RunEventType.COMPLETE)
    with pytest.raises(ValueError, match="something else"):
        RunReader(encode(event), event, Changing(), 1 << 20)
    with pytest.raises(ValueError, match="something else"):
        RunReader(encode(event), of_run(2, RunEventType.COMPLETE), Decoder(), 1 << 20)


def test_numbers_in_maps_are_in_no_event_that_is_rebuilt() -> None:
    with pytest.raises(ValueError, match="map"):
        _maker({"rows": 1}, {("rows",): 0})
