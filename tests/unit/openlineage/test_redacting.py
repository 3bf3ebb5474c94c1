"""Documents with credentials: stored without them, marked, and as they come where the setting says so."""

from __future__ import annotations

import json
from typing import Any

from headwater_openlineage.intake.receiving import Received, Refusal, receive, redacted_bytes
from headwater_openlineage.origin import document_of
from headwater_openlineage.redacting import REDACTED_FACET
from headwater_schemas.events import LineageEvent
from headwater_schemas.redaction import MASK
from support.openlineage import run_data, run_event

SECRET = "hunter2-S3cr3t"
URI = f"jdbc:postgresql://h/db?user=a&password={SECRET}"
SHOWN = f"jdbc:postgresql://h/db?user=a&password={MASK}"


def planted() -> dict[str, Any]:
    run = run_event(1)
    run["run"]["facets"] = {
        "environmentVariables": {"environmentVariables": [{"name": "DB_PASSWORD", "value": SECRET}]},
        "spark_properties": {"properties": {"spark.hadoop.fs.s3a.secret.key": SECRET, "spark.app.name": "etl"}},
        "errorMessage": {"message": f"refused token={SECRET}", "programmingLanguage": "JAVA"},
    }
    run["job"]["facets"] = {"sql": {"query": f"SELECT 'password=''{SECRET}''' AS a"}}
    source = {"namespace": "postgres://h:5432", "name": "db.t", "facets": {"dataSource": {"name": "db", "uri": URI}}}
    run["inputs"] = [source]
    return run


def taken(document: dict[str, Any], **how: Any) -> Received:
    received = receive(json.dumps(document).encode(), tenant="acme", **how)
    assert isinstance(received, Received), received
    return received


def run_facets(events: list[LineageEvent]) -> dict[str, Any]:
    assert events[0].run_event is not None
    return {name: json.loads(facet) for name, facet in events[0].run_event.run_facets.items()}


def test_a_document_is_stored_without_credentials_and_says_so() -> None:
    received = taken(planted())
    assert SECRET not in repr(received)
    facets = run_facets(received.events)
    assert facets["spark_properties"]["properties"] == {
        "spark.hadoop.fs.s3a.secret.key": MASK,
        "spark.app.name": "etl",
    }
    assert facets[REDACTED_FACET]["values"] == 5
    assert [note.pointer for note in received.notes] == [f"/run/facets/{REDACTED_FACET}"]
    document = document_of(received.events[0])
    assert document is not None
    assert document["job"]["facets"]["sql"]["query"] == f"SELECT 'password={MASK}' AS a"
    assert SHOWN in repr(received)


def test_the_setting_stores_documents_as_they_come() -> None:
    received = taken(planted(), redacting=False)
    assert received.notes == ()
    assert document_of(received.events[0]) == planted()


def test_a_document_without_credentials_is_not_changed() -> None:
    received = taken(run_event(1))
    assert received.notes == ()
    assert document_of(received.events[0]) == run_event(1)


def test_a_shared_part_with_a_credential_is_redacted_each_time() -> None:
    for _ in range(3):
        assert SECRET not in repr(taken(planted()))


def test_what_is_filled_in_and_what_is_refused_has_none() -> None:
    document = planted()
    document["run"]["runId"] = f"password={SECRET}"
    received = taken(document)
    assert SECRET not in repr(received)
    assert len(received.notes) == 2
    refusal = receive(json.dumps({**planted(), "job": f"password={SECRET}"}).encode(), tenant="acme")
    assert isinstance(refusal, Refusal)
    assert SECRET not in repr(refusal)


def test_a_dead_letter_has_none_and_is_otherwise_byte_for_byte() -> None:
    for data in (
        json.dumps({**planted(), "run": {"runId": 3}}).encode(),
        f"not json, password={SECRET} x".encode(),
        f"not utf-8 \xe4, password={SECRET} x".encode("latin-1"),
    ):
        assert SECRET.encode() not in redacted_bytes(data)
    for data in (b"nonsense", run_data(run={}), b"\xff\x00\x01", b'{"a":  1}'):
        assert redacted_bytes(data) == data
