"""What the first broken rule is: its field and its words, for each rule, and where no rule is broken."""

from __future__ import annotations

from itertools import combinations
from typing import Any, TypeVar

import msgspec
import pytest

from headwater_schemas.events import (
    DatasetRef,
    DatasetUse,
    IntervalEntry,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
)
from headwater_schemas.rules import Violation, first_violation
from support.events import FULL_EVENTS, POSITIONS

T = TypeVar("T")
DATASET = DatasetRef("k", "t")
SORTS: dict[str, Any] = {
    name: value
    for position in POSITIONS
    for name in position.__struct_fields__
    if (value := getattr(position, name)) is not None
}


def replaced(value: T, **fields: Any) -> T:
    assert isinstance(value, msgspec.Struct)
    return msgspec.structs.replace(value, **fields)


def with_uses(side: str, *positions: Position | None) -> LineageEvent:
    event = FULL_EVENTS["run"]()
    uses = tuple(DatasetUse(dataset=DATASET, position=position) for position in positions)
    return replaced(event, run_event=replaced(event.run_event, **{side: uses}))


def ranges(*parts: tuple[int, int, int]) -> Position:
    return Position(kafka=KafkaRanges("t", tuple(OffsetRange(*part) for part in parts)))


def entries() -> tuple[IntervalEntry, ...]:
    interval = FULL_EVENTS["interval"]().interval_event
    assert interval is not None
    return interval.entries


def with_entries(*changed: IntervalEntry) -> LineageEvent:
    event = FULL_EVENTS["interval"]()
    return replaced(event, interval_event=replaced(event.interval_event, entries=changed))


def with_edge(kind: str, **edge: Any) -> LineageEvent:
    event = FULL_EVENTS[kind]()
    name = f"{kind}_event"
    body = getattr(event, name)
    good = body.lineage.edges[0]
    return replaced(
        event, **{name: replaced(body, lineage=replaced(body.lineage, edges=(good, replaced(good, **edge))))}
    )


FIRST, SECOND = entries()[:2]
BAD = ranges((0, 5, 4))
BEHIND = "points behind the last dataset"
BROKEN: dict[str, tuple[LineageEvent, str, str]] = {
    "no body": (
        replaced(FULL_EVENTS["run"](), run_event=None),
        "run_event",
        "the body that `kind` names is missing",
    ),
    "another body": (
        replaced(FULL_EVENTS["run"](), kind="PLAN"),
        "kind",
        "says plan_event, but the body is run_event",
    ),
    "two bodies": (
        replaced(FULL_EVENTS["run"](), job_event=FULL_EVENTS["job"]().job_event),
        "job_event",
        "a second body, besides run_event",
    ),
    "no job": (replaced(FULL_EVENTS["plan"](), job=None), "job", "an event of kind PLAN needs its job"),
    "no run": (replaced(FULL_EVENTS["run"](), run=None), "run", "an event of kind RUN needs its run"),
    "no micro-batch": (with_entries(), "interval_event.entries", "an interval has at least one micro-batch"),
    "a hole in the batches": (
        with_entries(FIRST, replaced(SECOND, batch_id=FIRST.batch_id + 2)),
        "interval_event.entries[1].batch_id",
        "batch ids must be consecutive and ascending",
    ),
    "a micro-batch's output": (
        with_entries(FIRST, replaced(SECOND, outputs=(DatasetUse(dataset=DATASET, position=BAD),))),
        "interval_event.entries[1].outputs[0].position.kafka.ranges[0].to_exclusive",
        "the range ends before it begins",
    ),
    "a partition twice": (
        with_uses("inputs", None, ranges((1, 0, 1), (1, 1, 2))),
        "run_event.inputs[1].position.kafka.ranges[1].partition",
        "partitions must be in ascending order, each once",
    ),
    "a negative partition": (
        with_uses("inputs", ranges((-1, 0, 1))),
        "run_event.inputs[0].position.kafka.ranges[0].partition",
        "partitions must be in ascending order, each once",
    ),
    "a range that ends early": (
        with_uses("outputs", ranges((0, 4, 4), (1, 5, 4))),
        "run_event.outputs[0].position.kafka.ranges[1].to_exclusive",
        "the range ends before it begins",
    ),
    "two sorts of position": (
        with_uses("inputs", Position(kafka=SORTS["kafka"], cdc=SORTS["cdc"])),
        "run_event.inputs[0].position",
        "a position is of one sort only",
    ),
    "an output that isn't listed": (
        with_edge("plan", output=99),
        "plan_event.lineage.edges[1].output",
        BEHIND,
    ),
    "an input that isn't listed": (with_edge("job", input=99), "job_event.lineage.edges[1].input", BEHIND),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_named_with_its_field(name: str) -> None:
    event, field, message = BROKEN[name]
    assert first_violation(event) == Violation(field, message)


@pytest.mark.parametrize(("one", "other"), list(combinations(SORTS, 2)))
def test_no_two_sorts_of_position_go_together(one: str, other: str) -> None:
    both = Position(**{one: SORTS[one], other: SORTS[other]})
    assert first_violation(with_uses("inputs", both)) is not None


@pytest.mark.parametrize("sort", SORTS)
def test_one_sort_of_position_is_fine(sort: str) -> None:
    assert first_violation(with_uses("inputs", Position(**{sort: SORTS[sort]}))) is None
    assert first_violation(with_uses("inputs", Position())) is None, "a newer version's, read by this one"


def test_every_sort_is_tried() -> None:
    assert set(SORTS) == set(Position.__struct_fields__)


@pytest.mark.parametrize("kind", FULL_EVENTS)
def test_full_events_break_none(kind: str) -> None:
    assert first_violation(FULL_EVENTS[kind]()) is None


def test_the_last_dataset_may_be_pointed_at() -> None:
    plan = FULL_EVENTS["plan"]().plan_event
    assert plan is not None
    last = len(plan.lineage.datasets) - 1
    assert first_violation(with_edge("plan", output=last, input=last)) is None
    assert first_violation(with_edge("plan", output=last + 1)) is not None
    assert first_violation(with_edge("plan", input=last + 1)) is not None
