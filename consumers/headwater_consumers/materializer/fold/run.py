"""RunEvent: registers and uses of its run; the spans of its job and plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.graph.model import RelType
from headwater_consumers.materializer.fold.builder import Builder, put
from headwater_consumers.materializer.fold.common import job_cell, known, parent_cell, put_facets, put_versions
from headwater_consumers.materializer.fold.facts import join_uses
from headwater_consumers.materializer.fold.registers import Props, Registers, join
from headwater_consumers.materializer.fold.uses import fold_uses
from headwater_schemas.events import JobRef, LineageEvent, ParentRun, RunError, RunEvent, RunEventType

if TYPE_CHECKING:
    from datetime import datetime


def fold_run(into: Builder, event: LineageEvent, body: RunEvent, job: JobRef, run_id: str, stamp: str) -> None:
    """Put what a RunEvent says into `into`."""
    tenant, time = event.tenant, event.event_time
    job_key, job_node = into.job(tenant, job)
    job_node.seen.see(time, time)
    of_job: Registers = {}
    put(of_job, stamp, processing_type=known(body.processing_type))
    put_facets(of_job, stamp, body.job_facets)
    join(job_node.registers, of_job)

    run_key, run = into.run(tenant, run_id)
    run.jobs.add(job_key)
    run.seen.see(time, time)
    join(run.registers, _registers(event, body, job, run_id, stamp))
    join_uses(run.uses, fold_uses(into, tenant, RelType.CONSUMED, body.inputs, stamp))
    join_uses(run.uses, fold_uses(into, tenant, RelType.PRODUCED, body.outputs, stamp))

    for above in (body.parent, body.root):
        if above is not None:
            fold_mention(into, tenant, above, stamp)
    if body.query_id is not None:
        query_key, query = into.query(tenant, body.query_id)
        run.queries.add(query_key)
        query.jobs.add(job_key)
        query.seen.see(time, time)
        of_query: Registers = {}
        put(of_query, stamp, checkpoint_location=body.checkpoint_location)
        join(query.registers, of_query)
        for type_, uses in ((RelType.READS, body.inputs), (RelType.WRITES, body.outputs)):
            for use in uses:
                into.link(type_, query_key, into.dataset(tenant, use.dataset)[0], time)
    if body.plan_digest is not None:
        plan_key, plan = into.plan(tenant, job_key, job, body.plan_digest)
        plan.seen.see(time, time)
        into.link(RelType.USED, run_key, plan_key, time)


def fold_mention(into: Builder, tenant: str, above: ParentRun, stamp: str) -> None:
    """A run that another names as its parent or root: it is there, and of that job; nothing was observed of it."""
    job_key, _ = into.job(tenant, above.job)
    _, run = into.run(tenant, above.run_id)
    run.jobs.add(job_key)
    # As certain as nothing else: what the run's own events say of its job wins.
    join(run.registers, {"job": ("0" + stamp[1:], job_cell(above.job, above.run_id))})


def _registers(event: LineageEvent, body: RunEvent, job: JobRef, run_id: str, stamp: str) -> Registers:
    out: Registers = {}
    put(
        out,
        stamp,
        job=job_cell(job, run_id),
        state=_state(body, event.event_time),
        processing_type=known(body.processing_type),
        started_at=body.started_at or (event.event_time if body.type is RunEventType.START else None),
        nominal_start=body.nominal_start,
        nominal_end=body.nominal_end,
        parent=parent_cell(body.parent, "parent"),
        root=parent_cell(body.root, "root"),
        error=_error(body.error),
        publication=known(body.publication),
        plan_digest=body.plan_digest,
        query_id=body.query_id,
        checkpoint_location=body.checkpoint_location,
        producer=event.producer,
    )
    put_versions(out, stamp, body.versions)
    put_facets(out, stamp, body.run_facets)
    return out


def _state(body: RunEvent, event_time: datetime) -> Props:
    state: Props = {"state": body.type.value}
    if body.type.is_terminal:
        state["ended_at"] = body.ended_at or event_time
    return state


def _error(error: RunError | None) -> Props | None:
    if error is None:
        return None
    cell: Props = {"error_message": error.message}
    if error.type is not None:
        cell["error_type"] = error.type
    if error.stack_trace is not None:
        cell["error_stack"] = error.stack_trace
    return cell
