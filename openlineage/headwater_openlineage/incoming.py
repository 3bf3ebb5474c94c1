"""Conversion of OpenLineage's documents to Headwater's events.

    a document of an event of Headwater's own   ⇒ that event
    RunEvent                                    ⇒ RUN, and from its parts JOB, DATASETs, PLAN, INTERVAL
    JobEvent                                    ⇒ JOB, DATASETs
    DatasetEvent                                ⇒ DATASET, and a JOB for its lineage

An event has the document's time, so the same document gives the same events, with the same ids.
"""

from __future__ import annotations

from headwater_openlineage.native import native_facet, restored
from headwater_openlineage.reading import Json
from headwater_openlineage.standard import standard_events
from headwater_schemas.events import LineageEvent


def events_of(document: Json, *, tenant: str) -> list[LineageEvent]:
    """Read the events of one document; the main event is first.

    Args:
        document: result of `decode`; not changed.

    Raises:
        Refused: the document isn't an event of OpenLineage 1 or 2, or can't be represented in the graph.
    """
    if native_facet(document) is not None:
        return [restored(document, tenant=tenant)]
    return standard_events(document, tenant=tenant)
