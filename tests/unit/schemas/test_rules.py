"""First broken rule of an event: its field and its words, for each rule, and None where no rule is broken."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    DatasetUse,
    DeclarationEvent,
    DeclaredColumn,
    IntervalEntry,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    RetentionMode,
)
from headwater_schemas.rules import Violation, first_violation
from support.events import FULL_EVENTS, POSITIONS, with_body

if TYPE_CHECKING:
    import pytest

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


def with_items(*items: str) -> LineageEvent:
    return with_body("declaration_set", items=items)


FIRST, SECOND = entries()[:2]
BAD = ranges((0, 5, 4))
BEHIND = "points behind the last dataset"
ONE_SUBJECT = "declares exactly one of dataset, job and consumer"
ASCENDING = "digests must be ascending, each once"
NO_DIGEST = "not the digest of a declaration"
BROKEN: dict[str, tuple[LineageEvent, str, str]] = {
    "no body": (
        replaced(FULL_EVENTS["run"](), run_event=None),
        "run_event",
        "the body that `kind` names is missing",
    ),
    "another body": (
        replaced(FULL_EVENTS["run"](), kind="PLAN"),
        "kind",
        "needs the body plan_event, but the body is run_event",
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
        "a position can have only one of its fields",
    ),
    "an output that isn't listed": (
        with_edge("plan", output=99),
        "plan_event.lineage.edges[1].output",
        BEHIND,
    ),
    "an input that isn't listed": (with_edge("job", input=99), "job_event.lineage.edges[1].input", BEHIND),
    "retention of a newer version": (
        with_body("retention", mode=RetentionMode.UNKNOWN),
        "retention_event.mode",
        "not a mode that this version knows",
    ),
    "retention of a job without its namespace": (
        with_body("retention", namespace=None),
        "retention_event.namespace",
        "a job needs its namespace",
    ),
    "nothing declared": (with_body("declaration_of_a_job", job=None), "declaration_event", ONE_SUBJECT),
    "two things declared": (with_body("declaration_of_a_job", dataset=DATASET), "declaration_event", ONE_SUBJECT),
    "all three declared": (
        with_body("declaration_of_a_job", dataset=DATASET, consumer="board"),
        "declaration_event",
        ONE_SUBJECT,
    ),
    "a column declared twice": (
        with_body("declaration", columns=tuple(DeclaredColumn(path=path) for path in ("a", "b", "a"))),
        "declaration_event.columns",
        "a path occurs twice",
    ),
    "a declared edge to nowhere": (
        with_body("declaration_of_a_job", lineage=ColumnLineage(datasets=(DATASET,), edges=(ColumnEdge(output=1),))),
        "declaration_event.lineage.edges[0].output",
        BEHIND,
    ),
    "revision 0": (
        with_body("declaration_set", revision=0),
        "declaration_set_event.revision",
        "revisions begin with 1",
    ),
    "an item twice": (with_items("0" * 32, "0" * 32), "declaration_set_event.items[1]", ASCENDING),
    "items that descend": (with_items("0" * 32, "b" * 32, "a" * 32), "declaration_set_event.items[2]", ASCENDING),
    **{
        f"the item {item}": (with_items("0" * 32, item), "declaration_set_event.items[1]", NO_DIGEST)
        for item in ("", "f" * 31, "f" * 33, "F" * 32, "g" * 32)
    },
}


def test_a_broken_rule_is_named_with_its_field(subtests: pytest.Subtests) -> None:
    for name, (event, field, message) in BROKEN.items():
        with subtests.test(name=name):
            assert first_violation(event) == Violation(field, message)


def test_no_two_sorts_of_position_go_together(subtests: pytest.Subtests) -> None:
    for one, other in combinations(SORTS, 2):
        with subtests.test(one=one, other=other):
            both = Position(**{one: SORTS[one], other: SORTS[other]})
            assert first_violation(with_uses("inputs", both)) is not None


def test_one_sort_of_position_is_fine(subtests: pytest.Subtests) -> None:
    for sort, value in SORTS.items():
        with subtests.test(sort=sort):
            assert first_violation(with_uses("inputs", Position(**{sort: value}))) is None
    assert first_violation(with_uses("inputs", Position())) is None, "a newer version's, read by this one"


def test_every_sort_is_tried() -> None:
    assert set(SORTS) == set(Position.__struct_fields__)


def test_full_events_break_none(subtests: pytest.Subtests) -> None:
    for kind in FULL_EVENTS:
        with subtests.test(kind=kind):
            assert first_violation(FULL_EVENTS[kind]()) is None


def test_the_last_dataset_may_be_pointed_at() -> None:
    plan = FULL_EVENTS["plan"]().plan_event
    assert plan is not None
    last = len(plan.lineage.datasets) - 1
    assert first_violation(with_edge("plan", output=last, input=last)) is None
    assert first_violation(with_edge("plan", output=last + 1)) is not None
    assert first_violation(with_edge("plan", input=last + 1)) is not None


DECLARED = {"dataset": "declaration", "job": "declaration_of_a_job", "consumer": "declaration_of_a_consumer"}
OF_ONE = [
    *(("dataset", field) for field in ("keep_days", "reference", "columns", "marks")),
    *(("job", field) for field in ("inputs", "outputs", "lineage", "partitions")),
    *(("consumer", field) for field in ("type", "reads")),
]


def of_a_declaration(subject: str, field: str) -> Any:
    body = FULL_EVENTS[DECLARED[subject]]().declaration_event
    value = getattr(body, field)
    assert value is not None
    return value


def test_what_one_kind_of_subject_has_no_other_has(subtests: pytest.Subtests) -> None:
    for subject, field in OF_ONE:
        with subtests.test(subject=subject, field=field):
            value = of_a_declaration(subject, field)
            for other in DECLARED.keys() - {subject}:
                assert first_violation(with_body(DECLARED[other], **{field: value})) == Violation(
                    f"declaration_event.{field}", f"only a {subject} has it"
                ), other


def test_every_field_is_of_one_kind_of_subject_or_of_all() -> None:
    of_all = ("description", "owners", "tags", "glossary", "classification", "sensitivity", "criticality", "certified")
    more = ("freshness_seconds", "deadline", "notice_days", "on_call", "contact", "url")
    fields = {*DECLARED, "set", *of_all, *more, *(field for _, field in OF_ONE)}
    assert set(DeclarationEvent.__struct_fields__) == fields
    for field in (*of_all, *more):
        value = of_a_declaration("dataset", field)
        for subject in ("job", "consumer"):
            assert first_violation(with_body(DECLARED[subject], **{field: value})) is None, (subject, field)


def test_the_least_of_each_breaks_none(subtests: pytest.Subtests) -> None:
    cases = [
        with_body("retention", job=None),
        with_body("retention", job=None, namespace=None),
        with_body("declaration", columns=(), marks=()),
        with_body("declaration", columns=(DeclaredColumn(path="a"),)),
        with_body("declaration_of_a_job", lineage=None),
        with_body("declaration_set", revision=1),
        with_items(),
        with_items("0" * 32),
        with_items("0" * 32, "a" * 32, "b" * 32),
    ]
    for event in cases:
        with subtests.test(event=event):
            assert first_violation(event) is None
