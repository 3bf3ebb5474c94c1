"""A released schema never changes, and no two are told apart by chance alone."""

from __future__ import annotations

import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastavro.schema import fingerprint

from headwater_producers.spark.common.settings import CaptureSettings
from headwater_schemas.avro_schema import AvroSchema, current_schema, released_schemas

if TYPE_CHECKING:
    import pytest

# One line for each release, added with it and never edited: file name to SHA-256 of its bytes and fingerprint.
RELEASED = json.loads((Path(__file__).parent / "released.json").read_text("utf-8"))
SHIPPED = {file.name: file for file in resources.files("headwater_schemas").joinpath("avro").iterdir()}


def test_every_shipped_file_is_a_recorded_release_and_every_release_is_shipped() -> None:
    assert set(SHIPPED) == set(RELEASED), "a new schema version gets its line in released.json"


def test_a_released_file_has_not_changed(subtests: pytest.Subtests) -> None:
    for name, released in RELEASED.items():
        with subtests.test(name=name):
            content = SHIPPED[name].read_bytes()
            changed = f"{name} was released: leave it, and add the next version beside it"
            assert hashlib.sha256(content).hexdigest() == released["sha256"], changed
            assert AvroSchema.from_json(content.decode()).hex == released["fingerprint"]


def test_fingerprints_are_unique() -> None:
    fingerprints = [schema.fingerprint for schema in released_schemas()]
    assert len(set(fingerprints)) == len(fingerprints)


def test_versions_count_up_from_one_and_the_last_is_current() -> None:
    versions = [schema.version for schema in released_schemas()]
    assert versions == list(range(1, len(versions) + 1))
    assert current_schema().version == versions[-1]


def test_fingerprints_are_the_specifications_crc_64(subtests: pytest.Subtests) -> None:
    for canonical in ['"null"', '"int"', '{"name":"a.B","type":"record","fields":[]}']:
        with subtests.test(canonical=canonical):
            assert bytes.fromhex(fingerprint(canonical, "CRC-64-AVRO")) == crc_64_avro(canonical.encode())


def crc_64_avro(data: bytes) -> bytes:
    """The specification's algorithm, without a table; little-endian, as single-object encoding writes it."""
    empty = 0xC15D213AA4D7A795
    crc = empty
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (empty & -(crc & 1))
    return crc.to_bytes(8, "little")


def test_every_enum_has_the_default_unknown_as_its_first_symbol() -> None:
    for enum in enums(json.loads(current_schema().text)):
        assert enum["default"] == enum["symbols"][0] == "UNKNOWN", enum["name"]


def test_the_schema_fits_into_the_smallest_topic_that_settings_allow() -> None:
    [least] = (
        each.ge for each in CaptureSettings.model_fields["topic_max_message_bytes"].metadata if hasattr(each, "ge")
    )
    # Beside it a record has its key, and Kafka's own fields.
    assert len(current_schema().text.encode()) < least - 1_024


def enums(schema: object) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [found for part in schema for found in enums(part)]
    if not isinstance(schema, dict):
        return []
    if schema.get("type") == "enum":
        return [schema]
    return [found for key in ("type", "fields", "items", "values") for found in enums(schema.get(key))]
