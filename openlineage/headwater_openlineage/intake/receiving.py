"""Conversion of one document's bytes to events."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

from headwater_openlineage.decoding import DEFAULT_MAX_BYTES, decode
from headwater_openlineage.errors import Refused
from headwater_openlineage.incoming import events_of
from headwater_openlineage.lenient import IntakeNote, lenient_events
from headwater_openlineage.reading import Json
from headwater_openlineage.redacting import without_secrets
from headwater_schemas.events import LineageEvent
from headwater_schemas.redaction import redact


class RefusalReason(StrEnum):
    """Reason why a document was refused: the label of a metric."""

    NOT_JSON = "not_json"
    """The bytes aren't JSON, or JSON that is refused: nested too deep, duplicate keys, NaN, lone surrogates."""

    NOT_AN_EVENT = "not_an_event"
    """The bytes are JSON, but not an OpenLineage event: a field is missing or wrong."""

    BREAKS_CONTRACT = "breaks_contract"
    """Headwater's events can't represent the document."""

    TOO_LARGE = "too_large"
    """The event is too large for the events topic."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Permanent reason why a document is refused.

    Attributes:
        pointer: JSON pointer (RFC 6901) to the field at fault; empty: the document as a whole.
    """

    reason: RefusalReason
    pointer: str
    message: str


@dataclass(frozen=True, slots=True)
class Received:
    """Events and notes made from a document.

    Attributes:
        events: events of the document, the main event first.
        notes: values that Headwater redacted, filled in or didn't read; empty for a document that follows the standard.
    """

    events: list[LineageEvent]
    notes: tuple[IntakeNote, ...] = ()


def receive(
    data: bytes, *, tenant: str, max_bytes: int = DEFAULT_MAX_BYTES, strict: bool = False, redacting: bool = True
) -> Received | Refusal:
    """Read the events of an OpenLineage document, or the reason for its refusal.

    Args:
        max_bytes: maximum length of a document.
        strict: whether to refuse documents that would otherwise be repaired, with notes.
        redacting: whether to remove text that looks like a credential, with a note.
    """
    try:
        document, redacted = _decoded(data, max_bytes, redacting=redacting)
    except Refused as refused:
        return Refusal(RefusalReason.NOT_JSON, refused.pointer, refused.reason)
    try:
        return Received(events_of(document, tenant=tenant), redacted)
    except Refused:
        pass
    try:
        # Read again without shared parts, which may have pointers into other documents.
        document, redacted = _decoded(data, max_bytes, redacting=redacting, shared=False)
        if strict:
            return Received(events_of(document, tenant=tenant), redacted)
        events, notes = lenient_events(document, tenant=tenant)
        return Received(events, redacted + notes)
    except Refused as refused:
        return Refusal(RefusalReason.NOT_AN_EVENT, refused.pointer, refused.reason)


def _decoded(
    data: bytes, max_bytes: int, *, redacting: bool, shared: bool = True
) -> tuple[Json, tuple[IntakeNote, ...]]:
    document = decode(data, max_bytes=max_bytes, shared=shared)
    return without_secrets(document) if redacting else (document, ())


def redacted_bytes(data: bytes, *, max_bytes: int = DEFAULT_MAX_BYTES) -> bytes:
    """Redact a refused document; unchanged if it has no credentials. The document needn't be JSON."""
    try:
        document = decode(data, max_bytes=max_bytes, shared=False)
    except Refused:
        encoding = "utf-8" if _is_utf8(data) else "latin-1"
        text = data.decode(encoding)
        found = redact(text)
        return data if found == text else found.encode(encoding, "replace")
    found_document, notes = without_secrets(document)
    return json.dumps(found_document, ensure_ascii=False).encode("utf-8", "replace") if notes else data


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
