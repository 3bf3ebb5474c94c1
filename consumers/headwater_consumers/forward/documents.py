"""Encoded documents of an event. Events aren't trusted: anybody who may write to the topic decides their content."""

from __future__ import annotations

import json
from typing import Any

from headwater_consumers.forward.collectors import OutgoingDocument
from headwater_openlineage.outgoing import Plans, documents_of
from headwater_schemas.events import LineageEvent

Json = dict[str, Any]


class UnsendableError(ValueError):
    """The event's document or facets aren't valid OpenLineage, so no documents can be made.

    Headwater doesn't produce such events.
    """


def sendable_documents(
    event: LineageEvent, plans: Plans, *, coalesced: bool = False
) -> list[tuple[Json, OutgoingDocument]]:
    """Documents of one event, decoded and encoded; see `documents_of`.

    Raises:
        UnsendableError: no documents can be made.
    """
    try:
        documents = documents_of(event, plans, coalesced=coalesced)
        return [(document, OutgoingDocument(_bytes(document), _key(document))) for document in documents]
    except Exception as error:  # a document or facet may be any text
        raise UnsendableError(f"its document can't be made ({type(error).__name__})") from error


def _bytes(document: Json) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _key(document: Json) -> str:
    """Kafka key of a document, e.g. `run:shop/orders`. OpenLineage's transport would use the job of the parent run."""
    if "run" in document or "job" in document:
        kind = "run" if "run" in document else "job"
        return f"{kind}:{document['job']['namespace']}/{document['job']['name']}"
    return f"dataset:{document['dataset']['namespace']}/{document['dataset']['name']}"
