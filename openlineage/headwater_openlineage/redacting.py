"""Removal of credentials from a document, with a note of their number.

Each document is searched once, right after parsing, so that no event, dead letter or answer has a credential. Facets
that documents share are searched once (`parts.Shared`).
"""

from __future__ import annotations

from typing import Any, Final

from headwater_openlineage.lenient import IntakeNote, NoteKind
from headwater_openlineage.parts import Shared
from headwater_openlineage.reading import Json, step
from headwater_schemas.redacted_values import redacted_json

REDACTED_FACET: Final = "headwater_redacted"
"""Facet of the document's subject, with the number of texts from which a likely credential was removed."""
_INTAKE: Final = "urn:headwater:intake"
_SCHEMA: Final = "https://headwater/openlineage/1-0-0/RedactedFacet.json"


def without_secrets(document: Json) -> tuple[Json, tuple[IntakeNote, ...]]:
    """Remove credentials, and add the facet and a note; a document without credentials is returned unchanged.

    Args:
        document: result of `decode`; not changed.
    """
    found, values = redacted_json(document, is_clean=_is_clean, clean=_clean)
    if not values:
        return document, ()
    return _marked(found, values)


def _is_clean(value: Any) -> bool:
    return type(value) is Shared and value.clean


def _clean(value: Any) -> None:
    if type(value) is Shared:
        value.clean = True


def _marked(document: Json, values: int) -> tuple[Json, tuple[IntakeNote, ...]]:
    pointer = ""
    for owner in ("run", "job", "dataset"):
        holder = document.get(owner)
        facets = holder.get("facets") if isinstance(holder, dict) else None
        if isinstance(holder, dict) and (facets is None or isinstance(facets, dict)):
            facet = {"_producer": _INTAKE, "_schemaURL": _SCHEMA, "values": values}
            document = {**document, owner: {**holder, "facets": {**(facets or {}), REDACTED_FACET: facet}}}
            pointer = step(f"/{owner}/facets", REDACTED_FACET)
            break
    texts = "1 text" if values == 1 else f"{values:,} texts"
    message = f"{texts} contained what looks like a credential, which is [redacted] in the stored event"
    return document, (IntakeNote(NoteKind.REDACTED, pointer, message),)
