"""Datasets and jobs that documents repeat are read once; those that differ in anything, by themselves."""

from __future__ import annotations

import json

from headwater_openlineage.decoding import decode
from headwater_openlineage.incoming import events_of
from headwater_openlineage.intake.receiving import Received, receive
from headwater_openlineage.parts import in_parts
from headwater_schemas.events import LineageEvent
from support.openlineage import run_data, run_id


def described(number: int, type_: str = "int") -> list[LineageEvent]:
    """Events of a run that reads and writes a table, with the same facets each time."""
    schema = {"_producer": "p", "_schemaURL": "s", "fields": [{"name": "a", "type": type_}, {"name": "b"}]}
    sources = {"inputFields": [{"namespace": "n", "name": "t", "field": "a"}]}
    lineage = {"_producer": "p", "_schemaURL": "s", "fields": {"a": sources, "b": sources}}
    document = json.loads(run_data(number))
    document["job"] = {"namespace": "shop", "name": "totals"}
    document["eventTime"] = f"2026-01-01T00:00:{number:02}Z"
    document["inputs"] = [{"namespace": "n", "name": "t", "facets": {"schema": schema}}]
    facets = {"schema": schema, "columnLineage": lineage, "custom": {"_producer": "p", "_schemaURL": "s", "x": 1}}
    document["outputs"] = [{"namespace": "n", "name": "u", "facets": facets}]
    return events_of(decode(json.dumps(document).encode()), tenant="default")


def test_events_of_another_run_have_the_same_bodies_and_their_own_ids_and_times() -> None:
    first, second = described(1), described(2)
    assert [event.kind for event in first] == ["RUN", "DATASET", "DATASET", "PLAN"]
    for one, other in zip(first[1:], second[1:], strict=True):
        body = one.dataset_event or one.plan_event
        assert body is not None
        assert (other.dataset_event or other.plan_event) is body
        assert other.event_time > one.event_time
        assert other.run is not None
        assert other.run.run_id == run_id(2)
    assert len({event.event_id for event in (*first, *second)}) == 7  # a PLAN's id is that of its content


def test_facets_of_another_dataset_are_its_own() -> None:
    names = ("t", "u", "t")
    facets = '{"schema": {"_producer": "p", "_schemaURL": "s", "fields": [{"name": "a"}]}}'
    text = """{"eventTime": "2026-01-01T00:00:00Z", "producer": "p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        "dataset": {"namespace": "n", "name": "NAME", "facets": FACETS}}""".replace("FACETS", facets)
    bodies = []
    for name in names:
        (event,) = events_of(decode(text.replace("NAME", name).encode()), tenant="default")
        assert event.dataset_event is not None
        bodies.append(event.dataset_event)
    assert [body.dataset.name for body in bodies] == list(names)
    assert bodies[0] is bodies[2]
    assert bodies[0].schema == bodies[1].schema


def test_a_dataset_whose_name_is_redacted_is_read_by_either_name() -> None:
    """Facets are shared by the names that were sent, and `redact` is a setting."""
    text = """{"eventTime": "2026-01-01T00:00:00Z", "producer": "p",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        "dataset": {"namespace": "jdbc://h", "name": "d?password=hunter2", "facets": {"x": {"_producer": "p"}}}}"""
    assert in_parts(text.encode()) is not None
    for redacting, name in ((False, "d?password=hunter2"), (True, "d?password=[redacted]")) * 2:
        received = receive(text.encode(), tenant="default", redacting=redacting)
        assert isinstance(received, Received)
        body = received.events[0].dataset_event
        assert body is not None
        assert body.dataset.name == name
