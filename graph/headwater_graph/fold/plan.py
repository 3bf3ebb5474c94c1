"""PlanEvent: the edges of a plan, its columns, and the datasets that feed others."""

from __future__ import annotations

from headwater_graph.facts.model import RelType
from headwater_graph.facts.nodes import ColumnFacts, PlanFacts
from headwater_graph.facts.registers import Props, join
from headwater_graph.fold.builder import Builder
from headwater_graph.fold.repeated import Repeated
from headwater_schemas.events import ColumnLineage, JobRef, PlanEvent


def fold_plan(into: Builder, body: PlanEvent, job: JobRef, events: Repeated) -> None:
    """Fold a PlanEvent, the common body of `events`. Each event is an observation of the plan."""
    tenant, first, last = events.tenant, events.first, events.last
    job_key, job_node = into.job(tenant, job)
    job_node.seen.see(first, last)
    _, plan = into.plan(tenant, job_key, job, body.digest)
    plan.seen.see(first, last)
    edges = body.lineage.edges
    datasets = fold_lineage(into, tenant, plan, body.lineage, events.stamp)
    for source, target in dataset_pairs(body.lineage, datasets):
        into.link(RelType.FEEDS, source, target, first, via=job_key, last=last)
    for output in {edge.output for edge in edges}:
        into.link(RelType.WRITES, job_key, datasets[output], first, last=last)
    for input_ in {edge.input for edge in edges if edge.input is not None}:
        into.link(RelType.READS, job_key, datasets[input_], first, last=last)


def fold_lineage(into: Builder, tenant: str, plan: PlanFacts, lineage: ColumnLineage, stamp: str) -> list[str]:
    """Add a plan's lineage and columns to `into`; return the keys of its datasets, in the lineage's order."""
    datasets = [into.dataset(tenant, dataset) for dataset in lineage.datasets]
    for edge in lineage.edges:
        for index, path in ((edge.output, edge.output_field), (edge.input, edge.input_field)):
            if index is not None and path is not None:
                columns = datasets[index][1].columns
                if path not in columns:
                    columns[path] = ColumnFacts()
    cell: Props = {
        "complete": lineage.complete,
        "edges": len(set(lineage.edges)),
        "_outputs": _outputs(lineage, [key for key, _ in datasets]),
        "expression_ids": [expression.id for expression in sorted(lineage.expressions)],
        "expressions": [expression.text for expression in sorted(lineage.expressions)],
    }
    if lineage.incomplete_reason is not None:
        cell["incomplete_reason"] = lineage.incomplete_reason
    join(plan.registers, {"lineage": (stamp, cell)})
    if plan.lineage is None:
        plan.lineage = lineage
    return [key for key, _ in datasets]


def _outputs(lineage: ColumnLineage, datasets: list[str]) -> list[str]:
    """Keys of the datasets that a plan writes; for a plan without edges, all datasets that it names."""
    return sorted({datasets[edge.output] for edge in lineage.edges} or datasets)


def dataset_pairs(lineage: ColumnLineage, datasets: list[str]) -> set[tuple[str, str]]:
    """Pairs of dataset keys (source and output): by this lineage, the source feeds the output."""
    pairs = {(edge.input, edge.output) for edge in lineage.edges}
    return {(datasets[source], datasets[target]) for source, target in pairs if source is not None}
