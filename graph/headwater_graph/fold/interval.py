"""IntervalEvent: an Interval for each entry; spans of query, run, job and plan."""

from __future__ import annotations

from datetime import datetime

from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.nodes import Variant, flow, listed_sources
from headwater_graph.facts.properties import ENTRY_REGISTERS
from headwater_graph.facts.registers import Cell, Registers, join
from headwater_graph.fold.builder import Builder, asset_cell, job_cell, known, put, put_versions, quality_cell
from headwater_graph.fold.uses import fold_uses
from headwater_schemas.events import (
    IntervalEntry,
    IntervalEvent,
    JobRef,
    LineageEvent,
    ProcessingType,
    Provenance,
)
from headwater_schemas.identity import source_end_digest


def fold_interval(into: Builder, event: LineageEvent, body: IntervalEvent, job: JobRef, stamp: str) -> None:
    """Fold an IntervalEvent into `into`.

    Times of spans are the micro-batches' processing times. If this time is unknown, the event time of an observed
    report is used. A reconciled report's event time is never used: it doesn't show when the micro-batch ran.
    """
    tenant = event.tenant
    observed = body.provenance is Provenance.OBSERVED
    run_id = event.run.run_id if event.run is not None and observed else None
    job_key, job_node = into.job(tenant, job)
    join(job_node.registers, {"processing_type": (stamp, ProcessingType.STREAMING.value)})

    query_key, query = into.query(tenant, body.query_id)
    query.jobs.add(job_key)
    of_query: Registers = {}
    if body.query_name is not None:
        put(of_query, stamp, query={"query_name": body.query_name, "name": body.query_name or body.query_id})
    put(of_query, stamp, asset=asset_cell(tenant, job), checkpoint_location=body.checkpoint_location)
    join(query.registers, of_query)
    query.batches.see(body.entries[0].batch_id, body.entries[-1].batch_id)

    shared: Registers = {}
    put(shared, stamp, provenance=body.provenance.value, reason=known(body.reason))
    put_versions(shared, stamp, body.versions)
    run_key = None
    if run_id is not None:
        run_key, run = into.run(tenant, run_id)
        run.jobs.add(job_key)
        run.queries.add(query_key)
        run.batches.see(body.entries[0].batch_id, body.entries[-1].batch_id)
        cell: Cell = {"query_id": body.query_id, "_query": query_key}
        join(run.registers, {"job": (stamp, job_cell(tenant, job, run_id)), "query_id": (stamp, cell)})
        put(shared, stamp, run={"run_id": run_id, "_run": run_key})

    for entry in body.entries:
        time = entry.processing_time or (event.event_time if observed else None)
        job_node.seen.see(time, time)
        query.seen.see(time, time)
        if run_key is not None:
            into.delta.runs[run_key].seen.see(time, time)
        variant = Variant(shared | _registers(entry, stamp))
        inputs = fold_uses(into, tenant, RelType.CONSUMED, entry.inputs, stamp)
        outputs = fold_uses(into, tenant, RelType.PRODUCED, entry.outputs, stamp)
        variant.uses = inputs | outputs
        _fold_flow(into, job_key, query_key, inputs, outputs, time)
        interval = into.interval(tenant, query_key, body.query_id, entry.batch_id)
        digest = source_end_digest(entry.inputs)
        if digest in interval.variants:
            interval.variants[digest].join(variant)
        else:
            interval.variants[digest] = variant
        if entry.plan_digest is not None:
            plan_key, plan = into.plan(tenant, job_key, job, entry.plan_digest)
            plan.seen.see(time, time)
            into.link(RelType.USED, run_key or query_key, plan_key, time)


def _fold_flow(
    into: Builder,
    job: str,
    query: str,
    inputs: dict[UseKey, Registers],
    outputs: dict[UseKey, Registers],
    time: datetime | None,
) -> None:
    consumed = {use.dataset for use in inputs}.union(*(listed_sources(each) or () for each in outputs.values()))
    for owner in (job, query):
        for source in consumed:
            into.link(RelType.READS, owner, source, time)
        for use in outputs:
            into.link(RelType.WRITES, owner, use.dataset, time)
    for link in flow(job, inputs | outputs):
        into.link(link.type, link.start, link.end, time, via=link.via, evidence=link.evidence)


def _registers(entry: IntervalEntry, stamp: str) -> Registers:
    out: Registers = {}
    put(out, stamp, **{name: getattr(entry, name) for name in ENTRY_REGISTERS}, quality=quality_cell(entry.quality))
    return out
