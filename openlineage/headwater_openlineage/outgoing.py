"""Headwater's events → OpenLineage's documents."""

from __future__ import annotations

from collections.abc import Callable

from headwater_openlineage.origin import document_of, is_part
from headwater_openlineage.reading import Json
from headwater_schemas.events import ColumnLineage, LineageEvent


def documents_of(event: LineageEvent, plans: Callable[[str], ColumnLineage | None]) -> list[Json]:  # noqa: ARG001
    """The documents of one event.

    Args:
        event: of any kind.
        plans: the column lineage of the event's job by its digest; None where it isn't known.
    """
    document = document_of(event)
    if document is not None:
        return [document]
    if is_part(event):
        return []
    return []
