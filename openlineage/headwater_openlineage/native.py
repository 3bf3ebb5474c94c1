"""Documents for Headwater's own events: the facet `headwater` has the fields that standard facets lack.

The facet has the kind of the event and a merge patch: `merged(candidate, patch)` is the event, where the candidate is
the event read from the document's standard facets. Its schema is `headwater_schemas/openlineage/HeadwaterFacet.json`.

A merge patch follows RFC 7386: null removes a member. As an extension of the RFC, arrays of the same length are
compared item by item: the patch of an array may be an object with the index of each item that differs.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from headwater_openlineage.errors import Refused
from headwater_openlineage.reading import Json, mapping
from headwater_openlineage.standard import standard_events
from headwater_schemas.events import EventKind, LineageEvent
from headwater_schemas.identity import event_id
from headwater_schemas.rules import BODY_OF_KIND, first_violation

HEADWATER_FACET: Final = "headwater"
SCHEMA_URL: Final = "https://headwater/openlineage/1-0-0/HeadwaterFacet.json#/$defs/HeadwaterFacet"
_KINDS: Final = tuple(
    kind.value for kind in (EventKind.RUN, EventKind.INTERVAL, EventKind.PLAN, EventKind.DATASET, EventKind.JOB)
)
"""Kinds of events that are represented as documents."""
_OWNERS: Final = ("run", "job", "dataset")
_ENVELOPE: Final = ("event_id", "tenant", "kind", "document")
"""Fields that aren't in a patch: they are derived, decided by the reader, or absent in Headwater's own events."""


def native_facet(document: Json) -> Json | None:
    """Return the facet of a document that represents one of Headwater's own events; None for any other document."""
    found = _find_facet(document)
    return None if found is None else found[0]


def _find_facet(document: Json) -> tuple[Json, str] | None:
    for owner in _OWNERS:
        holder = document.get(owner)
        facets = holder.get("facets") if isinstance(holder, dict) else None
        facet = facets.get(HEADWATER_FACET) if isinstance(facets, dict) else None
        if isinstance(facet, dict) and facet.get("_schemaURL") == SCHEMA_URL:
            return facet, owner
    return None


def patch_of(event: LineageEvent, document: Json) -> Json:
    """Make the patch with the parts of an event that the document's standard facets lack."""
    return difference(_plain(event), _candidate(document, event.kind, event.tenant))


def restored(document: Json, *, tenant: str) -> LineageEvent:
    """Return the event behind a document, for this tenant.

    Raises:
        Refused: the standard facets have an unexpected shape, or together with this facet don't form an event.
    """
    found = _find_facet(document)
    assert found is not None  # noqa: S101 - the caller has checked `native_facet`
    facet, owner = found
    at = f"/{owner}/facets/{HEADWATER_FACET}"
    kind = facet.get("kind")
    if kind not in _KINDS:
        raise Refused(f"{at}/kind", f"must be one of {', '.join(_KINDS)}")
    others = {name: value for name, value in document[owner]["facets"].items() if name != HEADWATER_FACET}
    bare = {**document, owner: {**document[owner], "facets": others}}
    plain = merged(_candidate(bare, kind, tenant), mapping(facet, "event", at) or {})
    try:
        event = msgspec.convert(
            {**plain, "event_id": "-", "tenant": tenant, "kind": kind, "document": None}, LineageEvent
        )
        violation = first_violation(event)
        if violation is not None:
            raise Refused(f"{at}/event", f"makes no event: {violation.field} {violation.message}")
        return msgspec.structs.replace(event, event_id=event_id(event))
    except msgspec.ValidationError as error:
        raise Refused(f"{at}/event", f"makes no event: {error}") from None
    except (ValueError, IndexError) as error:
        raise Refused(f"{at}/event", f"makes no event: {error}") from None


def _plain(event: LineageEvent) -> Json:
    """Convert an event to JSON values, without the fields that aren't in a patch."""
    # Through bytes: `to_builtins` would leave tuples, which aren't compared item by item.
    found: Json = msgspec.json.decode(msgspec.json.encode(event))
    return {name: value for name, value in found.items() if name not in _ENVELOPE}


def _candidate(document: Json, kind: str, tenant: str) -> Json:
    """Read an event of this kind from only the standard facets of a document."""
    events = standard_events(document, tenant=tenant)
    found = _plain(events[0])
    body = next(found.pop(name) for name in BODY_OF_KIND.values() if found.get(name) is not None)
    _drop_facets(body)
    if kind == EventKind.INTERVAL:
        body = {"entries": [{name: body.get(name, []) for name in ("inputs", "outputs", "quality")}]}
    elif kind == EventKind.PLAN:
        body = {"lineage": body.get("lineage")}
    elif kind == EventKind.RUN:
        body.pop("plan_digest", None)
    return {**found, BODY_OF_KIND[kind]: body}


def _drop_facets(body: Json) -> None:
    """Remove verbatim facets and `possible` from a candidate.

    The patch has the verbatim facets of Headwater's own events. It doesn't have `possible`: if Headwater's producers
    list no sources of an output, the sources are all inputs.
    """
    for name in ("facets", "run_facets", "job_facets"):
        if name in body:
            body[name] = {}
    uses: list[Any] = [*(body.get("inputs") or ()), *(body.get("outputs") or ())]
    for use in uses:
        if "facets" in use:
            use["facets"] = {}
        if "possible" in use:
            use["possible"] = False


def headwater_facet(event: LineageEvent, document: Json, producer: str) -> Json:
    """Make the facet of an event, for its document with standard facets."""
    return {
        "_producer": producer,
        "_schemaURL": SCHEMA_URL,
        "kind": event.kind,
        "event": patch_of(event, document),
    }


def difference(wanted: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Make the patch that turns `given` into `wanted` (`merged`). A null in `wanted` counts as absent."""
    found: dict[str, Any] = {}
    for name in sorted(wanted.keys() | given.keys()):
        value, other = wanted.get(name), given.get(name)
        if value is None:
            if other is not None:
                found[name] = None
        elif (patch := _patch(value, other)) is not _SAME:
            found[name] = patch
    return found


_SAME = object()


def _patch(wanted: Any, given: Any) -> Any:
    if wanted == given and type(wanted) is type(given):
        return _SAME
    if isinstance(wanted, dict) and isinstance(given, dict):
        return difference(wanted, given) or _SAME
    if isinstance(wanted, list) and isinstance(given, list) and len(wanted) == len(given):
        if not all(isinstance(item, dict) for item in (*wanted, *given)):
            return _without_nulls(wanted)
        return {
            str(index): patch
            for index, (value, other) in enumerate(zip(wanted, given, strict=True))
            if (patch := _patch(value, other)) is not _SAME
        } or _SAME
    return _without_nulls(wanted)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def merged(given: Any, patch: Any) -> Any:
    """Apply a patch to `given`. Never raises: a part of the patch whose type differs replaces the given part."""
    if not isinstance(patch, dict):
        return patch
    if isinstance(given, list) and patch.keys() <= {str(index) for index in range(len(given))}:
        return [merged(item, patch[str(index)]) if str(index) in patch else item for index, item in enumerate(given)]
    found = dict(given) if isinstance(given, dict) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), value)
    return found
