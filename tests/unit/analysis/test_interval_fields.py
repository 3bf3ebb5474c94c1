"""A stored field of a micro-batch is shown by declaring it in an answer: a row of one has all of its properties."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from neo4j.time import DateTime

from headwater_analysis.interval_fields import stored_fields, stored_values
from headwater_analysis.micro_batches import row
from headwater_analysis.runs import IntervalItem
from headwater_analysis.timeline import TimelineInterval
from headwater_graph.facts.properties import ENTRY_REGISTERS, ENTRY_TIMES, flatten
from headwater_graph.fold import fold
from support.events import full_interval_event

if TYPE_CHECKING:
    import pytest

COMPUTED = {
    IntervalItem: {"inputs", "outputs", "quality", "missing", "gaps", "overlaps", "rewinds", "conflicts", "anew"},
    TimelineInterval: {"consumed", "produced", "missing_before", "gaps", "overlaps", "conflicts"},
}


def test_a_row_has_all_that_is_stored() -> None:
    interval = min(fold([full_interval_event()]).intervals.values(), key=lambda each: each.batch_id)
    variant = interval.variants[interval.winner]
    properties = row(interval)["properties"]
    assert properties.items() >= {**interval.identity, **flatten(variant.registers)}.items()
    assert properties.keys() >= {
        *ENTRY_REGISTERS,
        "key",
        "query_id",
        "batch_id",
        "run_id",
        "provenance",
        "code_version",
    }
    assert properties["source_end_digest"] == interval.winner


def test_a_field_of_an_answer_is_stored_or_computed(subtests: pytest.Subtests) -> None:
    for answer, computed in COMPUTED.items():
        with subtests.test(answer=answer.__name__):
            fields = {field.name for field in dataclasses.fields(answer)}
            assert fields == {*stored_fields(answer), *computed}
            assert not computed & set(stored_fields(answer))


def test_values_are_those_of_the_node_and_times_are_pythons(subtests: pytest.Subtests) -> None:
    for answer in COMPUTED:
        with subtests.test(answer=answer):
            at = datetime(2024, 1, 1, 12, tzinfo=UTC)
            stored = {
                name: DateTime.from_native(at) if name in ENTRY_TIMES else f"of {name}"
                for name in stored_fields(answer)
            }
            values = stored_values(answer, stored | {"_stamp": "x"})
            assert values == {name: at if name in ENTRY_TIMES else f"of {name}" for name in stored_fields(answer)}
            assert set(stored_values(answer, {}).values()) == {None}


def test_what_a_micro_batch_reports_is_stored() -> None:
    new = dataclasses.make_dataclass("New", [("state_bytes", int), ("another", int)])
    assert "state_bytes" in ENTRY_REGISTERS
    assert stored_values(new, {"state_bytes": 7, "another": 8}) == {"state_bytes": 7}
