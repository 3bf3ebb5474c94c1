"""Parts of a batch have no job or dataset in common, and are all of it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import msgspec
import pytest

from headwater_benchmarks.workload import Mixture, Proportions
from headwater_graph.fold import disjoint
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.events import (
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    IntervalEntry,
    IntervalEvent,
    JobEvent,
    JobRef,
    LineageEvent,
    ParentRun,
    QualityResult,
    RunEvent,
    RunEventType,
    Symlink,
    build,
)
from support.events import PRODUCER, RUN, TIME
from support.graph.colliding import Pools, colliding_events


def named(value: Any) -> Iterator[tuple[str, str, str]]:
    """Every job and dataset in an event, wherever it is."""
    if isinstance(value, JobRef):
        yield "job", value.namespace, value.name
    elif isinstance(value, DatasetRef | Symlink):
        yield "dataset", value.namespace, value.name
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            yield from named(getattr(value, field))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from named(each)


def names(events: Any) -> set[tuple[str, ...]]:
    return {(event.tenant, *name) for event in events for name in named(event)}


def mixture(count: int, seed: int = 1) -> list[LineageEvent]:
    decoder = Decoder()  # so that what is sent twice is two events
    return [decoder.decode(encode(event)) for event in Mixture(seed, Proportions(queries=6)).take(count)]


@pytest.mark.parametrize("most", [2, 3, 4])
def test_parts_have_nothing_in_common_and_are_all_of_it(most: int) -> None:
    events = mixture(900)
    parts = disjoint(events, most)
    assert len(parts) == most
    for one, other in combinations(parts, 2):
        assert names(one).isdisjoint(names(other))
    places = {id(event): at for at, event in enumerate(events)}
    assert sorted(places[id(event)] for part in parts for event in part) == list(range(len(events)))
    for part in parts:
        order = [places[id(event)] for event in part]
        assert order == sorted(order)


def test_any_kinds_of_event(subtests: pytest.Subtests) -> None:
    for seed in range(30):
        with subtests.test(seed=seed):
            dice = random.Random(seed)
            # Declarations name many things, and may be in any part.
            events = colliding_events(dice, 12, Pools(declarations=0, incidents=3))
            parts = disjoint(events, 2, least=1)
            for one, other in combinations(parts, 2):
                assert names(one).isdisjoint(names(other))
            assert sorted(map(id, events)) == sorted(id(event) for part in parts for event in part)


def test_neither_part_is_much_larger() -> None:
    first, second = disjoint(mixture(900), 2)
    assert 1 / 3 < len(first) / len(second) < 3


def test_what_is_not_worth_a_transaction_stays_together() -> None:
    events = mixture(900)
    assert disjoint(events, 1) == [events]
    assert disjoint(events[:40], 2) == [events[:40]]
    assert disjoint([], 2) == [[]]


def event(body: Any, job: JobRef | None = None) -> LineageEvent:
    run = RUN if isinstance(body, RunEvent) else None
    return build.lineage_event(body, job=job, run=run, producer=PRODUCER, event_time=TIME)


def started(**fields: Any) -> RunEvent:
    return RunEvent(type=RunEventType.START, **fields)


def micro_batch(**fields: Any) -> IntervalEvent:
    return IntervalEvent(query_id="q", entries=(IntervalEntry(batch_id=0, **fields),))


OURS, THEIRS = DatasetRef("file", "/ours"), DatasetRef("file", "/theirs")
OF_A_DATASET: Mapping[str, Any] = {
    "itself": DatasetEvent(dataset=OURS),
    "what it was renamed from": DatasetEvent(dataset=THEIRS, previous=OURS),
    "another name": DatasetEvent(dataset=THEIRS, symlinks=(Symlink(OURS.namespace, OURS.name),)),
    "an input": started(inputs=(DatasetUse(dataset=OURS),)),
    "an output": started(outputs=(DatasetUse(dataset=OURS),)),
    "what an output was made from": started(outputs=(DatasetUse(dataset=THEIRS, inputs=(OURS,)),)),
    "what an assertion is about": started(quality=(QualityResult(assertion="a", passed=True, dataset=OURS),)),
    "an input of a micro-batch": micro_batch(inputs=(DatasetUse(dataset=OURS),)),
    "an output of a micro-batch": micro_batch(outputs=(DatasetUse(dataset=OURS),)),
    "an assertion of a micro-batch": micro_batch(quality=(QualityResult(assertion="a", passed=True, dataset=OURS),)),
    "of a plan": ColumnLineage(datasets=(THEIRS, OURS)),
    "a declared input": JobEvent(inputs=(THEIRS, OURS)),
    "a declared output": JobEvent(outputs=(THEIRS, OURS)),
}
OURS_TOO = ParentRun("0197c1de-52f0-7bd1-9d55-1a2b3c4d5e60", JobRef("n", "ours"))
OF_A_JOB: Mapping[str, Any] = {"the parent": started(parent=OURS_TOO), "the root": started(root=OURS_TOO)}


def test_however_a_name_is_in_common(subtests: pytest.Subtests) -> None:
    cases = [
        *((name, body, event(DatasetEvent(dataset=OURS))) for name, body in OF_A_DATASET.items()),
        *((name, body, event(JobEvent(), OURS_TOO.job)) for name, body in OF_A_JOB.items()),
    ]
    for name, body, named in cases:
        with subtests.test(name):
            job = None if isinstance(body, DatasetEvent) else JobRef("n", "theirs")
            # Three that had nothing in common would be shared out otherwise.
            events = [event(body, job), named, event(JobEvent(), JobRef("n", "apart"))]
            assert disjoint(events, 2, least=1) == [events[:2], events[2:]]


def test_other_events_cost_as_much_as_three_micro_batches() -> None:
    events = [event(JobEvent(), JobRef("n", "described"))]
    events += [event(micro_batch(), JobRef("n", f"streaming{number}")) for number in range(4)]
    assert disjoint(events, 2, least=3) == [[events[0], events[4]], events[1:4]]
    assert disjoint(events, 2, least=4) == [events]


def test_a_transaction_is_worth_a_hundred_micro_batches() -> None:
    events = [event(micro_batch(), JobRef("n", name)) for name in "ab" for _ in range(100)]
    assert disjoint(events, 2) == [events[:100], events[100:]]
    assert disjoint(events[1:], 2) == [events[1:]]
