"""Avro schemas with their fingerprints; this distribution has the released schemas in `avro/`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from fastavro import parse_schema
from fastavro.schema import SchemaParseException, UnknownType, fingerprint, to_parsing_canonical_form

FINGERPRINT_BYTES = 8
_FILE = re.compile(r"lineage_event-(\d+)\.avsc")


@dataclass(frozen=True, slots=True, eq=False)
class AvroSchema:
    """A schema of the event record.

    Attributes:
        text: JSON text of the schema.
        fingerprint: CRC-64-AVRO of the schema's parsing canonical form: 8 bytes, little-endian, as in the header of
            Avro's single-object encoding. The canonical form leaves out docs, defaults and logical types.
        parsed: parsed schema, for fastavro.
        version: number in the name of the schema's file in `avro/`; 0 for a schema from elsewhere.
    """

    text: str
    fingerprint: bytes
    parsed: Any
    version: int = 0

    @classmethod
    def from_json(cls, text: str, *, version: int = 0) -> AvroSchema:
        """Parse a schema.

        Raises:
            ValueError: `text` isn't JSON, or isn't an Avro schema.
        """
        try:
            raw = json.loads(text)
            digest = fingerprint(to_parsing_canonical_form(raw), "CRC-64-AVRO")
            parsed = parse_schema(raw)
        except (SchemaParseException, UnknownType, AttributeError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"not an Avro schema: {type(error).__name__}") from error
        # fastavro gives the little-endian bytes in hex already.
        return cls(text, bytes.fromhex(digest), parsed, version)

    @classmethod
    def published(cls, text: str) -> AvroSchema:
        """Parse a schema from an untrusted publisher.

        The schema must describe the event record. Each value in the record must be finite and take at least one byte,
        so that decoding takes at most as many steps as the record has bytes. For example, an array of `null` isn't
        allowed: 20 bytes could encode 2^60 items.

        Raises:
            ValueError: `text` isn't a schema that fulfils these conditions.
        """
        schema = cls.from_json(text)
        name = schema.parsed.get("name") if isinstance(schema.parsed, dict) else None
        if name != current_schema().parsed["name"]:
            raise ValueError("not a schema of the event record")
        try:
            _check_bounded(schema.parsed, ())
        except RecursionError as error:
            raise ValueError("nested too deeply") from error
        return schema

    @property
    def hex(self) -> str:
        """The fingerprint's 8 bytes in hex: the key on the schemas topic."""
        return self.fingerprint.hex()


def _check_bounded(schema: Any, within: tuple[str, ...], *, of_union: bool = False) -> None:
    """Check that each value of a parsed type is finite and takes at least one byte.

    Args:
        schema: schema of the type, as fastavro parses it.
        within: names of the records that contain the type.
        of_union: True for a branch of a union: the union's own index takes a byte.

    Raises:
        ValueError: a value could take 0 bytes, or be endless.
    """
    kind = schema.get("type") if isinstance(schema, dict) else schema
    if kind in ("record", "error"):
        within = (*within, schema["name"])
        parts = [field["type"] for field in schema["fields"]]
    elif isinstance(kind, list):
        parts = kind
    elif isinstance(kind, dict):
        parts = [kind]
    else:
        parts = [schema[name] for name in ("items", "values") if kind in ("array", "map") and name in schema]
        if isinstance(kind, str) and kind in within:
            raise ValueError(f"{kind} contains itself")
    is_empty = kind == "null" or (kind == "fixed" and not schema["size"]) or (kind == "record" and not parts)
    if is_empty and not of_union:
        raise ValueError(f"a value of type {kind} takes no byte")
    for part in parts:
        _check_bounded(part, within, of_union=isinstance(kind, list))


@cache
def released_schemas() -> tuple[AvroSchema, ...]:
    """Return every schema in `avro/`, oldest first. White space, most of each file, is removed from the texts."""
    found = [
        AvroSchema.from_json(_compact(file.read_text("utf-8")), version=int(name[1]))
        for file in resources.files("headwater_schemas").joinpath("avro").iterdir()
        if (name := _FILE.fullmatch(file.name))
    ]
    return tuple(sorted(found, key=lambda schema: schema.version))


def _compact(text: str) -> str:
    return json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))


def current_schema() -> AvroSchema:
    """Return the newest released schema: events are encoded with it, and events of other schemas converted to it."""
    return released_schemas()[-1]
