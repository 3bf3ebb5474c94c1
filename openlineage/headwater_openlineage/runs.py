"""Conversion of a run's facets to fields of a RunEvent, and of Flink's facet `checkpoints` to intervals.

The facet `checkpoints` has the number of checkpoints and no offsets. So an interval has the datasets read and written
when a checkpoint was completed, with positions only from subset facets. The number restarts with each run, so each run
has its own chain, and the n-th checkpoint is micro-batch n - 1. Checkpoints between two RUNNING events are missing from
the chain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from headwater_openlineage.errors import Refused
from headwater_openlineage.facets import is_deleted
from headwater_openlineage.reading import Json, integer, mapping, need_job, need_mapping, need_text, step, text
from headwater_openlineage.times import time
from headwater_schemas.events import (
    EmissionReason,
    EngineRef,
    IntervalEntry,
    IntervalEvent,
    LineageEvent,
    ParentRun,
    Provenance,
    RunError,
    RunEventType,
    RunRef,
    Versions,
)
from headwater_schemas.identity import run_id_of

Fields: TypeAlias = dict[str, Any]
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_Reader: TypeAlias = Callable[[Json, str], Fields]


def run_ref(run: Json, at: str) -> RunRef:
    """Return the run, by its UUID in lower case.

    Raises:
        Refused: `runId` is missing or isn't a UUID.
    """
    given = need_text(run, "runId", at)
    run_id = _uuid(given)
    if run_id is None:
        raise Refused(step(at, "runId"), "must be a UUID, such as 0197c1de-52f0-7bd1-9d55-1a2b3c4d5e6f")
    return RunRef(run_id)


def _uuid(given: str) -> str | None:
    return given.lower() if _UUID.fullmatch(given) else None


def run_fields(facets: Mapping[str, tuple[Json, str]]) -> Fields:
    """Read the fields of a RunEvent from a run's facets.

    Args:
        facets: facets by name, each with its pointer.

    Raises:
        Refused: a facet's shape differs from the specification.
    """
    fields: Fields = {}
    for name, reader in _FACETS.items():
        if name in facets and not is_deleted(facets[name][0]):
            fields |= reader(*facets[name])
    return fields


def _parent(facet: Json, at: str) -> Fields:
    fields: Fields = {"parent": _parent_run(facet, at)}
    root = mapping(facet, "root", at)
    if root is not None:
        fields["root"] = _parent_run(root, step(at, "root"))
    return fields


def _parent_run(source: Json, at: str) -> ParentRun:
    run = need_mapping(source, "run", at)
    given = need_text(run, "runId", step(at, "run"))
    # Old integrations use the scheduler's id of a parent; handwritten events use the id in the parent's own event.
    return ParentRun(_uuid(given) or run_id_of(given), need_job(need_mapping(source, "job", at), step(at, "job")))


def _nominal(facet: Json, at: str) -> Fields:
    return {"nominal_start": time(facet, "nominalStartTime", at), "nominal_end": time(facet, "nominalEndTime", at)}


def _error(facet: Json, at: str) -> Fields:
    message = text(facet, "message", at)
    return {"error": RunError(message=message or "", stack_trace=text(facet, "stackTrace", at))}


def _engine(facet: Json, at: str) -> Fields:
    name = text(facet, "name", at) or ""
    version = text(facet, "version", at) or ""
    return {"versions": Versions(engine=EngineRef(name.lower(), version))}


_FACETS: Final[Mapping[str, _Reader]] = {
    "parent": _parent,
    "nominalTime": _nominal,
    "errorMessage": _error,
    "processing_engine": _engine,
}


CHECKPOINTS: Final = "checkpoints"


def interval_of(event: LineageEvent, facets: Mapping[str, tuple[Json, str]]) -> IntervalEvent | None:
    """Build the interval of a RUN event; None if it has no completed checkpoint.

    Args:
        facets: facets of the run by name, each with its pointer.

    Raises:
        Refused: the facet's count isn't a whole number.
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
        # Without facets, which the RUN event has for the same uses.
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
