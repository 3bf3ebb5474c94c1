"""Encoding of events as bytes, and decoding.

Two wire formats, distinguished by their first byte:

    C3 01 · 8-byte fingerprint · Avro        Avro's single-object encoding; the default, needs no registry
    00 · 4-byte schema id, big-endian · Avro  Confluent's; read and written if there is a schema registry

https://avro.apache.org/docs/1.12.0/specification/#single-object-encoding
https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html#wire-format
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from io import BytesIO
from typing import Any, Protocol

import msgspec
from fastavro import parse_schema, schemaless_reader
from fastavro.read import SchemaResolutionError

from headwater_schemas.avro_schema import FINGERPRINT_BYTES, AvroSchema, current_schema, released_schemas
from headwater_schemas.avro_writer import Write, compiled
from headwater_schemas.errors import (
    EmptyRecordError,
    EncodeError,
    IncompatibleSchemaError,
    InvalidEventError,
    MalformedError,
    NotAnEventError,
    TrailingBytesError,
    TruncatedError,
    UnknownKindError,
    UnknownSchemaError,
)
from headwater_schemas.events import LineageEvent
from headwater_schemas.lru_cache import LruCache
from headwater_schemas.rules import BODY_OF_KIND, first_violation

SINGLE_OBJECT_MAGIC = b"\xc3\x01"
CONFLUENT_MAGIC = b"\x00"
SINGLE_OBJECT_HEADER_BYTES = len(SINGLE_OBJECT_MAGIC) + FINGERPRINT_BYTES
"""Offset of the event's fields in a record in Avro's single-object encoding."""
_CONFLUENT_HEADER_BYTES = 5
_INT64 = range(-(2**63), 2**63)
# msgspec's "… - at `$.run_event.inputs[0].dataset`".
_PATH = re.compile(r" - at `\$\.?(.*)`$")


class SchemaSource(Protocol):
    """Source of writers' schemas by fingerprint."""

    def find(self, fingerprint: bytes) -> AvroSchema | None:
        """Return the schema with this fingerprint of 8 bytes; None if there is no usable one.

        Raises:
            TransientError: the schema can't be looked up now.
        """


class SchemaRegistry(Protocol):
    """Source of writers' schemas by the registry's id."""

    def schema(self, schema_id: int) -> AvroSchema | None:
        """Return the schema with this id; None if it certainly doesn't exist.

        Raises:
            TransientError: the schema can't be looked up now.
        """


class ReleasedSchemas:
    """Store with only the schemas of this distribution."""

    def __init__(self) -> None:
        self._by_fingerprint = {schema.fingerprint: schema for schema in released_schemas()}

    def find(self, fingerprint: bytes) -> AvroSchema | None:
        """Return the released schema with this fingerprint."""
        return self._by_fingerprint.get(fingerprint)


def encode(event: LineageEvent) -> bytes:
    """Encode an event as the value of its record: by the current schema, in single-object encoding.

    Raises:
        EncodeError: the event breaks the contract; the error names the field.
    """
    if event.kind not in BODY_OF_KIND:
        raise EncodeError("not a kind that this version knows", field="kind")
    datum = msgspec.to_builtins(event, builtin_types=(datetime,))
    try:
        # Structs don't check their values. Reading the event back (4 µs) checks them in C, time zones included.
        msgspec.convert(datum, LineageEvent)
    except msgspec.ValidationError as error:
        message, place = _explain(error)
        raise EncodeError(message, field=place) from None
    if broken := first_violation(event):
        raise EncodeError(broken.message, field=broken.field)
    out = bytearray(_single_object_head())
    try:
        _write()(out, datum)
    except (ValueError, OverflowError, TypeError) as error:
        # A value has the right type, but can't be written: search for it.
        place, message = next(_unwritable(datum, ""), ("", f"can't be written as Avro: {type(error).__name__}"))
        raise EncodeError(message, field=place or None) from None
    return bytes(out)


@cache
def _write() -> Write:
    return compiled(current_schema().parsed)


@cache
def _single_object_head() -> bytes:
    return SINGLE_OBJECT_MAGIC + current_schema().fingerprint


def with_registry_id(value: bytes, schema_id: int) -> bytes:
    """Convert the result of `encode` to Confluent's format, with the registry's id of the current schema."""
    return CONFLUENT_MAGIC + schema_id.to_bytes(4, "big") + value[SINGLE_OBJECT_HEADER_BYTES:]


