"""How a document comes back from the events that were made of it.

One of them, the RUN, DATASET or JOB that the document is about, carries what its own fields and facets don't hold: the
document without the facets that it keeps verbatim anyway, a null in the place of each. The others were made of the same
document and give none of their own; their producer shows that, as `git+https://…` does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from headwater_openlineage.facets import kept
from headwater_openlineage.reading import Json
from headwater_schemas.events import DatasetUse, LineageEvent

DOCUMENT_FACET: Final = "headwater_openlineage"
"""The facet with what else was in the document."""
_PART: Final = "openlineage+"


def part_producer(producer: str) -> str:
    """Producer of an event whose document another event carries."""
    return _PART + producer


def is_part(event: LineageEvent) -> bool:
    """Whether another event carries the document that this one was made of."""
    return event.producer.startswith(_PART) and carried(event) is None


def without(source: Json, name: str, held: Mapping[str, str]) -> Json:
    """`source` with nulls in the place of those facets in its member `name` that are held elsewhere."""
    facets = source.get(name)
    if not isinstance(facets, dict) or not held:
        return source
    return {
        **source,
        name: {key: None if facet is not None and key in held else facet for key, facet in facets.items()},
    }


def carried(event: LineageEvent) -> str | None:
    """What an event carries of its document; None where it is of none, or another carries it."""
    body = event.run_event or event.job_event or event.dataset_event
    if body is None:
        return None
    facets = body.run_facets if event.run_event is not None else body.facets  # type: ignore[union-attr]
    return facets.get(DOCUMENT_FACET)


def carrying(held: Mapping[str, str], rest: Json) -> dict[str, str]:
    """Facets of the event that carries the document."""
    return {**held, DOCUMENT_FACET: kept(rest)}


def document_of(event: LineageEvent) -> Json | None:
    """The document that an event carries; None where it carries none."""
    text = carried(event)
    if text is None:
        return None
    document: Json = json.loads(text)
    if (run := event.run_event) is not None:
        _fill(document.get("run"), "facets", run.run_facets)
        _fill(document.get("job"), "facets", run.job_facets)
        _fill_uses(document.get("inputs"), "inputFacets", run.inputs)
        _fill_uses(document.get("outputs"), "outputFacets", run.outputs)
    elif event.job_event is not None:
        _fill(document.get("job"), "facets", event.job_event.facets)
    elif event.dataset_event is not None:
        _fill(document.get("dataset"), "facets", event.dataset_event.facets)
    return document


def _fill(source: Any, name: str, held: Mapping[str, str]) -> None:
    facets = source.get(name) if isinstance(source, dict) else None
    if isinstance(facets, dict):
        for key, facet in facets.items():
            if facet is None and key in held:
                facets[key] = json.loads(held[key])


def _fill_uses(entries: Any, name: str, uses: Sequence[DatasetUse]) -> None:
    if isinstance(entries, list):
        for entry, use in zip(entries, uses, strict=False):
            _fill(entry, name, use.facets)


def as_part(event: LineageEvent) -> LineageEvent:
    """The same event, of a document that another carries."""
    return msgspec.structs.replace(event, producer=part_producer(event.producer))
