"""Any version reads any other (FULL_TRANSITIVE), by real resolution of real bytes: today's, and a made-up next one.

The next one is made up here of everything that a new version may do: a kind with a body of its own, a new symbol, a new
sort of position, new fields with defaults in old records.
"""

from __future__ import annotations

import json
from datetime import datetime
from io import BytesIO
from itertools import product
from typing import Any

import msgspec
import pytest
from fastavro import schemaless_reader, schemaless_writer

from headwater_schemas.avro_schema import AvroSchema, current_schema, released_schemas
from headwater_schemas.codec import SINGLE_OBJECT_MAGIC, Decoder
from headwater_schemas.errors import IncompatibleSchemaError, UnknownKindError, UnknownSchemaError
from headwater_schemas.events import Certainty, LifecycleChange, LineageEvent, Position, RunEventType
from support.events import FULL_EVENTS


def record(schema: Any, name: str) -> dict[str, Any]:
    """The definition of a named type somewhere in a schema."""
    if isinstance(schema, list):
        return next((found for part in schema if (found := record(part, name))), {})
    if not isinstance(schema, dict):
        return {}
    if schema.get("name") == name and "type" in schema and not isinstance(schema["type"], dict | list):
        return schema
    parts = (record(schema.get(key), name) for key in ("type", "fields", "items", "values"))
    return next((found for found in parts if found), {})


def nullable(name: str, kind: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", kind], "default": None}


def next_schema() -> AvroSchema:
    schema = json.loads(current_schema().text)
    for enum in ("RunEventType", "Certainty", "LifecycleChange"):
        record(schema, enum)["symbols"].append("NEWER")
    page = {"type": "record", "name": "PagePosition", "fields": [{"name": "page", "type": "long"}]}
    record(schema, "Position")["fields"].append(nullable("page", page))
    record(schema, "DatasetUse")["fields"].insert(1, {"name": "sampled", "type": "boolean", "default": False})
    consumer = {
        "type": "record",
        "name": "ConsumerEvent",
        "fields": [{"name": "dataset", "type": "DatasetRef"}, nullable("purpose", "string")],
    }
    schema["fields"].append(nullable("consumer_event", consumer))
    return AvroSchema.from_json(json.dumps(schema), version=current_schema().version + 1)


NEXT = next_schema()
VERSIONS = [*released_schemas(), NEXT]


def datum_of(event: LineageEvent) -> dict[str, Any]:
    datum: dict[str, Any] = msgspec.to_builtins(event, builtin_types=(datetime,))
    return datum


def written(datum: dict[str, Any], schema: AvroSchema) -> bytes:
    out = BytesIO()
    schemaless_writer(out, schema.parsed, datum, disable_tuple_notation=True)
    return out.getvalue()


def value(datum: dict[str, Any], schema: AvroSchema) -> bytes:
    return SINGLE_OBJECT_MAGIC + schema.fingerprint + written(datum, schema)


class Published:
    """A schema source that has the next version too."""

    def find(self, fingerprint: bytes) -> AvroSchema | None:
        return next((schema for schema in VERSIONS if schema.fingerprint == fingerprint), None)


@pytest.fixture
def old_reader() -> Decoder:
    return Decoder(Published())


def test_every_version_reads_every_other(subtests: pytest.Subtests) -> None:
    for reader, writer, (name, event_of) in product(VERSIONS, VERSIONS, FULL_EVENTS.items()):
        with subtests.test(name, writer=writer.version, reader=reader.version):
            event = event_of()
            stream = BytesIO(written(datum_of(event), writer))
            read = schemaless_reader(stream, writer.parsed, reader.parsed)
            assert stream.read() == b""
            assert msgspec.convert(read, LineageEvent) == event


def test_this_version_reads_events_of_the_next(subtests: pytest.Subtests, old_reader: Decoder) -> None:
    for name, event_of in FULL_EVENTS.items():
        with subtests.test(name=name):
            event = event_of()
            assert old_reader.decode(value(datum_of(event), NEXT)) == event


def test_a_kind_of_the_next_version_is_an_unknown_kind_that_says_which(old_reader: Decoder) -> None:
    datum = datum_of(FULL_EVENTS["job"]()) | {"kind": "CONSUMER", "job_event": None}
    datum["consumer_event"] = {"dataset": {"namespace": "n", "name": "d"}, "purpose": None}
    with pytest.raises(UnknownKindError) as caught:
        old_reader.decode(value(datum, NEXT))
    assert caught.value.kind == "CONSUMER"
    assert caught.value.event_id == datum["event_id"]


def test_a_symbol_of_the_next_version_is_read_as_unknown(old_reader: Decoder) -> None:
    datum = datum_of(FULL_EVENTS["run"]())
    datum["run_event"]["type"] = "NEWER"
    datum["run_event"]["inputs"][0]["certainty"] = "NEWER"
    run = old_reader.decode(value(datum, NEXT)).run_event
    assert run is not None
    assert run.type is RunEventType.UNKNOWN
    assert run.inputs[0].certainty is Certainty.UNKNOWN


def test_a_symbol_of_the_next_version_in_a_nullable_field_is_read_as_unknown(old_reader: Decoder) -> None:
    datum = datum_of(FULL_EVENTS["dataset"]())
    datum["dataset_event"]["lifecycle"] = "NEWER"
    dataset = old_reader.decode(value(datum, NEXT)).dataset_event
    assert dataset is not None
    assert dataset.lifecycle is LifecycleChange.UNKNOWN


def test_a_sort_of_position_of_the_next_version_is_read_as_an_empty_position(old_reader: Decoder) -> None:
    datum = datum_of(FULL_EVENTS["run"]())
    datum["run_event"]["inputs"][0]["position"] = {"page": {"page": 3}}
    run = old_reader.decode(value(datum, NEXT)).run_event
    assert run is not None
    assert run.inputs[0].position == Position()


def test_the_next_version_is_an_unknown_schema_until_it_is_published() -> None:
    with pytest.raises(UnknownSchemaError, match=NEXT.hex):
        Decoder().decode(value(datum_of(FULL_EVENTS["job"]()), NEXT))


def without(field: str) -> AvroSchema:
    schema = json.loads(current_schema().text)
    schema["fields"] = [found for found in schema["fields"] if found["name"] != field]
    return AvroSchema.from_json(json.dumps(schema))


class Only:
    """A schema source that answers with one schema."""

    def __init__(self, schema: AvroSchema) -> None:
        self.schema = schema

    def find(self, fingerprint: bytes) -> AvroSchema | None:
        return self.schema


def test_a_published_schema_that_is_no_event_is_incompatible(subtests: pytest.Subtests) -> None:
    datum = {**datum_of(FULL_EVENTS["job"]()), "x": 1}
    other = AvroSchema.from_json('{"type":"record","name":"Other","fields":[{"name":"x","type":"long"}]}')
    cases: dict[str, tuple[AvroSchema, Any]] = {
        "a required field is missing": (without("tenant"), datum),
        "another record": (other, datum),
        "no record": (AvroSchema.from_json('"string"'), "text"),
        "a map": (AvroSchema.from_json('{"type":"map","values":"string"}'), {"tenant": "t"}),
    }
    for case, (schema, body) in cases.items():
        with subtests.test(case), pytest.raises(IncompatibleSchemaError):
            Decoder(Only(schema)).decode(value(body, schema))