class Decoder:
    """Decoder of events written with any released or published schema.

    Equal bodies of recent records are decoded once: their events share one body.

    Args:
        schemas: schemas by fingerprint; by default the released ones only.
        registry: schemas by id; None: records in Confluent's format are rejected, as UNKNOWN_SCHEMA.
    """

    def __init__(self, schemas: SchemaSource | None = None, registry: SchemaRegistry | None = None) -> None:
        self._schemas = schemas or ReleasedSchemas()
        self._registry = registry
        self._current = current_schema()
        self._recent: LruCache[LineageEvent] = LruCache(_RECENT_BYTES)

    def decode(self, value: bytes | None) -> LineageEvent:
        """Decode the event in a record's value.

        Raises:
            DecodeError: the record can never be decoded by this version; the subclass is the reason.
            TransientError: the record's schema can't be looked up now; try again.
        """
        if not _repeats(value):
            return self._checked(self.datum(value))
        head, rest = _head(value)
        same_body = self._recent.get(rest)
        if same_body is None:
            event = self._checked(self.datum(value))
            if head is not None and event.kind in _REPEATED:
                self._recent.put(rest, event, len(rest))
            return event
        return _with_head(same_body, head) or self._checked(self.datum(value))

    def datum(self, value: bytes | None) -> Any:
        """Decode a record's value to a dict by the current schema's names, without checking it as an event.

        Raises:
            DecodeError: the schema of the bytes is unknown, or the bytes don't follow the schema.
            TransientError: the schema can't be looked up now; try again.
        """
        if not value:
            raise EmptyRecordError("the record has no value")
        if value[:2] == SINGLE_OBJECT_MAGIC:
            schema, start = self._by_fingerprint(value), SINGLE_OBJECT_HEADER_BYTES
        elif value[:1] == CONFLUENT_MAGIC:
            schema, start = self._by_id(value), _CONFLUENT_HEADER_BYTES
        else:
            raise NotAnEventError(f"begins with {value[:2].hex(' ')}, which is neither C3 01 nor 00")
        return self._datum(value, start, schema)

    def _by_fingerprint(self, value: bytes) -> AvroSchema:
        fingerprint = value[2:SINGLE_OBJECT_HEADER_BYTES]
        if len(fingerprint) < FINGERPRINT_BYTES:
            raise TruncatedError("ends inside the schema fingerprint")
        schema = self._schemas.find(fingerprint)
        if schema is None:
            raise UnknownSchemaError(f"no schema has the fingerprint {fingerprint.hex()}")
        return schema

    def _by_id(self, value: bytes) -> AvroSchema:
        if len(value) < _CONFLUENT_HEADER_BYTES:
            raise TruncatedError("ends inside the registry's schema id")
        schema_id = int.from_bytes(value[1:_CONFLUENT_HEADER_BYTES], "big")
        if self._registry is None:
            raise UnknownSchemaError(f"written with schema id {schema_id} of a registry, but no registry is configured")
        schema = self._registry.schema(schema_id)
        if schema is None:
            raise UnknownSchemaError(f"the registry has no Avro schema with the id {schema_id}")
        return schema

    def _datum(self, value: bytes, start: int, schema: AvroSchema) -> Any:
        stream = BytesIO(value)
        stream.seek(start)
        # Without a reader's schema fastavro takes its fast path; schema resolution costs several times as much.
        reader = None if schema.fingerprint == self._current.fingerprint else self._current.parsed
        try:
            datum = schemaless_reader(stream, schema.parsed, reader)
        except SchemaResolutionError as error:
            raise IncompatibleSchemaError(f"schema {schema.hex} can't be read as this version's event") from error
        except EOFError:
            raise TruncatedError(f"the {len(value)} bytes end inside a field") from None
        except Exception as error:  # noqa: BLE001 - a hostile schema or value can make fastavro raise anything
            # fastavro expects another byte of a number at the end of the data.
            if isinstance(error, IndexError) and stream.tell() >= len(value):
                raise TruncatedError(f"the {len(value)} bytes end inside a field") from None
            raise _malformed(error) from None
        if left := len(value) - stream.tell():
            raise TrailingBytesError(f"{left} of {len(value)} bytes are left over behind the event")
        return datum

    @staticmethod
    def _checked(datum: Any) -> LineageEvent:
        if not isinstance(datum, dict):
            raise IncompatibleSchemaError("its schema isn't a record")
        kind = datum.get("kind")
        if kind is not None and kind not in BODY_OF_KIND:
            raise UnknownKindError("of a newer version", field="kind", event_id=datum.get("event_id"), kind=kind)
        try:
            event: LineageEvent = msgspec.convert(datum, LineageEvent)
        except msgspec.ValidationError as error:
            message, field = _explain(error)
            raise InvalidEventError(message, field=field, event_id=datum.get("event_id"), kind=kind) from None
        if broken := first_violation(event):
            raise InvalidEventError(broken.message, field=broken.field, event_id=event.event_id, kind=event.kind)
        return event


