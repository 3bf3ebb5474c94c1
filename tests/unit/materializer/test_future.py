"""Events of the future: a wrong clock holds for a day at most, and what it changed says so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from headwater_consumers.kafka.records import FetchedRecord, Partition
from headwater_consumers.materializer.batch import BatchPreparation, EarlyDecoder, prepare
from headwater_consumers.materializer.future import correction
from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.properties import flatten
from headwater_graph.fold.fold import fold
from headwater_graph.fold.rejection import reject_decoded
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.events import (
    DatasetEvent,
    DatasetRef,
    LineageEvent,
    RetentionEvent,
    RetentionMode,
    RunEvent,
    RunEventType,
    RunRef,
)
from headwater_schemas.events.build import lineage_event
from support.materializer.events import JOB, PRODUCER, interval

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)
FAR = datetime(9998, 12, 31, tzinfo=UTC)


def described(text: str, time: datetime) -> LineageEvent:
    body = DatasetEvent(dataset=DatasetRef("kafka://b:9092", "t"), description=text)
    return lineage_event(body, producer=PRODUCER, event_time=time)


def of_records(events: Sequence[tuple[LineageEvent, datetime | None]]) -> list[FetchedRecord]:
    """Records with these events, and when the broker appended them; None: without a timestamp."""
    return [
        FetchedRecord(Partition("t", 0), offset, encode(event), timestamp_ms=None if at is None else ms(at))
        for offset, (event, at) in enumerate(events)
    ]


def ms(time: datetime) -> int:
    return round(time.timestamp() * 1_000)


def made(events: Sequence[tuple[LineageEvent, datetime | None]], **more: Any) -> tuple[GraphDelta, list[bool]]:
    """Delta of records, and a mark for each that counted as of an earlier time."""
    how = BatchPreparation(
        Decoder(),
        reject_decoded,
        lambda _: None,
        lambda *_: None,
        lambda: 0.0,
        **more,
    )
    batch = prepare(of_records(events), {}, EarlyDecoder(how), how)
    assert not batch.letters
    return fold([one.event for one in batch.events]), [one.of_future for one in batch.events]


def description(delta: GraphDelta) -> object:
    (node,) = delta.datasets.values()
    return flatten(node.registers)["description"]


@pytest.mark.parametrize("turned", [False, True])
def test_a_later_event_corrects_one_of_the_year_9998(turned: bool) -> None:
    events = [
        (described("planted", FAR), NOW),
        (described("right", NOW + DAY + timedelta(seconds=1)), NOW + DAY + timedelta(seconds=1)),
    ]
    delta, of_future = made(events[::-1] if turned else events)
    assert description(delta) == "right"
    assert sum(of_future) == 1


def test_what_it_changed_says_what_was_stated_and_what_it_counts_as() -> None:
    delta, _ = made([(described("planted", FAR), NOW)])
    (node,) = delta.datasets.values()
    facet = json.loads(str(node.registers["facet:headwater_clock"][1]))
    assert facet == {"stated": "9998-12-31T00:00:00+00:00", "taken_as": "2026-03-02T00:00:00+00:00"}


def test_times_within_the_bound_are_as_they_were_stated() -> None:
    events = [(described("one", NOW + DAY), NOW), (interval(3), NOW), (described("two", FAR), None)]
    assert made(events)[1] == [False, False, False]
    assert made([(described("one", NOW + timedelta(seconds=6)), NOW)], future_max_seconds=5)[1] == [True]


def test_last_seen_of_a_run_and_of_micro_batches_is_bounded() -> None:
    run = lineage_event(RunEvent(type=RunEventType.START), job=JOB, run=RunRef("r"), producer=PRODUCER, event_time=FAR)
    batches = []
    for number in range(2):
        event = interval(number)
        assert event.interval_event is not None
        (entry,) = event.interval_event.entries
        late = msgspec.structs.replace(entry, processing_time=FAR)
        batches.append(
            msgspec.structs.replace(
                event, interval_event=msgspec.structs.replace(event.interval_event, entries=(late,))
            )
        )
    delta, of_future = made([(event, NOW) for event in (run, *batches)])
    assert all(of_future)
    (job,) = delta.jobs.values()
    assert job.seen.last == NOW + DAY
    assert all(
        variant.registers["processing_time"][1] == NOW + DAY
        for interval_ in delta.intervals.values()
        for variant in interval_.variants.values()
    )


def test_retention_of_what_is_to_come_is_bounded() -> None:
    event = lineage_event(RetentionEvent(before=FAR, mode=RetentionMode.DROP), producer=PRODUCER, event_time=NOW)
    delta, _ = made([(event, NOW)])
    (scope,) = delta.retentions.values()
    assert scope.drop_before == NOW + DAY


def test_a_correction_holds_over_what_was_planted_and_gives_its_reason() -> None:
    right = correction(described("right", NOW - 9 * DAY), "planted, token=hunter2", NOW, DAY.total_seconds())
    assert right is not None
    delta, of_future = made([(right, NOW), (described("planted", FAR), NOW - timedelta(seconds=1))])
    assert description(delta) == "right"
    assert of_future == [False, True]
    (node,) = delta.datasets.values()
    facet = json.loads(str(node.registers["facet:headwater_correction"][1]))
    assert facet == {"stated": "2026-02-20T00:00:00+00:00", "reason": "planted, token=[redacted]"}
    assert correction(interval(1), "why", NOW, 1) is None
