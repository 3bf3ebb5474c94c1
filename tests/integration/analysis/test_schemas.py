"""Schemas that a dataset had, types that a column had, and what `diff` finds retyped, all derived by hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from headwater.cli import main
from headwater.commands.diff import summary
from headwater_analysis.diff import Diff, Point, diff
from headwater_analysis.known import column_details, dataset_details
from headwater_analysis.reader import Reader
from headwater_analysis.runs import run
from headwater_analysis.schemas import DiffChange, FieldType
from headwater_schemas.events import (
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    JobEvent,
    JobRef,
    LifecycleChange,
    LineageEvent,
    RunEvent,
    RunEventType,
    RunRef,
    SchemaDefinition,
    SchemaField,
    Versions,
    build,
)
from headwater_schemas.identity import schema_digest
from support.graph.writing import hold, store

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

ORDERS, SALES = DatasetRef("n", "orders"), DatasetRef("n", "sales")
FIRST = (("id", "int", None), ("amount", "int", True), ("note", "string", None))
SECOND = (("id", "bigint", None), ("amount", "int", False), ("tax", "double", None))
UNTYPED = (("id", None, None), ("amount", None, None), ("tax", None, None))


def day(number: int) -> datetime:
    return datetime(2025, 1, number, tzinfo=UTC)


def digest(fields: tuple[tuple[str, str | None, bool | None], ...]) -> str:
    return schema_digest(SchemaDefinition(tuple(SchemaField(path=p, type=t, nullable=n) for p, t, n in fields)))


def reported(
    on: int, fields: tuple[tuple[str, str | None, bool | None], ...], dataset: DatasetRef = ORDERS
) -> LineageEvent:
    schema = SchemaDefinition(tuple(SchemaField(path=p, type=t, nullable=n) for p, t, n in fields))
    return build.lineage_event(DatasetEvent(dataset=dataset, schema=schema), producer="p", event_time=day(on))


EVENTS = (
    build.lineage_event(JobEvent(outputs=(ORDERS,)), job=JobRef("f", "load"), producer="p", event_time=day(1)),
    reported(1, FIRST),
    reported(3, SECOND),
    reported(4, SECOND),
    reported(6, FIRST),
    reported(8, SECOND),
    reported(10, UNTYPED),
)


@pytest.fixture
def orders(neo4j_driver: Driver, reader: Reader) -> Reader:
    # Whatever order they come in, and however often.
    hold(neo4j_driver, "schemas", (*EVENTS[::-1], *EVENTS[2:4]), at_once=1)
    return reader


def test_the_latest_reported_comes_first_with_what_it_changed(orders: Reader) -> None:
    found = dataset_details(orders, "n/orders")
    assert found.schemas_total == 3
    untyped, second, first = found.schemas
    assert [(each.first_seen, each.last_seen, each.columns_total) for each in found.schemas] == [
        (day(10), day(10), 3),
        (day(3), day(8), 3),
        (day(1), day(6), 3),
    ]
    assert first.changes is None
    assert [(each.change.value, each.column, each.before, each.after) for each in second.changes or ()] == [
        ("REMOVED", "note", FieldType("string", None), None),
        ("CHANGED", "id", FieldType("int", None), FieldType("bigint", None)),
        ("CHANGED", "amount", FieldType("int", True), FieldType("int", False)),
        ("ADDED", "tax", None, FieldType("double", None)),
    ]
    # What isn't stated is no other type.
    assert (untyped.changes, untyped.changes_total) == ((), 0)


def test_a_column_has_each_type_that_was_stated(orders: Reader) -> None:
    types = column_details(orders, "n/orders#id").types
    assert [(each.type, each.first_seen, each.last_seen) for each in types] == [
        (None, day(10), day(10)),
        ("bigint", day(3), day(8)),
        ("int", day(1), day(6)),
    ]
    (note,) = column_details(orders, "n/orders#note").types
    assert (note.type, note.last_seen) == ("string", day(6))


RETYPED: list[tuple[int, int, dict[str, tuple[str, str]]]] = [
    (1, 2, {}),
    (1, 3, {"id": ("int", "bigint"), "amount": ("int", "int")}),
    (3, 5, {}),
    # On the fifth, the second schema was reported last; on the seventh, both were, before and after it.
    (2, 5, {"id": ("int", "bigint"), "amount": ("int", "int")}),
    (2, 9, {"id": ("int", "bigint"), "amount": ("int", "int")}),
    (9, 11, {}),
    (5, 2, {"id": ("bigint", "int"), "amount": ("int", "int")}),
]


def test_what_is_retyped_between_two_days(subtests: pytest.Subtests, orders: Reader) -> None:
    for before, after, expected in RETYPED:
        with subtests.test(before=before, after=after):
            found = diff(orders, Point(time=day(before)), Point(time=day(after)), dataset="n/orders").columns
            retyped = {
                str(each.column.column): (each.before.type, each.after.type)
                for each in found
                if each.change is DiffChange.CHANGED and each.before and each.after
            }
            assert retyped == expected


def test_a_run_has_the_schemas_that_it_read_and_wrote(
    orders: Reader, neo4j_driver: Driver, settings_of_stack: None, capsys: pytest.CaptureFixture[str]
) -> None:
    body = RunEvent(
        type=RunEventType.COMPLETE,
        inputs=(DatasetUse(dataset=ORDERS, schema_digest=digest(FIRST)),),
        outputs=(DatasetUse(dataset=SALES, schema_digest=digest(SECOND)),),
    )
    done = build.lineage_event(body, job=JobRef("f", "report"), run=RunRef("r-9"), producer="p", event_time=day(9))
    store(neo4j_driver, [done])
    found = run(orders, "r-9")
    # On the ninth the second one had been reported last: what the run read is what its own event states.
    assert [(use.schema_digest, use.schema_since) for use in found.inputs] == [(digest(FIRST), day(1))]
    # Nothing has reported the schema of `sales` itself.
    assert [(use.schema_digest, use.schema_since) for use in found.outputs] == [(digest(SECOND), None)]
    assert main(["runs", "show", "r-9"]) == 0
    shown = capsys.readouterr().out
    assert "of 2025-01-01 00:00:00Z" in shown
    assert digest(SECOND)[:12] in shown


def used(
    run_id: str, on: int, read: str | None, wrote: str | None, *, code: str, job: str = "report"
) -> Iterator[LineageEvent]:
    """A run that read `orders` and wrote `sales` with schemas of these digests."""
    body = RunEvent(
        type=RunEventType.COMPLETE,
        inputs=(DatasetUse(dataset=ORDERS, schema_digest=read),),
        outputs=(DatasetUse(dataset=SALES, schema_digest=wrote),),
        versions=Versions(code=code),
    )
    yield build.lineage_event(body, job=JobRef("f", job), run=RunRef(run_id), producer="p", event_time=day(on))


def differing(found: Diff) -> list[tuple[str, ...]]:
    return [
        (
            str(each.column.spelling).removeprefix("n/"),
            each.change.value,
            "" if each.before is None or each.after is None else f"{each.before.type} {each.after.type}",
            *(role.value for role in each.roles),
        )
        for each in found.columns
    ]


SALES_FIRST = (("id", "int", None), ("net", "double", None))
SALES_SECOND = (("id", "bigint", None), ("gross", "double", None))
READ_OTHERWISE = [
    ("orders#amount", "CHANGED", "int int", "READ"),
    ("orders#id", "CHANGED", "int bigint", "READ"),
    ("orders#note", "REMOVED", "", "READ"),
    ("orders#tax", "ADDED", "", "READ"),
]
WRITTEN_OTHERWISE = [
    ("sales#gross", "ADDED", "", "WROTE"),
    ("sales#id", "CHANGED", "int bigint", "WROTE"),
    ("sales#net", "REMOVED", "", "WROTE"),
]


@pytest.mark.parametrize("by", ["run", "code"])
def test_two_runs_differ_by_the_schemas_that_their_uses_name(
    orders: Reader, neo4j_driver: Driver, settings_of_stack: None, capsys: pytest.CaptureFixture[str], by: str
) -> None:
    # All of the twentieth, when every schema has been reported: by time the runs have the same schemas.
    events = [
        reported(11, SALES_FIRST, SALES),
        reported(12, SALES_SECOND, SALES),
        *used("r-1", 20, digest(FIRST), digest(SALES_FIRST), code="aaaa"),
        *used("r-2", 20, digest(SECOND), digest(SALES_SECOND), code="bbbb"),
    ]
    store(neo4j_driver, events)
    sides = [Point(run="r-1"), Point(run="r-2")] if by == "run" else [Point(code_version=c) for c in ("aaaa", "bbbb")]
    job = None if by == "run" else "f/report"
    found = diff(orders, *sides, job=job)
    assert differing(found) == [*READ_OTHERWISE, *WRITTEN_OTHERWISE]
    assert found.unknown_schemas == ()
    back = diff(orders, *sides[::-1], job=job)
    assert [(each.column.spelling, each.time) for each in back.columns if each.change is DiffChange.REMOVED] == [
        ("n/orders#tax", day(8)),
        ("n/sales#gross", day(12)),
    ]
    assert differing(diff(orders, sides[0], sides[0], job=job)) == []
    if by == "run":
        assert main(["diff", "--before-run", "r-1", "--after-run", "r-2"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "~ n/orders: amount int → int not null, id int → bigint (2025-01-03 00:00:00Z, as read)" in shown
        assert "- n/sales: net (2025-01-11 00:00:00Z, as written)" in shown


def test_a_dataset_that_is_read_and_written_in_one_way_has_one_line_for_both(
    orders: Reader, neo4j_driver: Driver
) -> None:
    def run_of(run_id: str, on: int, schema: str) -> LineageEvent:
        use = DatasetUse(dataset=ORDERS, schema_digest=schema)
        body = RunEvent(type=RunEventType.COMPLETE, inputs=(use,), outputs=(use,))
        return build.lineage_event(body, job=JobRef("f", "fix"), run=RunRef(run_id), producer="p", event_time=day(on))

    events = [run_of("r-1", 20, digest(FIRST)), run_of("r-2", 21, digest(SECOND))]
    store(neo4j_driver, events)
    found = diff(orders, Point(run="r-1"), Point(run="r-2"))
    assert differing(found) == [(*each[:3], "READ", "WROTE") for each in READ_OTHERWISE]


def test_a_use_without_a_schema_is_compared_by_time_and_an_unknown_schema_is_named(
    orders: Reader, neo4j_driver: Driver
) -> None:
    events = [
        # The first schema of `sales` was never reported.
        reported(4, SALES_SECOND, SALES),
        *used("r-1", 2, None, digest(SALES_FIRST), code="aaaa"),
        *used("r-2", 5, digest(SECOND), digest(SALES_SECOND), code="bbbb"),
    ]
    store(neo4j_driver, events)
    found = diff(orders, Point(run="r-1"), Point(run="r-2"))
    by_time = [("orders#amount", "CHANGED", "int int"), ("orders#id", "CHANGED", "int bigint")]
    assert [each for each in differing(found) if each[1] == "CHANGED"] == by_time
    assert [each.name for each in found.unknown_schemas] == ["sales"]
    assert "Columns may differ, because only the digest of a schema is known: n/sales." in summary(found)


def test_under_another_name_it_has_the_same_history(orders: Reader, neo4j_driver: Driver) -> None:
    renamed = DatasetEvent(dataset=SALES, lifecycle=LifecycleChange.RENAME, previous=ORDERS)
    events = [build.lineage_event(renamed, producer="p", event_time=day(12)), reported(13, SECOND, SALES)]
    store(neo4j_driver, events)
    found = dataset_details(orders, "n/sales")
    # A schema of each name: the second is both of `orders` and of `sales`.
    assert found.schemas_total == 4
    assert [each.last_seen for each in found.schemas] == [day(13), day(10), day(8), day(6)]
    assert [each.type for each in column_details(orders, "n/sales#id").types] == ["bigint", None, "int"]


def test_people_see_it(orders: Reader, settings_of_stack: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "n/orders"]) == 0
    shown = capsys.readouterr().out
    assert "~ id int → bigint" in shown
    assert "~ amount int → int not null" in shown
    assert "- note" in shown
    assert "+ tax double" in shown
    assert main(["show", "n/orders#id"]) == 0
    assert "bigint" in capsys.readouterr().out
    asked = ["diff", "--dataset", "n/orders", "--before", "2025-01-01T00:00:00Z", "--after", "2025-01-03T00:00:00Z"]
    assert main(asked) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "~ n/orders: amount int → int not null, id int → bigint (2025-01-03" in shown
