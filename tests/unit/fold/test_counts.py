from __future__ import annotations

import msgspec
import pytest

from headwater_graph.fold import fold
from headwater_schemas.events import SchemaDefinition, SchemaField
from support.events import LATER, full_interval_event, full_run_event, with_body


def test_equal_events_are_duplicates() -> None:
    delta = fold([full_run_event(), full_run_event(), full_interval_event()])
    assert (delta.events, delta.duplicates, delta.stale) == (3, 1, 0)
    assert delta.intervals.keys() == fold([full_interval_event()]).intervals.keys(), "what comes after one counts"


def test_an_event_without_its_body_is_refused() -> None:
    with pytest.raises(ValueError, match="without its body"):
        fold([msgspec.structs.replace(full_run_event(), run_event=None)])


def test_another_report_of_the_same_id_is_stale_and_still_joined() -> None:
    again = msgspec.structs.replace(with_body("interval", checkpoint_location="/elsewhere"), event_time=LATER)
    delta = fold([full_interval_event(), again])
    assert (delta.duplicates, delta.stale) == (0, 1)
    (query,) = delta.queries.values()
    assert query.registers["checkpoint_location"][1] == "/elsewhere"


def test_counts_add_up_when_joined() -> None:
    delta = fold([full_run_event()]).join(fold([full_run_event(), full_run_event()]))
    assert (delta.events, delta.duplicates) == (3, 1)
    later = msgspec.structs.replace(full_run_event(), event_time=LATER)
    stale = fold([full_run_event(), later])
    assert stale.join(stale).stale == 2
    assert stale == stale.join(stale), "how often is no part of what is stated"
    assert stale.stale != stale.join(stale).stale


def test_of_two_schemas_with_one_stamp_one_wins_with_all_its_columns() -> None:
    types = ("int", "string", "double", "date", "binary", "bigint", "float", "boolean")
    schemas = [
        SchemaDefinition((SchemaField(path=path, type=type_), SchemaField(path="z", type=type_)))
        for path, type_ in zip("abcdefgh", types, strict=True)
    ]
    events = [with_body("dataset", schema=schema) for schema in schemas]
    (node,) = (node for node in fold(events).datasets.values() if "schema" in node.registers)
    winner = node.registers["schema"][1]
    assert isinstance(winner, dict)
    (type_,) = (t for path, t in zip("abcdefgh", types, strict=True) if winner["columns"] == [path, "z"])
    field = node.columns["z"].registers["field"][1]
    assert isinstance(field, dict)
    assert (field["data_type"], field["_schema"]) == (type_, winner["_schema"])
