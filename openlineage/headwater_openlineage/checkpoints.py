"""RUNNING events of a streaming engine with facts of its checkpoints (Flink's facet `checkpoints`) → intervals.

The facet counts checkpoints and knows no offsets: an interval is then what was read and written when one was completed,
with positions only where subset facets have them. The count begins again with each start, so the chain is that of one
run, and the n-th checkpoint its micro-batch n - 1. Checkpoints between two RUNNING events are missing from the chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from headwater_openlineage.reading import Json, integer
from headwater_schemas.events import (
    EmissionReason,
    IntervalEntry,
    IntervalEvent,
    LineageEvent,
    Provenance,
    RunEventType,
)

CHECKPOINTS: Final = "checkpoints"


def interval_of(event: LineageEvent, facets: Mapping[str, tuple[Json, str]]) -> IntervalEvent | None:
    """The interval that a RUN event shows; None where it has no completed checkpoint.

    Args:
        event: event of kind RUN.
        facets: facets of the run by name, each with its pointer.

    Raises:
        Refused: the facet's count is no whole number.
    """
    body = event.run_event
    if body is None or event.run is None or body.type is not RunEventType.RUNNING or CHECKPOINTS not in facets:
        return None
    completed = integer(facets[CHECKPOINTS][0], "completed", facets[CHECKPOINTS][1])
    if completed is None or completed < 1:
        return None
    entry = IntervalEntry(
        batch_id=completed - 1,
        processing_time=event.event_time,
        # Facets are the run's, which has the same uses.
        inputs=tuple(msgspec.structs.replace(use, facets={}) for use in body.inputs),
        outputs=tuple(msgspec.structs.replace(use, facets={}) for use in body.outputs),
        plan_digest=body.plan_digest,
        quality=body.quality,
    )
    return IntervalEvent(
        query_id=event.run.run_id,
        entries=(entry,),
        versions=body.versions,
        reason=EmissionReason.CHECKPOINT,
        provenance=Provenance.OBSERVED,
    )
