"""The events of one batch write."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from headwater_producers.spark.events.context import EventContext
from headwater_producers.spark.events.datasets import dataset_bodies
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.events.job_names import batch_name
from headwater_producers.spark.events.plans import new_plan_event
from headwater_producers.spark.events.writes import Write
from headwater_schemas.events import (
    JobEvent,
    JobRef,
    LineageEvent,
    ProcessingType,
    PublicationState,
    RunError,
    RunEvent,
    RunEventType,
)

UNKNOWN_OUTPUTS: Final = "headwater_unknownOutputs"
"""The run facet of a write of which isn't known where to; `reason` names what is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRun:
    """One batch write, from beginning to end."""

    write: Write
    started_at: datetime
    ended_at: datetime
    error: RunError | None = None
    run_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    facets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Of the run, beside those that every run has."""


def batch_events(context: EventContext, run: BatchRun, dedup: DedupCache) -> Iterator[LineageEvent]:
    """The events of a write: its job, plan and datasets where they are new, then its run.

    Spark reports a write when it is over, so START and the end come together; START carries the time it began.
    """
    description = run.write.description
    job = context.job(batch_name(context.app_name, description.outputs, description.command))
    run_id = run.run_id
    yield from job_events(context, job, ProcessingType.BATCH, "COMMAND", run.started_at, dedup)

    digest, plan = _plan(context, run, job, dedup)
    if plan is not None:
        yield plan
    yield from _datasets(context, run, job, dedup)
    start = RunEvent(
        type=RunEventType.START,
        processing_type=ProcessingType.BATCH,
        started_at=run.started_at,
        versions=context.versions,
        parent=context.parent,
        root=context.root,
        plan_digest=digest,
    )
    yield context.run(start, job=job, run_id=run_id, at=run.started_at)
    yield _end(context, run, job, digest)


def corrected_events(context: EventContext, run: BatchRun, dedup: DedupCache) -> Iterator[LineageEvent]:
    """A write whose events were sent, once more by what is known of it since: its datasets, and its end.

    It has to have ended later than was reported: of two ends of a run the later one holds.
    """
    description = run.write.description
    job = context.job(batch_name(context.app_name, description.outputs, description.command))
    digest, plan = _plan(context, run, job, dedup)
    if plan is not None:
        yield plan
    yield from _datasets(context, run, job, dedup)
    yield _end(context, run, job, digest)


def _datasets(context: EventContext, run: BatchRun, job: JobRef, dedup: DedupCache) -> Iterator[LineageEvent]:
    if run.error is None:
        for body in dataset_bodies(run.write.description):
            if body.lifecycle is not None or dedup.add(("dataset", body.dataset, hash_of(body))):
                yield context.dataset(body, job=job, run_id=run.run_id, at=run.ended_at)


def _end(context: EventContext, run: BatchRun, job: JobRef, digest: str | None) -> LineageEvent:
    end = RunEvent(
        type=RunEventType.COMPLETE if run.error is None else RunEventType.FAIL,
        processing_type=ProcessingType.BATCH,
        inputs=run.write.inputs(),
        outputs=run.write.outputs(),
        started_at=run.started_at,
        ended_at=run.ended_at,
        versions=context.versions,
        parent=context.parent,
        root=context.root,
        error=run.error,
        # A failed write may have left anything behind: nothing is claimed.
        publication=PublicationState.PUBLISHED if run.error is None else PublicationState.UNKNOWN,
        plan_digest=digest,
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
        # No list of outputs, empty or not, could record that.
        facets[UNKNOWN_OUTPUTS] = {
            "kind": "UNKNOWN",
            "command": description.command,
            "reason": description.lineage.incomplete_reason,
        }
    return {name: json.dumps({"_producer": producer, **facet}, sort_keys=True) for name, facet in facets.items()}


def job_events(
    context: EventContext, job: JobRef, processing: ProcessingType, job_type: str, at: datetime, dedup: DedupCache
) -> Iterator[LineageEvent]:
    """A job's own facts, once per application attempt."""
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
    """A digest of a frozen body whose facets are a dict, which `hash` alone doesn't take."""
    return hash(repr(body))
