"""JobEvent: declared facts of a job.

A declared list, such as the owners or inputs, replaces the previous list as a whole, so each list is a register.
"""

from __future__ import annotations

from collections.abc import Iterable

from headwater_graph.facts.registers import Props, Registers, join
from headwater_graph.fold.builder import Builder, known, owners_cell, put, put_facets, tags_cell
from headwater_graph.fold.plan import dataset_pairs, fold_lineage
from headwater_graph.fold.repeated import Repeated
from headwater_schemas.events import DatasetRef, JobEvent, JobRef, SourceLocation
from headwater_schemas.identity import plan_digest


def fold_job(into: Builder, body: JobEvent, job: JobRef, events: Repeated) -> None:
    """Fold a JobEvent, the common body of `events`, into `into`. No run is observed, so no span widens."""
    tenant, stamp = events.tenant, events.stamp
    job_key, node = into.job(tenant, job)
    registers: Registers = {}
    put(
        registers,
        stamp,
        processing_type=known(body.processing_type),
        integration=body.integration,
        job_type=body.job_type,
        description=body.description,
        declared_inputs=_declared(into, tenant, body.inputs),
        declared_outputs=_declared(into, tenant, body.outputs),
        owners=owners_cell(body.owners),
        tags=tags_cell(body.tags),
        criticality=body.criticality,
        source=_source(body.source),
    )
    put_facets(registers, stamp, body.facets)
    if body.lineage is not None:
        digest = plan_digest(body.lineage)
        _, plan = into.plan(tenant, job_key, job, digest)
        datasets = fold_lineage(into, tenant, plan, body.lineage, stamp)
        pairs = sorted(dataset_pairs(body.lineage, datasets))
        cell: Props = {"declared_plan": digest, "_declared_feeds": [source + target for source, target in pairs]}
        put(registers, stamp, declared_lineage=cell)
    join(node.registers, registers)


def _declared(into: Builder, tenant: str, datasets: Iterable[DatasetRef] | None) -> list[str] | None:
    if datasets is None:
        return None
    return sorted({into.dataset(tenant, dataset)[0] for dataset in datasets})


def _source(source: SourceLocation | None) -> Props | None:
    if source is None:
        return None
    parts = {
        "source_type": source.type,
        "source_url": source.url,
        "source_repo": source.repo_url,
        "source_path": source.path,
        "source_version": source.version,
        "source_branch": source.branch,
    }
    return {name: value for name, value in parts.items() if value is not None}
