"""Lenient reading of handwritten documents: missing or outdated fields are filled in, and noted.

A document that violates the specification is repaired at the JSON pointer of each fault, one after another:

    no schemaURL, or one that isn't OpenLineage's    ⇒ RunEvent, JobEvent or DatasetEvent, depending on its members
    no producer                                      ⇒ `UNKNOWN_PRODUCER`
    a run id that isn't a UUID, or is a number       ⇒ `identity.run_id_of` the text
    an event type in lower or mixed case             ⇒ the type in upper case
    a time without an offset                         ⇒ the time in UTC
    a facet of another shape                         ⇒ stored verbatim, but not read

Faults that can't be repaired, such as a dataset without a name, are refused as in strict mode.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from headwater_openlineage.errors import Refused
from headwater_openlineage.native import native_facet, restored
from headwater_openlineage.reading import Json
from headwater_openlineage.standard import standard_events
from headwater_schemas.events import LineageEvent, RunEventType
from headwater_schemas.identity import run_id_of

UNKNOWN_PRODUCER: Final = "urn:headwater:unknown-producer"
NOTES_FACET: Final = "headwater_intake"
"""Facet of a run with the notes on its event, and the replaced values by JSON pointer."""
_INTAKE: Final = "urn:headwater:intake"
_NOTES_SCHEMA: Final = "https://headwater/openlineage/1-0-0/IntakeFacet.json"
_SCHEMA_URL: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json"
_MOST_REPAIRS: Final = 50
_FACET: Final = re.compile(
    r"/(?:(?:run|job|dataset)/facets|(?:in|out)puts/\d+/(?:facets|inputFacets|outputFacets))/[^/]+"
)
_NAIVE_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,18})?", re.ASCII)
_TIMES: Final = frozenset(
    {"/eventTime", "/run/facets/nominalTime/nominalStartTime", "/run/facets/nominalTime/nominalEndTime"}
)
_OTHER_VERSION: Final = re.compile(r"https?://\S+/[1-9]\d*-\d+-\d+/OpenLineage\.json(?:#\S*)?")


class NoteKind(StrEnum):
    """Kind of value that was filled in, left out or redacted: the label of a metric."""

    SCHEMA_URL = "schema_url"
    PRODUCER = "producer"
    RUN_ID = "run_id"
    EVENT_TYPE = "event_type"
    TIME = "time"
    FACET = "facet"
    REDACTED = "redacted"


@dataclass(frozen=True, slots=True)
class IntakeNote:
    """Fault in spite of which a document was accepted.

    Attributes:
        pointer: JSON pointer (RFC 6901) of the field.
        message: the fault and Headwater's repair, without any of the document's values.
    """

    kind: NoteKind
    pointer: str
    message: str


@dataclass(frozen=True, slots=True)
class _Repair:
    """Replacement of a faulty value; with None as `value`, the facet at `pointer` isn't read."""

    note: IntakeNote
    pointer: str
    value: str | None


def lenient_events(document: Json, *, tenant: str) -> tuple[list[LineageEvent], tuple[IntakeNote, ...]]:
    """Read the events of one document, the main event first; also return notes on repairs.

    Args:
        document: result of `decode`; not changed.

    Raises:
        Refused: a fault can't be repaired, or there are more than 50 of them.
    """
    if native_facet(document) is not None:
        return [restored(document, tenant=tenant)], ()
    repaired = document
    notes: list[IntakeNote] = []
    given: dict[str, Any] = {}
    unread: set[str] = set()
    events: list[LineageEvent] = []
    while not events:
        try:
            events = standard_events(repaired, tenant=tenant, unread=unread)
        except Refused as refused:
            repair = _repair(repaired, refused)
            if repair is None or len(notes) == _MOST_REPAIRS or repair.pointer in unread:
                raise
            if not notes:
                repaired = copy.deepcopy(document)
            notes.append(repair.note)
            if repair.value is None:
                unread.add(repair.pointer)
                continue
            if (before := _replace(repaired, repair.pointer, repair.value)) is not None:
                given[repair.pointer] = before
    if notes and isinstance(run := repaired.get("run"), dict):
        facet = {
            "_producer": _INTAKE,
            "_schemaURL": _NOTES_SCHEMA,
            "notes": [{"pointer": each.pointer, "message": each.message} for each in notes],
            "given": given,
        }
        run["facets"] = {**(run.get("facets") or {}), NOTES_FACET: facet}
        events = standard_events(repaired, tenant=tenant, unread=unread)
    return events, tuple(notes)


def _repair(document: Json, refused: Refused) -> _Repair | None:
    at = refused.pointer
    value = _member(document, at)
    if at == "/schemaURL" and (value is None or (isinstance(value, str) and not _OTHER_VERSION.fullmatch(value))):
        state = "is missing" if value is None else "isn't the URL of OpenLineage's own schema"
        return _Repair(
            IntakeNote(NoteKind.SCHEMA_URL, at, f"{state}: read as version 2, by the event's members"), at, _SCHEMA_URL
        )
    if at == "/producer" and not value and isinstance(value, str | None):
        return _Repair(
            IntakeNote(NoteKind.PRODUCER, at, f"is missing: {UNKNOWN_PRODUCER} is used"), at, UNKNOWN_PRODUCER
        )
    if at == "/run/runId" and isinstance(value, str | int) and not isinstance(value, bool) and value != "":
        message = "isn't a UUID: the run's id is the UUID v5 of the text; the text finds the run, too"
        return _Repair(IntakeNote(NoteKind.RUN_ID, at, message), at, run_id_of(str(value)))
    if at == "/eventType" and isinstance(value, str) and value.upper() in RunEventType.__members__:
        message = "isn't in upper case: converted to upper case"
        return _Repair(IntakeNote(NoteKind.EVENT_TYPE, at, message), at, value.upper())
    if at in _TIMES and isinstance(value, str) and _NAIVE_TIME.fullmatch(value):
        return _Repair(IntakeNote(NoteKind.TIME, at, "has no offset: read as UTC"), at, f"{value}Z")
    if (facet := _FACET.match(at)) is not None:
        message = f"{refused.reason}. The facet is stored unchanged, but not read"
        return _Repair(IntakeNote(NoteKind.FACET, at, message), facet[0], None)
    return None


def _member(document: Any, pointer: str) -> Any:
    value = document
    for name in pointer.split("/")[1:]:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _replace(document: Any, pointer: str, value: str) -> Any:
    """Set the value at a pointer, and return the previous value; None if there was none."""
    *above, last = pointer.split("/")[1:]
    holder = document
    for name in above:
        holder = holder[name]
    before = holder.get(last)
    holder[last] = value
    return before
