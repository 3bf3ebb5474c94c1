"""Fold: a batch of events, in any order and with any repeats, becomes one GraphDelta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.nodes import RetentionFacts
from headwater_graph.facts.registers import OBSERVED, PROVENANCE_RANKS, stamp
from headwater_graph.fold.builder import Builder
from headwater_graph.fold.dataset import fold_dataset
from headwater_graph.fold.declaration import fold_declaration, fold_declaration_set
from headwater_graph.fold.incident import fold_incident
from headwater_graph.fold.interval import fold_interval
from headwater_graph.fold.job import fold_job
from headwater_graph.fold.plan import fold_plan
from headwater_graph.fold.repeated import Repeated, repeatable
from headwater_graph.fold.run import fold_run
from headwater_schemas.events import (
    DatasetEvent,
    JobRef,
    LineageEvent,
    PlanEvent,
    Provenance,
    RetentionEvent,
    RetentionMode,
)


def fold(events: Sequence[LineageEvent]) -> GraphDelta:
    """Return the joined base facts of `events`. Pure; order and repetition of events don't change the result.

    Args:
        events: events that `reject` accepts.

    Raises:
        ValueError: `reject` would have rejected one of the events.
    """
    into = Builder()
    seen: dict[str, LineageEvent] = {}
    repeated: dict[tuple[int, str, JobRef | None], Repeated] = {}
    duplicates = stale = 0
    for event in events:
        before = seen.setdefault(event.event_id, event)
        if before is not event:
            # Nearly always, the same event was delivered twice. Equal reports are left out; different reports are
            # joined.
            if before == event:
                duplicates += 1
                continue
            stale += 1
        _fold_later(into, repeated, event)
    for each in repeated.values():
        _fold_repeated(into, each)
    return replace(into.delta, events=len(events), duplicates=duplicates, stale=stale)


def _fold_later(into: Builder, repeated: dict[tuple[int, str, JobRef | None], Repeated], event: LineageEvent) -> None:
    """Fold an event; if other events may share its body, only add it to `repeated`.

    Bodies are compared by object id. The ids stay unique, because `fold` keeps all events in memory.
    """
    shared = repeatable(event)
    if shared is None:
        fold_event(into, event)
        return
    body, job = shared
    if job is None and event.job is not None:
        into.job(event.tenant, event.job)
    mark, group = stamp(event.event_time, event.event_id), (id(body), event.tenant, job)
    if (known := repeated.get(group)) is None:
        repeated[group] = Repeated(event, body, job, mark)
    else:
        known.see(mark, event.event_time)


def _fold_repeated(into: Builder, events: Repeated) -> None:
    body, job = events.body, events.job
    if isinstance(body, DatasetEvent):
        fold_dataset(into, body, events)
    elif job is None:
        raise ValueError("a PLAN or JOB event without its job")
    elif isinstance(body, PlanEvent):
        fold_plan(into, body, job, events)
    else:
        fold_job(into, body, job, events)


def fold_event(into: Builder, event: LineageEvent) -> None:
    """Fold one event into `into`."""
    mark = stamp(event.event_time, event.event_id, _provenance_rank(event))
    if event.run_event is not None and event.job is not None and event.run is not None:
        fold_run(into, event, event.run_event, event.job, event.run.run_id, mark)
    elif event.interval_event is not None and event.job is not None:
        fold_interval(into, event, event.interval_event, event.job, mark)
    elif event.plan_event is not None and event.job is not None:
        fold_plan(into, event.plan_event, event.job, Repeated(event, event.plan_event, event.job, mark))
    elif event.job_event is not None and event.job is not None:
        fold_job(into, event.job_event, event.job, Repeated(event, event.job_event, event.job, mark))
    elif event.dataset_event is not None:
        if event.job is not None:
            into.job(event.tenant, event.job)
        fold_dataset(into, event.dataset_event, Repeated(event, event.dataset_event, None, mark))
    else:
        _fold_without_job(into, event, mark)


def _fold_without_job(into: Builder, event: LineageEvent, mark: str) -> None:
    if event.retention_event is not None:
        fold_retention(into, event, event.retention_event)
    elif event.declaration_event is not None:
        fold_declaration(into, event, event.declaration_event, mark)
    elif event.declaration_set_event is not None:
        fold_declaration_set(into, event, event.declaration_set_event, mark)
    elif event.incident_event is not None:
        fold_incident(into, event, event.incident_event, mark)
    else:
        raise ValueError(f"kind {event.kind!r} without its body, job or run")


def _provenance_rank(event: LineageEvent) -> int:
    """Return the rank of an event's provenance. Run events without a provenance count as observed."""
    if event.interval_event is not None:
        return PROVENANCE_RANKS[event.interval_event.provenance]
    if event.run_event is not None and event.run_event.provenance is Provenance.RECONCILED:
        return PROVENANCE_RANKS[Provenance.RECONCILED]
    return OBSERVED


def fold_retention(into: Builder, event: LineageEvent, body: RetentionEvent) -> None:
    """Fold a RetentionEvent into `into`."""
    scope = into.retention(event.tenant, body.namespace, body.job)
    if body.mode is RetentionMode.DROP:
        scope.join(RetentionFacts({}, drop_before=body.before))
    else:
        scope.join(RetentionFacts({}, summarize_before=body.before))
