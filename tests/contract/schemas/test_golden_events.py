"""Golden events: the same event gives the same id, key and bytes in every version, on every machine."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING

import msgspec
from fastavro import schemaless_writer

from headwater_schemas import identity
from headwater_schemas.avro_schema import current_schema, released_schemas
from headwater_schemas.codec import SINGLE_OBJECT_MAGIC, Decoder, encode
from support.events import FULL_EVENTS
from support.goldens import FOLDER, document, event_of, files, value_of

if TYPE_CHECKING:
    import pytest

ALL = [(schema, file) for schema in released_schemas() for file in files(schema.version).values()]

# SHA-256 of all of a version's bytes, in the order of their kinds' names. A line is added with a version, never edited.
FROZEN = {
    1: "93ae92e7da56fad459b600756778112bb22e28fd5041014a705eab94a717616d",
}


def test_every_version_has_one_for_every_kind_and_no_other() -> None:
    assert set(FOLDER.rglob("*.json")) == {file for _, file in ALL}


def test_what_is_on_a_topic_stays_as_it_is(subtests: pytest.Subtests) -> None:
    for version, digest in FROZEN.items():
        with subtests.test(version=version):
            contents = [value_of(json.loads(file.read_text("utf-8"))) for _, file in sorted(files(version).items())]
            assert hashlib.sha256(b"".join(contents)).hexdigest() == digest, "never edit: add a version of the contract"


def test_every_version_is_frozen() -> None:
    assert list(FROZEN) == [schema.version for schema in released_schemas()]


def test_the_bytes_read_as_the_event_and_the_event_writes_as_the_bytes(subtests: pytest.Subtests) -> None:
    for schema, file in ALL:
        with subtests.test(version=schema.version, kind=file.stem):
            content = json.loads(file.read_text("utf-8"))
            event, value = event_of(content), value_of(content)
            assert Decoder().decode(value) == event
            out = BytesIO()
            datum = msgspec.to_builtins(event, builtin_types=(datetime,))
            schemaless_writer(out, schema.parsed, datum, disable_tuple_notation=True)
            assert SINGLE_OBJECT_MAGIC + schema.fingerprint + out.getvalue() == value
            assert identity.event_id(event) == event.event_id
            assert identity.record_key(event).decode() == content["record_key"]


def test_the_current_version_is_what_is_written_today(subtests: pytest.Subtests) -> None:
    for name, full_event in FULL_EVENTS.items():
        with subtests.test(name=name):
            content = json.loads(files(current_schema().version)[name].read_text("utf-8"))
            assert encode(event_of(content)) == value_of(content)
            assert document(full_event()) == content, (
                "a new field belongs to a new version: PYTHONPATH=tests uv run python -m support.goldens --add"
            )
