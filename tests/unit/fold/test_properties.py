"""Registers written as properties are read back as they were."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headwater_graph.facts.model import KEYED, Label
from headwater_graph.facts.nodes import IntervalFacts, Variant
from headwater_graph.facts.owners import REGISTERS, USE_REGISTERS, settled, without_stamps_of_the_schema
from headwater_graph.facts.properties import ENTRY_REGISTERS, ENTRY_TIMES, TIMES, changes, flatten, parse, stamped
from headwater_graph.facts.registers import STAMP_LENGTH, Registers, beats, join, stamp, stamp_time
from headwater_graph.fold import fold
from headwater_schemas.events import IntervalEntry
from support.events import (
    full_dataset_event,
    full_interval_event,
    full_job_event,
    full_plan_event,
    full_run_event,
)

if TYPE_CHECKING:
    import pytest

OLD, NEW = (stamp(datetime(2013, 1, day, tzinfo=UTC), "0" * 36) for day in (1, 2))
EVENTS = (full_run_event(), full_interval_event(), full_plan_event(), full_dataset_event(), full_job_event())


def test_every_register_of_every_body_survives() -> None:
    delta = fold(EVENTS)
    owners: list[tuple[Label, Registers]] = [
        *((Label.JOB, node.registers) for node in delta.jobs.values()),
        *((Label.DATASET, node.registers) for node in delta.datasets.values()),
        *((Label.QUERY, node.registers) for node in delta.queries.values()),
        *((Label.RUN, node.registers) for node in delta.runs.values()),
        *((Label.PLAN, node.registers) for node in delta.plans.values()),
        *((Label.VERSION, node.registers) for node in delta.versions.values()),
        *((Label.COLUMN, c.registers) for node in delta.datasets.values() for c in node.columns.values()),
        *((Label.INTERVAL, v.registers) for node in delta.intervals.values() for v in node.variants.values()),
    ]
    for label, registers in owners:
        stored = {"name": "of the identity", **flatten(registers), **stamped(registers)}
        assert parse(stored, REGISTERS[label]) == registers, label


def test_every_field_of_an_entry_is_a_register_or_has_a_rule_of_its_own() -> None:
    assert {"processing_time", "watermark_before", "watermark_after"} <= ENTRY_TIMES <= set(ENTRY_REGISTERS)
    assert set(IntervalEntry.__struct_fields__) - set(ENTRY_REGISTERS) == {"batch_id", "inputs", "outputs", "quality"}
    event = full_interval_event()
    assert event.interval_event is not None
    (entry,) = event.interval_event.entries[:1]
    (interval,) = (each for each in fold([event]).intervals.values() if each.batch_id == entry.batch_id)
    (variant,) = interval.variants.values()
    assert {name: variant.registers[name][1] for name in ENTRY_REGISTERS} == {
        name: getattr(entry, name) for name in ENTRY_REGISTERS
    }


def test_every_time_is_read_back_as_one() -> None:
    delta = fold(EVENTS)
    variants = [variant for interval in delta.intervals.values() for variant in interval.variants.values()]
    registers: list[Registers] = [variant.registers for variant in variants]
    for nodes in (delta.jobs, delta.datasets, delta.queries, delta.runs, delta.plans, delta.versions):
        registers += [node.registers for node in nodes.values()]
    registers += [each for run in delta.runs.values() for each in run.uses.values()]
    registers += [each for variant in variants for each in variant.uses.values()]
    times = {name for one in registers for name, value in flatten(one).items() if isinstance(value, datetime)}
    assert times >= ENTRY_TIMES
    assert times - TIMES == set()


def test_uses_lean_on_their_owners_stamp() -> None:
    (run,) = (run for run in fold(EVENTS).runs.values() if run.uses)
    owner = str(stamped(run.registers)["_stamp"])
    for registers in run.uses.values():
        stored = {**flatten(registers), **stamped(registers, owner)}
        assert "_stamp" not in stored
        assert parse(stored, USE_REGISTERS, owner) == registers


def test_only_registers_with_another_stamp_are_listed() -> None:
    registers: Registers = {"type": (OLD, "TABLE"), "facet:a b": (NEW, "{}"), "classification": (OLD, "")}
    stored = {**flatten(registers), **stamped(registers)}
    assert stored["_stamp"] == NEW
    assert stored["_stamps"] == [f"{OLD}classification", f"{OLD}type"]
    assert parse(stored, REGISTERS[Label.DATASET]) == registers


def test_a_part_that_the_new_value_lacks_is_removed() -> None:
    before: Registers = {"error": (OLD, {"error_message": "m", "error_type": "T"})}
    after: Registers = {"error": (NEW, {"error_message": "m"})}
    assert changes(before, after) == {"error_type": None}


def test_a_part_of_a_register_is_none_without_the_first_part() -> None:
    stored = {"_stamp": OLD, "dropped_at": datetime(2013, 1, 1, tzinfo=UTC), "owner_types": [""], "type": "TABLE"}
    assert parse(stored, REGISTERS[Label.DATASET]) == {"type": (OLD, "TABLE")}


def test_what_is_the_same_is_not_set_again() -> None:
    before: Registers = {"type": (OLD, "TABLE"), "error": (OLD, {"error_message": "m", "error_type": "T"})}
    after: Registers = {"type": (NEW, "TABLE"), "error": (NEW, {"error_message": "n", "error_type": "T"})}
    assert changes(before, after) == {"error_message": "n"}
    assert changes({}, after) == {"type": "TABLE", "error_message": "n", "error_type": "T"}


def test_stamps_have_one_length_and_keep_their_time(subtests: pytest.Subtests) -> None:
    for event in EVENTS:
        with subtests.test(event.kind):
            mark = stamp(event.event_time, event.event_id)
            assert len(mark) == STAMP_LENGTH
            assert stamp_time(mark) == event.event_time


def test_stamps_sort_by_certainty_then_time() -> None:
    early, late = datetime(1969, 12, 31, tzinfo=UTC), datetime(2013, 1, 1, tzinfo=UTC)
    marks = [stamp(early, "b", 2), stamp(late, "a", 1), stamp(early, "a", 2), stamp(late, "a", 2)]
    assert sorted(marks) == [marks[1], marks[2], marks[0], marks[3]]


def test_a_tie_goes_to_one_value_from_either_side() -> None:
    one: Registers = {"description": (OLD, "a")}
    other: Registers = {"description": (OLD, "b")}
    left, right = dict(one), dict(other)
    join(left, other)
    join(right, one)
    assert left == right
    assert not beats("description", one["description"], one["description"])


def test_types_with_a_key_of_their_own() -> None:
    assert {"CONSUMED", "DERIVES", "FEEDS", "GENERATES", "INFLUENCES", "PRODUCED"} == KEYED


def test_settled_properties_have_the_stamp_of_each_register() -> None:
    older, newer = "1" * STAMP_LENGTH, "2" * STAMP_LENGTH
    stored = {
        "key": "run:1",
        "state": "RUNNING",
        "error": None,
        "_l": 7,
        "facet_names": ["cpu"],
        "_stamp": older,
        "_stamps": [newer + "state", newer + "owners"],
    }
    assert settled(stored, {"state": "state", "error": "error"}) == {
        "key": "run:1",
        "state": "RUNNING",
        "facet_names": ["cpu"],
        "_stamps": [older + "facet:cpu", newer + "owners", newer + "state"],
    }
    assert settled({"rows": 3}, {"rows": "rows"}, older) == {"rows": 3, "_stamps": [older + "rows"]}
    assert settled({"rows": 3}, {"rows": "rows"}) == {"rows": 3}


def test_the_schemas_stamp_is_no_columns() -> None:
    column = {"type": "int", "ordinal": 2, "_stamp": "s", "_stamps": ["t"], "_schema": "u"}
    assert without_stamps_of_the_schema(column) == {"type": "int", "ordinal": 2}


def _of(stamp: str, provenance: str) -> Variant:
    return Variant(registers={"provenance": (stamp, provenance)})


VARIANTS: dict[str, tuple[tuple[str, Variant], tuple[str, Variant], str]] = {
    "the greater stamp": (("b", _of("1", "RECONCILED")), ("a", _of("2", "OBSERVED")), "a"),
    "then the greater value": (("b", _of("1", "OBSERVED")), ("a", _of("1", "RECONCILED")), "a"),
    "then the greater digest": (("a", _of("1", "OBSERVED")), ("b", _of("1", "OBSERVED")), "b"),
    "whichever came first": (("b", _of("1", "OBSERVED")), ("a", _of("1", "OBSERVED")), "b"),
}


def test_one_variant_is_the_interval(subtests: pytest.Subtests) -> None:
    for case, (first, second, winner) in VARIANTS.items():
        with subtests.test(case):
            assert IntervalFacts({}, "query", 3, dict([first, second])).winner == winner
