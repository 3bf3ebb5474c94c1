"""One document for the micro-batches of some minutes: none is lost, and none misstates its offsets."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from headwater_consumers.forward.spacing import MOST_MICRO_BATCHES, Spacing
from headwater_consumers.kafka.records import FetchedRecord, Partition
from headwater_schemas.events import LineageEvent, OffsetRange, RunRef
from headwater_schemas.identity import event_id
from support.events import full_interval_event, full_run_event
from support.materializer.clock import FakeClock
from unit.forward.test_forwarder import World

if TYPE_CHECKING:
    import pytest

PARTITION = Partition("lineage.events", 0)


def micro_batch(number: int, *, offset: int | None = None, every: float = 10.0, run: str | None = None) -> LineageEvent:
    """The n-th micro-batch of a query, alone: 50 offsets of a topic, from `offset`."""
    event = full_interval_event()
    body = event.interval_event
    assert body is not None
    entry = body.entries[0]
    start = 50 * number if offset is None else offset

    def moved(use: object) -> object:
        position = use.position  # type: ignore[attr-defined]
        if position is None or position.kafka is None:
            return use
        ranges = tuple(OffsetRange(each.partition, start, start + 50) for each in position.kafka.ranges)
        kafka = msgspec.structs.replace(position.kafka, ranges=ranges)
        return msgspec.structs.replace(use, position=msgspec.structs.replace(position, kafka=kafka))  # type: ignore[type-var]

    assert entry.processing_time is not None
    entry = msgspec.structs.replace(
        entry,
        batch_id=number,
        processing_time=entry.processing_time + timedelta(seconds=number * every),
        inputs=tuple(map(moved, entry.inputs)),
        outputs=tuple(map(moved, entry.outputs)),
    )
    event = msgspec.structs.replace(
        event,
        event_time=event.event_time + timedelta(seconds=number * every),
        interval_event=msgspec.structs.replace(body, entries=(entry,)),
        run=event.run if run is None else RunRef(run),
    )
    return msgspec.structs.replace(event, event_id=event_id(event))


def record(offset: int, partition: Partition = PARTITION) -> FetchedRecord:
    return FetchedRecord(partition, offset, b"")


def batches(released: object) -> list[list[int]]:
    found = []
    for each in released:  # type: ignore[attr-defined]
        body = each.event.interval_event
        found.append([] if body is None else [entry.batch_id for entry in body.entries])
    return found


def test_they_are_held_for_the_minutes_and_released_as_one_event() -> None:
    clock = FakeClock()
    spacing = Spacing(1, clock)
    for number in range(3):
        assert list(spacing.through(micro_batch(number), record(number))) == []
    assert spacing.due() == []
    assert spacing.committable({PARTITION: 3}) == {PARTITION: 0}
    clock.advance(60)
    (released,) = spacing.due()
    assert batches([released]) == [[0, 1, 2]]
    assert released.record == record(2)
    assert released.event.event_id == event_id(released.event)
    assert spacing.committable({PARTITION: 3}) == {PARTITION: 3}
    assert spacing.all() == []


def test_processing_times_count_too_so_that_a_backlog_has_as_many_documents() -> None:
    spacing = Spacing(1, FakeClock())
    found = [each for number in range(16) for each in spacing.through(micro_batch(number), record(number))]
    assert batches(found) == [list(range(7)), list(range(7, 14))]
    assert batches(spacing.all()) == [[14, 15]]


def test_one_that_does_not_follow_begins_anew(subtests: pytest.Subtests) -> None:
    for number in (0, 1, 3):
        with subtests.test(number=number):
            spacing = Spacing(1, FakeClock())
            for each in (0, 1):
                list(spacing.through(micro_batch(each), record(each)))
            assert batches(spacing.through(micro_batch(number), record(2))) == [[0, 1]]
            assert batches(spacing.all()) == [[number]]


def test_what_else_is_of_their_run_comes_after_them_and_other_runs_stay() -> None:
    spacing = Spacing(1, FakeClock())
    run = full_run_event()
    assert run.run is not None
    other = "0197c1de-52f0-7bd1-9d55-000000000000"
    list(spacing.through(micro_batch(0, run=run.run.run_id), record(0)))
    list(spacing.through(micro_batch(5, run=other), record(1)))
    assert batches(spacing.through(run, record(2))) == [[0], []]
    assert spacing.committable({PARTITION: 3}) == {PARTITION: 1}
    assert batches(spacing.all()) == [[5]]


def test_a_document_has_at_most_so_many() -> None:
    spacing = Spacing(1_440, FakeClock())
    found = [
        each
        for number in range(MOST_MICRO_BATCHES + 1)
        for each in spacing.through(micro_batch(number, every=0.001), record(number))
    ]
    assert [len(each) for each in batches(found)] == [MOST_MICRO_BATCHES]


def test_those_of_a_partition_that_is_anothers_are_forgotten() -> None:
    spacing, other = Spacing(1, FakeClock()), Partition("lineage.events", 1)
    list(spacing.through(micro_batch(0), record(0)))
    list(spacing.through(micro_batch(0), record(0, other)))
    spacing.forget({PARTITION})
    assert [each.record.partition for each in spacing.all()] == [other]


def spaced(folder: Path, *, minutes: float = 1, until_caught_up: bool = True) -> World:
    return World(folder, coalesced=True, spacing=Spacing(minutes, time.monotonic), until_caught_up=until_caught_up)


def offsets(document: dict[str, object]) -> str:
    return json.dumps(document["inputs"])


def test_a_document_has_the_offsets_of_all_of_them(tmp_path: Path) -> None:
    world = spaced(tmp_path)
    world.put(*map(micro_batch, range(5)))
    assert world.forwarder.run().delivered == 1
    (document,) = world.documents
    assert document["eventType"] == "RUNNING"
    assert '"value": "0"' in offsets(document)
    assert '"value": "250"' in offsets(document)
    assert world.committed() == 5


def test_offsets_that_do_not_go_on_have_a_document_each(tmp_path: Path) -> None:
    world = spaced(tmp_path)
    world.put(micro_batch(0), micro_batch(1, offset=500))
    assert world.forwarder.run().delivered == 2


def stop_once(world: World, holds: Callable[[], bool]) -> None:
    def polling(_seconds: float) -> None:
        if holds():
            world.forwarder.stop()

    world.source.polling = polling


def test_what_is_held_at_a_stop_is_not_committed_and_sent_after_it(tmp_path: Path) -> None:
    world = spaced(tmp_path, until_caught_up=False)
    world.put(micro_batch(0), micro_batch(1))
    stop_once(world, lambda: world.source.polls == 4)
    world.forwarder.run()
    assert (world.documents, world.committed()) == ([], 0)
    again = spaced(tmp_path)
    again.put(micro_batch(0), micro_batch(1))
    again.forwarder.run()
    assert len(again.documents) == 1


def test_what_is_held_long_enough_is_sent_while_nothing_comes(tmp_path: Path) -> None:
    world = spaced(tmp_path, minutes=0.3 / 60, until_caught_up=False)
    world.put(micro_batch(0, every=0.001), micro_batch(1, every=0.001))
    stop_once(world, lambda: world.committed() == 2)
    world.forwarder.run()
    assert len(world.documents) == 1
