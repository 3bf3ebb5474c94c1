"""Events of one batch write."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import msgspec

from headwater_producers.spark.events.context import EventContext
from headwater_producers.spark.events.datasets import dataset_bodies
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.events.job_names import batch_name
from headwater_producers.spark.events.plans import new_plan_event
from headwater_producers.spark.events.writes import Write
from headwater_schemas.events import (
    DatasetUse,
    JobEvent,
    JobRef,
    LineageEvent,
    ProcessingType,
    PublicationState,
    QualityResult,
    RunError,
    RunEvent,
    RunEventType,
)

UNKNOWN_OUTPUTS: Final = "headwater_unknownOutputs"
"""Run facet of a write with an unknown output; `reason` names the missing part."""

NOTHING_WRITTEN: Final = "headwater_nothingWritten"
"""Run facet of a write that was announced and then wrote nothing: `reason`, and `runId` of the run that wrote, if
any."""

HEARTBEAT: Final = "headwater_heartbeat"
"""Run facet of a heartbeat, with the seconds until the next heartbeat: `{"seconds": 60}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRun:
    """Batch write, from beginning to end."""

    write: Write
    started_at: datetime
    ended_at: datetime
    error: RunError | None = None
    run_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    facets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Facets of the run, in addition to the facets that every run has."""
    statement: str | None = None
    """SQL text that the write executes."""
    rows_rejected: int | None = None
    quality: tuple[QualityResult, ...] = ()
    is_announced: bool = False
    """True if its START was emitted while it ran."""
    inputs: tuple[DatasetUse, ...] | None = None
    outputs: tuple[DatasetUse, ...] | None = None
    """Inputs and outputs in place of the write's own, if more is known about them; None: the write's own."""


def batch_events(context: EventContext, run: BatchRun, dedup: DedupCache) -> Iterator[LineageEvent]:
    """Build the events of an ended write: its job, plan and datasets if new, then its run.

    START, with the start time, comes together with the end, unless it was announced while the write ran. The plan of a
    failed write isn't emitted: no data was written by it.
    """
    job = _job(context, run)
    run_id = run.run_id
    yield from job_events(context, job, ProcessingType.BATCH, "COMMAND", run.started_at, dedup)

    digest, plan = _plan(context, run, job, dedup) if run.error is None else (None, None)
    if plan is not None:
        yield plan
    yield from _datasets(context, run, job, dedup)
    if not run.is_announced:
        start = _state(context, run, RunEventType.START, digest)
        yield context.run(start, job=job, run_id=run_id, at=run.started_at)
    yield _end(context, run, job, digest)


def batch_started(
    context: EventContext, run: BatchRun, dedup: DedupCache, facets: Mapping[str, str] | None = None
) -> Iterator[LineageEvent]:
    """Build the events of a running write: its job if new, and START with its inputs.

    The write's outputs and plan follow when it has committed.

    Args:
        facets: facets of START, as JSON.
    """
    job = _job(context, run)
    yield from job_events(context, job, ProcessingType.BATCH, "COMMAND", run.started_at, dedup)
    start = msgspec.structs.replace(
        _state(context, run, RunEventType.START, None), inputs=_reads(run), run_facets=dict(facets or {})
    )
    yield context.run(start, job=job, run_id=run.run_id, at=run.started_at)


def plan_to_be(context: EventContext, run: BatchRun) -> LineageEvent | None:
    """Build the plan event of a running write; it is emitted when the write has committed."""
    return _plan(context, run, _job(context, run), DedupCache())[1]


def batch_running(context: EventContext, run: BatchRun, at: datetime, seconds: float) -> LineageEvent:
    """Build RUNNING of an announced write.

    Args:
        seconds: seconds until the next heartbeat is due.
    """
    body = _state(context, run, RunEventType.RUNNING, None)
    body = msgspec.structs.replace(body, run_facets=heartbeat_facet(seconds, context.producer))
    return context.run(body, job=_job(context, run), run_id=run.run_id, at=at)


def batch_wrote_nothing(context: EventContext, run: BatchRun, reason: str, by: str | None = None) -> LineageEvent:
    """Build the end of an announced write that had nothing to write, or whose rows another run reports.

    The end has no inputs and no outputs. Without an announced START, such a write isn't reported at all.
    """
    facet = {"reason": reason} | ({"runId": by} if by is not None else {})
    return _ended_without_outputs(
        context,
        run,
        publication=PublicationState.UNPUBLISHED,
        run_facets=_texts({NOTHING_WRITTEN: facet}, context.producer),
    )


def batch_unreadable(context: EventContext, run: BatchRun) -> LineageEvent:
    """Build the end of an announced write that can no longer be read; if it failed, with its error."""
    facets = {}
    if run.error is None:
        unknown = _unknown_outputs(run.write.description.command, "its plan couldn't be read at its end")
        facets = _texts({UNKNOWN_OUTPUTS: unknown}, context.producer)
    return _ended_without_outputs(context, run, inputs=_reads(run), run_facets=facets)


def _ended_without_outputs(context: EventContext, run: BatchRun, **fields: Any) -> LineageEvent:
    kind = RunEventType.COMPLETE if run.error is None else RunEventType.FAIL
    body = msgspec.structs.replace(_state(context, run, kind, None), ended_at=run.ended_at, error=run.error, **fields)
    return context.run(body, job=_job(context, run), run_id=run.run_id, at=run.ended_at)


def heartbeat_facet(seconds: float, producer: str) -> dict[str, str]:
    """Build the run facet of a heartbeat: seconds until the next one is due."""
    return {HEARTBEAT: json.dumps({"_producer": producer, "seconds": seconds}, sort_keys=True)}


def _state(context: EventContext, run: BatchRun, kind: RunEventType, digest: str | None) -> RunEvent:
    return RunEvent(
        type=kind,
        processing_type=ProcessingType.BATCH,
        started_at=run.started_at,
        versions=context.versions,
        parent=context.parent,
        root=context.root,
        plan_digest=digest,
    )


def _job(context: EventContext, run: BatchRun) -> JobRef:
    description = run.write.description
    return context.job(batch_name(context.app_name, description.outputs, description.command))


def _reads(run: BatchRun) -> tuple[DatasetUse, ...]:
    """List the datasets that a run reads, each once, without positions, which are only known at the run's end."""
    return tuple(DatasetUse(dataset=each) for each in dict.fromkeys(use.dataset for use in run.write.inputs()))


def corrected_events(context: EventContext, run: BatchRun, dedup: DedupCache) -> Iterator[LineageEvent]:
    """Build the events that correct an emitted write when more is known later: plan and datasets if new, and the end.

    The corrected end must be later than the reported one: of two ends of a run the later one wins.
    """
    job = _job(context, run)
    digest, plan = _plan(context, run, job, dedup)
    if plan is not None:
        yield plan
    yield from _datasets(context, run, job, dedup)
    yield _end(context, run, job, digest)


def _datasets(context: EventContext, run: BatchRun, job: JobRef, dedup: DedupCache) -> Iterator[LineageEvent]:
    if run.error is None:
        for body in dataset_bodies(run.write.description):
            if body.lifecycle is not None or dedup.add(("dataset", body.dataset, hash_of(body))):
                yield context.fact(body, job=job, run_id=run.run_id, at=run.ended_at)


def _end(context: EventContext, run: BatchRun, job: JobRef, digest: str | None) -> LineageEvent:
    end = msgspec.structs.replace(
        _state(context, run, RunEventType.COMPLETE if run.error is None else RunEventType.FAIL, digest),
        inputs=run.write.inputs() if run.inputs is None else run.inputs,
        outputs=run.write.outputs() if run.outputs is None else run.outputs,
        ended_at=run.ended_at,
        error=run.error,
        # A failed write may have left any state: nothing is claimed.
        publication=PublicationState.PUBLISHED if run.error is None else PublicationState.UNKNOWN,
        context=context.about_statement(run.statement),
        rows_rejected=run.rows_rejected,
        quality=run.quality,
        run_facets=_facets(run, context.producer),
    )
    return context.run(end, job=job, run_id=run.run_id, at=run.ended_at)


def _plan(
    context: EventContext, run: BatchRun, job: JobRef, dedup: DedupCache
) -> tuple[str | None, LineageEvent | None]:
    described = [run.write.description]
    return new_plan_event(context, described, job=job, run_id=run.run_id, at=run.started_at, dedup=dedup)


def _facets(run: BatchRun, producer: str) -> dict[str, str]:
    facets = dict(run.facets)
    description = run.write.description
    if description.writes_unknown:
        # A list of outputs, empty or not, couldn't record that they are unknown.
        facets[UNKNOWN_OUTPUTS] = _unknown_outputs(description.command, description.lineage.incomplete_reason)
    return _texts(facets, producer)


def _unknown_outputs(command: str | None, reason: str | None) -> dict[str, Any]:
    return {"kind": "UNKNOWN", "command": command, "reason": reason}


def _texts(facets: Mapping[str, Mapping[str, Any]], producer: str) -> dict[str, str]:
    return {name: json.dumps({"_producer": producer, **facet}, sort_keys=True) for name, facet in facets.items()}


def job_events(
    context: EventContext, job: JobRef, processing: ProcessingType, job_type: str, at: datetime, dedup: DedupCache
) -> Iterator[LineageEvent]:
    """Build the event of a job's own facts, once per application attempt."""
    if dedup.add(("job", job)):
        body = JobEvent(
            processing_type=processing,
            integration="SPARK",
            job_type=job_type,
            owners=context.owners,
            tags=context.tags,
            criticality=context.criticality,
        )
        yield context.job_facts(body, job=job, at=at)


def hash_of(body: object) -> int:
    """Return a digest of a frozen body whose facets are a dict, which `hash` can't handle."""
    return hash(repr(body))
