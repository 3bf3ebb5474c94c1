"""RunEvent: registers and uses of its run; the spans of its job and plan."""

from __future__ import annotations

from datetime import datetime

import msgspec

from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.nodes import UNCOMMITTED, join_uses, listed_sources
from headwater_graph.facts.registers import Props, Registers, join
from headwater_graph.fold.builder import (
    Builder,
    asset_cell,
    campaign_cell,
    job_cell,
    known,
    parent_cell,
    put,
    put_facets,
    put_versions,
    quality_cell,
    query_cell,
)
from headwater_graph.fold.uses import fold_uses
from headwater_schemas.events import (
    JobRef,
    LineageEvent,
    ParentRun,
    Provenance,
    PublicationState,
    RunError,
    RunEvent,
    RunEventType,
)


def fold_run(into: Builder, event: LineageEvent, body: RunEvent, job: JobRef, run_id: str, stamp: str) -> None:
    """Fold a RunEvent into `into`."""
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
    join(run.registers, _registers(event, body, job, run_id, stamp, job_key=job_key))
    uses = _uses(into, tenant, body, stamp)
    join_uses(run.uses, uses)

    for above in (body.parent, body.root):
        if above is not None:
            fold_mention(into, tenant, above, stamp)
    if body.query_id is not None:
        query_key, query = into.query(tenant, body.query_id)
        run.queries.add(query_key)
        query.jobs.add(job_key)
        query.seen.see(time, time)
        of_query: Registers = {}
        put(of_query, stamp, asset=asset_cell(tenant, job), checkpoint_location=body.checkpoint_location)
        join(query.registers, of_query)
        for use, registers in uses.items():
            if UNCOMMITTED in registers:
                continue
            type_ = RelType.READS if use.type is RelType.CONSUMED else RelType.WRITES
            into.link(type_, query_key, use.dataset, time)
    if body.plan_digest is not None:
        plan_key, plan = into.plan(tenant, job_key, job, body.plan_digest)
        plan.seen.see(time, time)
        into.link(RelType.USED, run_key, plan_key, time)


def fold_mention(into: Builder, tenant: str, above: ParentRun, stamp: str) -> None:
    """Fold a run that another run names as its parent or root: it exists and has this job, but wasn't observed."""
    job_key, _ = into.job(tenant, above.job)
    _, run = into.run(tenant, above.run_id)
    run.jobs.add(job_key)
    # The lowest rank (0), so that a run's own report of its job wins.
    join(run.registers, {"job": ("0" + stamp[1:], job_cell(tenant, above.job, above.run_id))})


def _uses(into: Builder, tenant: str, body: RunEvent, stamp: str) -> dict[UseKey, Registers]:
    """Fold the run's inputs and outputs. The listed sources of an output count as inputs, too.

    So if a later report derives the output from all inputs, these include the listed sources (`join_uses`).
    """
    inputs = fold_uses(into, tenant, RelType.CONSUMED, body.inputs, stamp)
    outputs = fold_uses(into, tenant, RelType.PRODUCED, body.outputs, stamp)
    for registers in outputs.values():
        if _is_uncommitted(body, registers):
            registers[UNCOMMITTED] = (stamp, True)
        for source in listed_sources(registers) or ():
            inputs.setdefault(UseKey(RelType.CONSUMED, source, 0), {})
    return inputs | outputs


def _is_uncommitted(body: RunEvent, registers: Registers) -> bool:
    """Return True if nothing shows that an output was committed: its run failed, without a commit or a position."""
    committed = body.publication in {PublicationState.PUBLISHED, PublicationState.PARTIAL}
    return body.type is RunEventType.FAIL and not committed and "position" not in registers


def _registers(event: LineageEvent, body: RunEvent, job: JobRef, run_id: str, stamp: str, *, job_key: str) -> Registers:
    out: Registers = {}
    put(
        out,
        stamp,
        job=job_cell(event.tenant, job, run_id),
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
        query_id=query_cell(event.tenant, body.query_id),
        checkpoint_location=body.checkpoint_location,
        producer=event.producer,
        rows_rejected=body.rows_rejected,
        quality=quality_cell(body.quality, job_key),
    )
    if body.context is not None:
        context = msgspec.structs.asdict(body.context)
        put(out, stamp, **context | {"campaign": campaign_cell(event.tenant, body.context.campaign)})
    put_versions(out, stamp, body.versions)
    put_facets(out, stamp, body.run_facets)
    return out


def _state(body: RunEvent, event_time: datetime) -> Props:
    state: Props = {"state": body.type.value}
    if body.type.is_terminal:
        state["ended_at"] = body.ended_at or event_time
        if body.provenance is Provenance.RECONCILED:
            state["provenance"] = body.provenance.value
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
