"""One document's bytes → its events."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from headwater_openlineage.decoding import DEFAULT_MAX_BYTES, decode
from headwater_openlineage.errors import Refused
from headwater_openlineage.incoming import events_of
from headwater_openlineage.lenient import Note, lenient_events
from headwater_schemas.events import LineageEvent


class RefusalReason(StrEnum):
    """Why a document was refused: the label of a metric."""

    NOT_JSON = "not_json"
    """The bytes aren't JSON, or JSON that isn't taken: nested too deep, duplicate keys, NaN, lone surrogates."""

    NOT_AN_EVENT = "not_an_event"
    """JSON, but no OpenLineage event: a field is missing or wrong."""

    BREAKS_CONTRACT = "breaks_contract"
    """Headwater's events can't hold what it states."""

    TOO_LARGE = "too_large"
    """Its event is larger than what the events topic takes."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a document isn't taken, for good.

    Attributes:
        reason: coarsely.
        pointer: JSON pointer (RFC 6901) to the field at fault; empty: the document as a whole.
        message: what is wrong with it, for people.
    """

    reason: RefusalReason
    pointer: str
    message: str


@dataclass(frozen=True, slots=True)
class Received:
    """What a document becomes.

    Attributes:
        events: first the one that it is about.
        notes: on what Headwater filled in or didn't read; empty for a document that is to the letter.
    """

    events: list[LineageEvent]
    notes: tuple[Note, ...] = ()


def receive(
    data: bytes, *, tenant: str, max_bytes: int = DEFAULT_MAX_BYTES, strict: bool = False
) -> Received | Refusal:
    """The events of an OpenLineage document, or why it is refused.

    Args:
        data: the document.
        tenant: whose lineage it is.
        max_bytes: the longest document that is taken.
        strict: refuse what otherwise is filled in and noted.
    """
    try:
        document = decode(data, max_bytes=max_bytes)
    except Refused as refused:
        return Refusal(RefusalReason.NOT_JSON, refused.pointer, refused.reason)
    try:
        return Received(events_of(document, tenant=tenant))
    except Refused:
        pass
    try:
        # Parts that other documents have, too, may have pointers into those.
        document = decode(data, max_bytes=max_bytes, shared=False)
        if strict:
            return Received(events_of(document, tenant=tenant))
        return Received(*lenient_events(document, tenant=tenant))
    except Refused as refused:
        return Refusal(RefusalReason.NOT_AN_EVENT, refused.pointer, refused.reason)
