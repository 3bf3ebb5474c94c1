"""Reconstruction of a document from its main event.

The main event (RUN, DATASET or JOB, the subject of the document) has the document in `LineageEvent.document`, with a
null in place of each facet that the event stores verbatim. The other events of the document have an empty `document`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from headwater_openlineage.parts import Shared
from headwater_openlineage.reading import Json
from headwater_schemas.events import DatasetUse, LineageEvent

PART: Final = ""
"""Value of `document` in an event whose document is in another event."""


def without(source: Json, name: str, held: Mapping[str, str]) -> Json:
    """Replace facets in the member `name` by nulls if the event stores them in `held`."""
    facets = source.get(name)
    if not isinstance(facets, dict) or not held:
        return source
    return {
        **source,
        name: {key: None if facet is not None and key in held else facet for key, facet in facets.items()},
    }


def written(entry: Json) -> Json:
    """Return a member of `inputs` or `outputs`; facets that documents share are given as their JSON text."""
    facets = entry.get("facets")
    return {**entry, "facets": msgspec.Raw(facets.text)} if isinstance(facets, Shared) else entry


def document_of(event: LineageEvent) -> Json | None:
    """Return the document in an event; None if the event has none.

    Raises:
        ValueError: the event's text isn't JSON; Headwater itself never writes such an event.
    """
    if not event.document:
        return None
    document: Json = json.loads(event.document)
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
