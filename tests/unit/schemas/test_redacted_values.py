from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from headwater_schemas.events import (
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    JobRef,
    ParentRun,
    RunContext,
    RunEvent,
    RunEventType,
    RunRef,
    SchemaDefinition,
    SchemaField,
    Tag,
)
from headwater_schemas.events.build import lineage_event
from headwater_schemas.redacted_values import redacted, redacted_json
from headwater_schemas.redaction import MASK

if TYPE_CHECKING:
    import pytest

SECRET = "hunter2-S3cr3t"


def test_a_member_goes_by_its_name_and_a_text_by_what_it_holds(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, Any]] = [
        ({"spring.datasource.password": SECRET}, {"spring.datasource.password": MASK}),
        ({"name": "DB_PASSWORD", "value": SECRET}, {"name": "DB_PASSWORD", "value": MASK}),
        ({"key": "api_token", "value": SECRET}, {"key": "api_token", "value": MASK}),
        ({"uri": f"jdbc:x://h/d?user=a&password={SECRET}"}, {"uri": f"jdbc:x://h/d?user=a&password={MASK}"}),
        (["--password", SECRET, "--x", "y"], ["--password", MASK, "--x", "y"]),
        ({"tokens": [SECRET, "b"]}, {"tokens": [MASK, MASK]}),
        ({"credentials": {"user": SECRET, "n": 1}}, {"credentials": {"user": MASK, "n": 1}}),
        ({"http.Authorization": SECRET, "Cookie": SECRET}, {"http.Authorization": MASK, "Cookie": MASK}),
        ({"kafka.sasl.jaas.config": f"x required {SECRET};"}, {"kafka.sasl.jaas.config": MASK}),
        (
            {"dimensions": {"out?sig": SECRET, "Cookie: a": SECRET}},
            {"dimensions": {"out?sig": MASK, "Cookie: [redacted]": MASK}},
        ),
        ({"password": 12345}, {"password": MASK}),
        ({"token": {"type": "string", "default": SECRET}}, {"token": {"type": MASK, "default": MASK}}),
        ({f"password={SECRET}": {"x": 1}}, {f"password={MASK}": {"x": 1}}),
        ({"a": [{"sql": f"SELECT 'password=''{SECRET}'''"}]}, {"a": [{"sql": f"SELECT 'password={MASK}'"}]}),
    ]
    for value, left in cases:
        with subtests.test(value=value):
            found, changed = redacted_json(value)
            assert found == left
            assert changed
            assert redacted_json(found) == (left, 0)


def test_facts_about_a_column_that_is_called_password_stay(subtests: pytest.Subtests) -> None:
    cases: list[Any] = [
        {"fields": [{"name": "password", "type": "string", "description": "its hash"}]},
        {"fields": {"password": {"inputFields": [{"field": "token"}], "transformationType": "MASKED"}}},
        {"fields": [{"name": "a", "type": "struct<token:string,b:int>"}]},
        {"properties": {"token": {"type": "string", "description": "of a session"}}, "api_key_id": "a", "n_tokens": 3},
        {"columnMetrics": {"token": {"nullCount": 3}}},
        {"secret": {"_producer": "https://h/p", "_schemaURL": "https://h/s"}, "password": None, "token": "none"},
        {"tokenUsage": 5, "passed": True, "primaryKey": "id", "tags": [{"key": "pii", "value": "token"}]},
    ]
    for value in cases:
        with subtests.test(value=value):
            found, changed = redacted_json(value)
            assert found is value
            assert changed == 0


def test_an_event_is_made_without_credentials() -> None:
    key = f"password={SECRET}"
    event = lineage_event(
        RunEvent(
            type=RunEventType.START,
            outputs=(DatasetUse(dataset=DatasetRef(f"file://bob:{SECRET}@h", f"/data/out?sig={SECRET}")),),
            parent=ParentRun("a", JobRef("n", key)),
            context=RunContext(statement=f"OPTIONS ('my.password' '{SECRET}')", campaign=key),
            checkpoint_location=f"s3a://K:{SECRET}@lake/cp",
            run_facets={"spark_properties": json.dumps({"properties": {"fs.s3a.secret.key": SECRET, "a": "b"}})},
        ),
        job=JobRef(key, key),
        run=RunRef("r"),
        producer="urn:x",
        event_time=datetime(2024, 1, 1, tzinfo=UTC),
    )
    assert SECRET not in repr(event)
    assert event.run_event is not None
    facet = json.loads(event.run_event.run_facets["spark_properties"])
    assert facet == {"properties": {"fs.s3a.secret.key": MASK, "a": "b"}}


def test_tags_and_names_of_columns_are_redacted() -> None:
    token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    body = DatasetEvent(
        dataset=DatasetRef("n", "d"),
        schema=SchemaDefinition((SchemaField(path=token, type="string"),)),
        tags=(Tag(key="password", value=SECRET), Tag(key=token, value=token, field=token)),
    )
    found = redacted(body)
    assert SECRET not in repr(found)
    assert token not in repr(found)


def test_a_value_without_a_secret_is_the_same_object() -> None:
    body = DatasetEvent(
        dataset=DatasetRef("file", "/data/flights"),
        schema=SchemaDefinition((SchemaField(path="password", type="string"),)),
        facets={"x": '{"fields":{"a":1}}'},
    )
    assert redacted(body) is body
