"""Events as people write them: what is filled in, what is kept and not read, and what stays refused."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from headwater_openlineage.intake.receiving import Received, Refusal, receive
from headwater_openlineage.lenient import NOTES_FACET, UNKNOWN_PRODUCER
from headwater_schemas.events import DatasetRef, LineageEvent, RunEvent
from headwater_schemas.identity import run_id_of

if TYPE_CHECKING:
    import pytest

RUN_ID = "0190aaaa-0000-7000-8000-000000002501"
PLAIN: dict[str, Any] = {
    "eventType": "COMPLETE",
    "eventTime": "2025-07-01T10:00:01Z",
    "producer": "https://example.org/producer",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {"runId": RUN_ID},
    "job": {"namespace": "c25", "name": "j"},
    "inputs": [{"namespace": "s3://c25", "name": "i"}],
    "outputs": [{"namespace": "s3://c25", "name": "o"}],
}


def taken(**changes: Any) -> Received | Refusal:
    document = {name: value for name, value in {**copy.deepcopy(PLAIN), **changes}.items() if value is not ...}
    return receive(json.dumps(document).encode(), tenant="acme")


def run_of(received: Received | Refusal) -> tuple[LineageEvent, RunEvent]:
    assert isinstance(received, Received), received
    event = received.events[0]
    assert event.run_event is not None
    return event, event.run_event


def output(name: str, facet: Any) -> list[dict[str, Any]]:
    return [{"namespace": "s3://c25", "name": "o", "facets": {name: facet}}]


OLD_LINEAGE = {
    "fields": {
        "b": {
            "inputFields": [{"namespace": "s3://c25", "name": "i", "field": "a"}],
            "transformationType": "IDENTITY",
            "transformationDescription": "as it is",
        }
    }
}

TAKEN: list[tuple[str, dict[str, Any], list[str]]] = [
    # what it is, what differs, pointers of the notes
    ("to the letter", {}, []),
    ("no schemaURL", {"schemaURL": ...}, ["/schemaURL"]),
    ("an old schemaURL", {"schemaURL": "https://openlineage.io/spec/0-0-1/OpenLineage.json"}, ["/schemaURL"]),
    ("a schemaURL of 1-0-1", {"schemaURL": PLAIN["schemaURL"].replace("2-0-2", "1-0-1")}, []),
    ("no producer", {"producer": ...}, ["/producer"]),
    ("neither", {"producer": ..., "schemaURL": ...}, ["/schemaURL", "/producer"]),
    ("a run id that is no UUID", {"run": {"runId": "run-20260704-0200-case-normalizer"}}, ["/run/runId"]),
    ("a run id that is a number", {"run": {"runId": 17}}, ["/run/runId"]),
    ("an event type in lower case", {"eventType": "complete"}, ["/eventType"]),
    ("a time without an offset", {"eventTime": "2025-07-01T10:00:01"}, ["/eventTime"]),
    ("facets without _producer", {"outputs": output("schema", {"fields": [{"name": "a", "type": "string"}]})}, []),
    ("transformationType on the field", {"outputs": output("columnLineage", OLD_LINEAGE)}, []),
    (
        "a schema that is a list",
        {"outputs": output("schema", [{"name": "a"}])},
        ["/outputs/0/facets/schema"],
    ),
    (
        "a column lineage of another shape",
        {"outputs": output("columnLineage", {"fields": [{"b": "a"}]})},
        ["/outputs/0/facets/columnLineage/fields"],
    ),
    (
        "a parent without job",
        {"run": {"runId": RUN_ID, "facets": {"parent": {"run": {"runId": RUN_ID[:-1] + "9"}}}}},
        ["/run/facets/parent/job"],
    ),
    (
        "a nominal time without an offset",
        {"run": {"runId": RUN_ID, "facets": {"nominalTime": {"nominalStartTime": "2025-07-01T10:00:00"}}}},
        ["/run/facets/nominalTime/nominalStartTime"],
    ),
    (
        "an owner as a text",
        {"job": {**PLAIN["job"], "facets": {"ownership": {"owners": ["o"]}}}},
        ["/job/facets/ownership/owners/0"],
    ),
]  # fmt: skip


def test_it_is_taken_with_notes(subtests: pytest.Subtests) -> None:
    for name, changes, pointers in TAKEN:
        with subtests.test(name):
            received = taken(**changes)
            event, body = run_of(received)
            assert isinstance(received, Received)
            assert [note.pointer for note in received.notes] == pointers
            assert [use.dataset.name for use in (*body.inputs, *body.outputs)] == ["i", "o"]
            assert event.event_time.isoformat() == "2025-07-01T10:00:01+00:00"
            noted = json.loads(body.run_facets[NOTES_FACET])["notes"] if pointers else []
            assert [each["pointer"] for each in noted] == pointers
            if pointers:
                document = {**PLAIN, **changes}
                data = json.dumps({key: value for key, value in document.items() if value is not ...}).encode()
                refused = receive(data, tenant="acme", strict=True)
                assert isinstance(refused, Refusal)
                assert refused.pointer == pointers[0]


def test_what_was_given_is_kept() -> None:
    event, body = run_of(taken(run={"runId": "run-17"}, producer=...))
    assert event.run is not None
    assert event.run.run_id == run_id_of("run-17") == "27a1f444-05d1-576d-944b-152ab79339a8"
    assert json.loads(body.run_facets[NOTES_FACET])["given"] == {"/run/runId": "run-17"}
    assert event.producer == UNKNOWN_PRODUCER
    above = {"run": {"runId": "run-17"}, "job": {"namespace": "c25", "name": "above"}}
    _, child = run_of(taken(run={"runId": RUN_ID, "facets": {"parent": above}}))
    assert child.parent is not None
    assert child.parent.run_id == run_id_of("run-17")


def test_a_facet_of_another_shape_is_kept_word_for_word_and_states_nothing() -> None:
    facet = {"fields": {"a": "string"}}
    received = taken(outputs=output("schema", facet), inputs=[])
    assert isinstance(received, Received)
    (dataset,) = [event.dataset_event for event in received.events if event.dataset_event is not None]
    assert dataset.schema is None
    assert json.loads(dataset.facets["schema"]) == facet


def test_the_root_of_a_bucket_is_a_dataset(subtests: pytest.Subtests) -> None:
    for namespace, wanted in [
        ("s3://c25root", "s3://c25root"),
        ("hdfs://nn:8020/", "hdfs://nn:8020"),
        ("dbfs:", "dbfs"),
    ]:
        with subtests.test(namespace):
            _, body = run_of(taken(outputs=[{"namespace": namespace, "name": ""}]))
            assert [use.dataset for use in body.outputs] == [DatasetRef(wanted, "/")]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"outputs": [{"namespace": "postgres://db", "name": ""}]}, "/outputs/0/name"),
    ({"schemaURL": PLAIN["schemaURL"].replace("2-0-2", "3-0-0")}, "/schemaURL"),
    ({"schemaURL": PLAIN["schemaURL"].replace("RunEvent", "JobEvent")}, "/schemaURL"),
    ({"producer": 3}, "/producer"),
    ({"eventTime": "yesterday"}, "/eventTime"),
    ({"eventTime": "2025-02-30T10:00:01"}, "/eventTime"),
    ({"eventType": "FINISHED"}, "/eventType"),
    ({"eventType": "finished"}, "/eventType"),
    ({"run": {}}, "/run/runId"),
    ({"run": {"runId": True}}, "/run/runId"),
    ({"run": {"runId": RUN_ID, "facets": []}}, "/run/facets"),
    ({"job": ...}, "/job"),
    ({"schemaURL": ..., "run": ..., "job": ...}, "/run"),
]


def test_what_cannot_be_repaired_is_refused(subtests: pytest.Subtests) -> None:
    for changes, pointer in REFUSED:
        with subtests.test(changes=changes):
            received = taken(**changes)
            assert isinstance(received, Refusal), received
            assert received.pointer == pointer


def test_a_document_with_very_many_faults_is_refused() -> None:
    outputs = [{"namespace": "s3://c25", "name": f"o{index}", "facets": {"schema": 1}} for index in range(51)]
    assert isinstance(taken(outputs=outputs[:50]), Received)
    assert isinstance(taken(outputs=outputs), Refusal)