_REPEATED = frozenset({"DATASET", "PLAN", "JOB"})
"""Kinds of events that may share a body; bodies of runs and micro-batches are all different."""
_RECENT_BYTES = 2 << 20
"""Maximum bytes of encoded bodies in a decoder's cache; decoded bodies take about ten times as much."""
_HEAD = ("event_id", "event_time", "tenant", "producer", "kind", "job", "run")
"""The fields before the bodies."""
_KIND_OF_REPEATED = re.compile(b"|".join(bytes([len(kind) << 1]) + kind.encode() for kind in sorted(_REPEATED)))
"""Avro encoding of a kind in `_REPEATED`: its length, then its text."""
_KIND_BYTES = 600
"""Length of the prefix in which a kind is searched. If long names push the kind beyond, the record isn't cached."""


def _repeats(value: bytes | None) -> bool:
    """Return True if other records are likely to have the same body."""
    return (
        value is not None
        and value[:SINGLE_OBJECT_HEADER_BYTES] == SINGLE_OBJECT_MAGIC + current_schema().fingerprint
        and _KIND_OF_REPEATED.search(value, 0, _KIND_BYTES) is not None
    )


def _head(value: bytes | None) -> tuple[Any, bytes]:
    """Read the fields before the bodies; return them, and the rest as bytes. None and b"" if they can't be read."""
    stream = BytesIO(value or b"")
    stream.seek(SINGLE_OBJECT_HEADER_BYTES)
    try:
        head = schemaless_reader(stream, _head_schema(), None)
    except Exception:  # noqa: BLE001 - as in `_datum`, which then finds out what is wrong
        return None, b""
    return head, stream.read()


def _with_head(same_body: LineageEvent, head: Any) -> LineageEvent | None:
    """Build the event with this head and the body of `same_body`; None if the head is invalid."""
    if head["kind"] != same_body.kind:
        return None
    try:
        event = msgspec.convert(head, LineageEvent)
    except msgspec.ValidationError:
        return None
    if event.job is None and same_body.dataset_event is None:
        return None
    # The other rules are about the body, which was checked before.
    field = BODY_OF_KIND[same_body.kind]
    return msgspec.structs.replace(event, **{field: getattr(same_body, field), "document": same_body.document})


@cache
def _head_schema() -> Any:
    parsed = current_schema().parsed
    fields = [field for field in parsed["fields"] if field["name"] in _HEAD]
    return parse_schema({"type": "record", "name": "LineageEventHead", "fields": fields})


def _malformed(error: Exception) -> MalformedError:
    """Describe fastavro's error without its message, which holds pieces of the payload."""
    match error:
        case UnicodeDecodeError():
            return MalformedError("a text isn't UTF-8")
        case IndexError():
            return MalformedError("a union branch or enum symbol that the schema doesn't have")
        case OverflowError():
            return MalformedError("a time that no calendar has, or a number too large for its field")
        case _:
            return MalformedError(f"doesn't follow its schema: {type(error).__name__}")


def _explain(error: msgspec.ValidationError) -> tuple[str, str | None]:
    """Return msgspec's message without its path and without any value, and the path in this package's form."""
    text = str(error)
    path = found[1] if (found := _PATH.search(text)) else ""
    message = _PATH.sub("", text)
    if missing := re.fullmatch(r"Object missing required field `(.*)`", message):
        return "missing", f"{path}.{missing[1]}" if path else missing[1]
    if message.startswith("Invalid enum value"):
        message = "not one of the enum's symbols"
    return message, path or None


def _unwritable(datum: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the paths of values in `datum` that Avro can't write although their type is right, with the reasons."""
    match datum:
        case dict():
            for name, value in datum.items():
                yield from _unwritable(name, f"{path} (a key)")
                yield from _unwritable(value, f"{path}.{name}" if path else name)
        case list() | tuple():
            for index, value in enumerate(datum):
                yield from _unwritable(value, f"{path}[{index}]")
        case int() if datum not in _INT64:
            yield path, "an integer of more than 64 bits"
        case str():
            try:
                datum.encode()
            except UnicodeEncodeError:
                yield path, "text with a lone surrogate, which UTF-8 can't write"
