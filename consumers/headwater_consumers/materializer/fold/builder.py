"""The delta being folded: nodes are made at their first mention, whatever the mention is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.facts.delta import GraphDelta
from headwater_consumers.facts.nodes import (
    DatasetFacts,
    IntervalFacts,
    Link,
    NodeFacts,
    PlanFacts,
    QueryFacts,
    RunFacts,
    Span,
    VersionFacts,
)
from headwater_consumers.graph import keys
from headwater_consumers.graph.titles import dataset_title
from headwater_consumers.graph.words import dataset_words, id_start, job_words

if TYPE_CHECKING:
    from datetime import datetime

    from headwater_consumers.facts.model import RelType
    from headwater_consumers.facts.registers import Cell, Props, Registers
    from headwater_schemas.events import DatasetRef, JobRef


class Builder:
    """Where the rules of the bodies put their facts. Each method returns the facts of one node, made if need be."""

    def __init__(self) -> None:
        self.delta = GraphDelta()

    def job(self, tenant: str, job: JobRef) -> tuple[str, NodeFacts]:
        """A job and its key."""
        key = keys.job_key(tenant, job.namespace, job.name)
        node = self.delta.jobs.get(key)
        if node is None:
            identity: Props = {"key": key, "name": job.name, "tenant": tenant, "namespace": job.namespace}
            node = NodeFacts({**identity, "_words": job_words(tenant, job.namespace, job.name)})
            self.delta.jobs[key] = node
        return key, node

    def dataset(self, tenant: str, dataset: DatasetRef) -> tuple[str, DatasetFacts]:
        """A dataset and its key."""
        key = keys.dataset_key(tenant, dataset.namespace, dataset.name)
        node = self.delta.datasets.get(key)
        if node is None:
            title = dataset_title(dataset.name)
            identity: Props = {
                "key": key,
                "name": dataset.name,
                "title": title,
                "tenant": tenant,
                "namespace": dataset.namespace,
                "_words": dataset_words(tenant, dataset.namespace, dataset.name),
            }
            node = DatasetFacts(identity)
            self.delta.datasets[key] = node
        return key, node

    def alias(self, tenant: str, namespace: str, name: str) -> None:
        """A name that some dataset is known by besides its own."""
        key = keys.alias_key(tenant, namespace, name)
        if key not in self.delta.aliases:
            dataset, marks = keys.dataset_key(tenant, namespace, name), dataset_words(tenant, namespace, name)
            identity: Props = {"key": key, "name": name, "tenant": tenant, "namespace": namespace, "dataset": dataset}
            self.delta.aliases[key] = NodeFacts({**identity, "_words": marks})

    def query(self, tenant: str, query_id: str) -> tuple[str, QueryFacts]:
        """A streaming query and its key."""
        key = keys.query_key(tenant, query_id)
        node = self.delta.queries.get(key)
        if node is None:
            node = QueryFacts({"key": key, "name": query_id, "tenant": tenant, "query_id": query_id})
            self.delta.queries[key] = node
        return key, node

    def run(self, tenant: str, run_id: str) -> tuple[str, RunFacts]:
        """A run and its key."""
        key = keys.run_key(tenant, run_id)
        node = self.delta.runs.get(key)
        if node is None:
            identity: Props = {"key": key, "name": run_id, "tenant": tenant, "run_id": run_id}
            node = RunFacts({**identity, "_id_start": id_start(tenant, run_id)})
            self.delta.runs[key] = node
        return key, node

    def plan(self, tenant: str, job_key: str, job: JobRef, digest: str) -> tuple[str, PlanFacts]:
        """A plan of a job and its key."""
        key = keys.plan_key(tenant, job_key, digest)
        node = self.delta.plans.get(key)
        if node is None:
            identity = {"key": key, "name": f"{job.name} {digest[:8]}", "tenant": tenant}
            node = PlanFacts({**identity, "digest": digest, "job": job_key}, job=job_key)
            self.delta.plans[key] = node
        return key, node

    def version(self, tenant: str, dataset_key: str, format_: str, version: str) -> VersionFacts:
        """A version of the dataset with that key."""
        key = keys.version_key(tenant, dataset_key, format_, version)
        node = self.delta.versions.get(key)
        if node is None:
            identity = {"key": key, "name": version, "tenant": tenant, "dataset": dataset_key}
            node = VersionFacts({**identity, "format": format_, "version": version}, dataset=dataset_key)
            self.delta.versions[key] = node
        return node

    def interval(self, tenant: str, query_key: str, query_id: str, batch_id: int) -> IntervalFacts:
        """A micro-batch of the query with that key."""
        key = keys.interval_key(tenant, query_key, batch_id)
        node = self.delta.intervals.get(key)
        if node is None:
            node = IntervalFacts(
                {
                    "key": key,
                    "name": f"batch {batch_id}",
                    "tenant": tenant,
                    "query": query_key,
                    "query_id": query_id,
                    "batch_id": batch_id,
                },
                query_key,
                batch_id,
            )
            self.delta.intervals[key] = node
        return node

    def link(self, type_: RelType, start: str, end: str, time: datetime | None, via: str = "") -> None:
        """A relationship that was seen at `time`, or at a time that isn't known."""
        link = Link(type_, start, end, via)
        span = self.delta.links.get(link)
        if span is None:
            self.delta.links[link] = span = Span()
        span.see(time, time)


def put(registers: Registers, stamp: str, **cells: Cell | None) -> None:
    """Fill registers that are still unset; None leaves one unset."""
    for name, cell in cells.items():
        if cell is not None:
            registers[name] = (stamp, cell)
