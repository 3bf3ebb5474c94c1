"""Builder of a delta during a fold: nodes are created at their first mention.

The module also makes the registers that several kinds of event share: owners, tags, versions, facets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from headwater_graph import keys
from headwater_graph.facts.declarations import SetFacts
from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.incidents import IncidentFacts
from headwater_graph.facts.model import RelType
from headwater_graph.facts.nodes import (
    DatasetFacts,
    Evidence,
    IntervalFacts,
    Link,
    NodeFacts,
    OfDatasetFacts,
    PlanFacts,
    QueryFacts,
    RetentionFacts,
    RunFacts,
    TimeSpan,
)
from headwater_graph.facts.registers import FACET, Cell, Props, Registers
from headwater_graph.keys import query_key
from headwater_graph.words import (
    consumer_words,
    dataset_title,
    dataset_words,
    id_start,
    job_words,
    text_words,
)
from headwater_schemas.events import (
    DatasetRef,
    JobRef,
    Owner,
    ParentRun,
    QualityResult,
    Tag,
    Versions,
)


class Builder:
    """Accumulator of base facts. Each method returns the facts of one node, created if new."""

    def __init__(self) -> None:
        self.delta = GraphDelta()

    def job(self, tenant: str, job: JobRef) -> tuple[str, NodeFacts]:
        """Add a job; return its key and its facts."""
        key = keys.job_key(tenant, job.namespace, job.name)
        node = self.delta.jobs.get(key)
        if node is None:
            identity: Props = {"key": key, "name": job.name, "tenant": tenant, "namespace": job.namespace}
            identity |= keys.owned(tenant, "job", job.namespace, key)
            node = self.delta.jobs[key] = NodeFacts({**identity, "_words": job_words(tenant, job.namespace, job.name)})
        return key, node

    def dataset(self, tenant: str, dataset: DatasetRef) -> tuple[str, DatasetFacts]:
        """Add a dataset; return its key and its facts."""
        key = keys.dataset_key(tenant, dataset.namespace, dataset.name)
        node = self.delta.datasets.get(key)
        if node is None:
            identity: Props = {
                "key": key,
                "name": dataset.name,
                "title": dataset_title(dataset.name),
                "tenant": tenant,
                "namespace": dataset.namespace,
                "_words": dataset_words(tenant, dataset.namespace, dataset.name),
                **keys.owned(tenant, "dataset", dataset.namespace, key),
            }
            node = self.delta.datasets[key] = DatasetFacts(identity)
        return key, node

    def alias(self, tenant: str, namespace: str, name: str) -> None:
        """Add an alias: another name of a dataset."""
        key = keys.alias_key(tenant, namespace, name)
        if key not in self.delta.aliases:
            dataset, marks = keys.dataset_key(tenant, namespace, name), dataset_words(tenant, namespace, name)
            identity: Props = {"key": key, "name": name, "tenant": tenant, "namespace": namespace, "dataset": dataset}
            self.delta.aliases[key] = NodeFacts({**identity, "_words": marks})

    def query(self, tenant: str, query_id: str) -> tuple[str, QueryFacts]:
        """Add a streaming query; return its key and its facts."""
        key = keys.query_key(tenant, query_id)
        node = self.delta.queries.get(key)
        if node is None:
            node = self.delta.queries[key] = QueryFacts(
                {"key": key, "name": query_id, "tenant": tenant, "query_id": query_id}
            )
        return key, node

    def run(self, tenant: str, run_id: str) -> tuple[str, RunFacts]:
        """Add a run; return its key and its facts."""
        key = keys.run_key(tenant, run_id)
        node = self.delta.runs.get(key)
        if node is None:
            identity: Props = {"key": key, "name": run_id, "tenant": tenant, "run_id": run_id}
            node = self.delta.runs[key] = RunFacts({**identity, "_id_start": id_start(tenant, run_id)})
        return key, node

    def plan(self, tenant: str, job_key: str, job: JobRef, digest: str) -> tuple[str, PlanFacts]:
        """Add a plan of a job; return its key and its facts."""
        key = keys.plan_key(tenant, job_key, digest)
        node = self.delta.plans.get(key)
        if node is None:
            identity: Props = {"key": key, "name": f"{job.name} {digest[:8]}", "tenant": tenant, "digest": digest}
            identity |= {"job": job_key, **keys.owned(tenant, "job", job.namespace, job_key)}
            node = self.delta.plans[key] = PlanFacts(identity, job=job_key)
        return key, node

    def version(self, tenant: str, dataset_key: str, format_: str, version: str) -> OfDatasetFacts:
        """Add a version of a dataset; return its facts."""
        key = keys.version_key(tenant, dataset_key, format_, version)
        node = self.delta.versions.get(key)
        if node is None:
            identity: Props = {"key": key, "name": version, "tenant": tenant, "dataset": dataset_key}
            identity |= {"format": format_, "version": version, **self._owner(dataset_key)}
            node = self.delta.versions[key] = OfDatasetFacts(identity, dataset=dataset_key)
        return node

    def schema(self, tenant: str, dataset_key: str, version: Props) -> OfDatasetFacts:
        """Add a schema of a dataset, given its digest and its columns in lists; return its facts."""
        digest = str(version["digest"])
        key = keys.schema_key(tenant, dataset_key, digest)
        node = self.delta.schemas.get(key)
        if node is None:
            identity: Props = {"key": key, "name": digest[:8], "tenant": tenant, "dataset": dataset_key, **version}
            node = self.delta.schemas[key] = OfDatasetFacts(identity | self._owner(dataset_key), dataset=dataset_key)
        return node

    def interval(self, tenant: str, query_key: str, query_id: str, batch_id: int) -> IntervalFacts:
        """Add a micro-batch of a query; return its facts."""
        key = keys.interval_key(tenant, query_key, batch_id)
        node = self.delta.intervals.get(key)
        if node is None:
            identity = keys.interval_identity(key, tenant, query_key, query_id, batch_id)
            node = self.delta.intervals[key] = IntervalFacts(identity, query_key, batch_id)
        return node

    def retention(self, tenant: str, namespace: str | None, job: str | None) -> RetentionFacts:
        """Add a retention scope (all jobs, the jobs of a namespace, or one job); return its facts."""
        key = keys.retention_key(tenant, namespace, job)
        node = self.delta.retentions.get(key)
        if node is None:
            scope = {name: value for name, value in (("namespace", namespace), ("job", job)) if value is not None}
            shown = "all jobs" if namespace is None else f"{namespace}.{job}" if job is not None else namespace
            node = self.delta.retentions[key] = RetentionFacts({"key": key, "name": shown, "tenant": tenant, **scope})
        return node

    def consumer(self, tenant: str, name: str) -> tuple[str, NodeFacts]:
        """Add a consumer; return its key and its facts."""
        key = keys.consumer_key(tenant, name)
        node = self.delta.consumers.get(key)
        if node is None:
            identity: Props = {"key": key, "name": name, "tenant": tenant, "_words": consumer_words(tenant, name)}
            node = self.delta.consumers[key] = NodeFacts(identity | keys.owned(tenant, "consumer", "", key))
        return key, node

    def declaration_set(self, tenant: str, set_: str) -> tuple[str, SetFacts]:
        """Add a declaration set; return its key and its facts."""
        key = keys.declaration_set_key(tenant, set_)
        node = self.delta.declaration_sets.get(key)
        if node is None:
            node = self.delta.declaration_sets[key] = SetFacts({"key": key, "name": set_, "tenant": tenant})
        return key, node

    def incident(self, tenant: str, incident: str) -> IncidentFacts:
        """Add an incident; return its facts."""
        key = keys.incident_key(tenant, incident)
        node = self.delta.incidents.get(key)
        if node is None:
            node = self.delta.incidents[key] = IncidentFacts(
                {"key": key, "name": incident, "tenant": tenant, "incident": incident}
            )
        return node

    def _owner(self, dataset: str) -> Props:
        return keys.owner_of(self.delta.datasets[dataset].identity)

    def link(
        self,
        type_: RelType,
        start: str,
        end: str,
        time: datetime | None,
        via: str = "",
        evidence: Evidence = Evidence.OBSERVED,
        *,
        last: datetime | None = None,
    ) -> None:
        """Add a relationship seen at `time`, from `time` to `last`, or at an unknown time."""
        link = Link(type_, start, end, via, evidence)
        span = self.delta.links.get(link)
        if span is None:
            self.delta.links[link] = span = TimeSpan()
        span.see(time, last or time)


def put(registers: Registers, stamp: str, **cells: Cell | None) -> None:
    """Set registers to these values; None leaves its register unchanged."""
    for name, cell in cells.items():
        if cell is not None:
            registers[name] = (stamp, cell)


def owners_cell(owners: Iterable[Owner] | None) -> Props | None:
    """Convert owners to sorted parallel lists. Empty lists clear the register; None leaves it unset."""
    if owners is None:
        return None
    rows = sorted({(owner.name, owner.type or "") for owner in owners})
    names = [name for name, _ in rows]
    return {"owners": names, "owner_types": [type_ for _, type_ in rows], "_owner_words": text_words(names)}


def tags_cell(tags: Iterable[Tag] | None) -> Props | None:
    """Convert tags to sorted parallel lists. Empty lists clear the register; None leaves it unset."""
    if tags is None:
        return None
    rows = sorted({(tag.key, tag.value or "", tag.source or "", tag.field or "") for tag in tags})
    return {
        "tags": [row[0] for row in rows],
        "tag_values": [row[1] for row in rows],
        "tag_sources": [row[2] for row in rows],
        "tag_fields": [row[3] for row in rows],
        "_tag_words": text_words(text for row in rows for text in row[:2]),
    }


def put_versions(registers: Registers, stamp: str, versions: Versions | None) -> None:
    """Fill the registers of code, configuration, engine and capture."""
    if versions is None:
        return
    put(registers, stamp, code_version=versions.code, config_version=versions.config, capture_version=versions.capture)
    if (engine := versions.engine) is not None:
        put(registers, stamp, engine={"engine": engine.name, "engine_version": engine.version})


def put_facets(registers: Registers, stamp: str, facets: Mapping[str, str]) -> None:
    """Fill a register for each facet; an empty text clears the register."""
    for name, text in facets.items():
        registers[FACET + name] = (stamp, text)


def job_cell(tenant: str, job: JobRef, run_id: str) -> Props:
    """Register `job` of a run: the job, and the run's display name."""
    shown: Props = {"job_name": job.name, "job_namespace": job.namespace, "name": f"{job.name} {run_id[:8]}"}
    return shown | asset_cell(tenant, job)


def asset_cell(tenant: str, job: JobRef) -> Props:
    """Access-control properties of a run or query: the properties of its job."""
    return keys.owned(tenant, "job", job.namespace, keys.job_key(tenant, job.namespace, job.name))


def query_cell(tenant: str, query_id: str | None) -> Props | None:
    """Register `query_id` of a run: id, and key for an index, which doesn't accept ids of every length."""
    return None if query_id is None else {"query_id": query_id, "_query": query_key(tenant, query_id)}


def campaign_cell(tenant: str, campaign: str | None) -> Props | None:
    """Return the campaign of a run, with its key: an index can't take every length of an id."""
    return None if campaign is None else {"campaign": campaign, "_campaign": keys.campaign_key(tenant, campaign)}


def parent_cell(parent: ParentRun | None, role: str) -> Props | None:
    """Register of a run's parent or root run; `role` is "parent" or "root"."""
    if parent is None:
        return None
    return {
        f"{role}_run_id": parent.run_id,
        f"{role}_job_namespace": parent.job.namespace,
        f"{role}_job_name": parent.job.name,
    }


def quality_cell(results: Iterable[QualityResult], job: str | None = None) -> Props | None:
    """Convert outcomes of assertions to sorted parallel lists; lists without any value are left out.

    Args:
        job: for a run, the job's key. An index over this key finds the runs of a job that have outcomes.
    """
    rows = sorted({_outcome(result) for result in results})
    if not rows:
        return None
    lists: dict[str, Any] = {name: [row[index] for row in rows] for index, name in enumerate(_OUTCOME)}
    present = {name: cell for name, cell in lists.items() if name in _ALWAYS or any(cell)}
    return present if job is None else present | {"_checked": job}


_OUTCOME = (
    *("quality_assertions", "quality_columns", "quality_passed", "quality_values"),
    *("quality_namespaces", "quality_datasets", "quality_rules", "quality_severities", "quality_suites"),
    "quality_suite_versions",
)
_ALWAYS = frozenset(_OUTCOME[:4])


def _outcome(result: QualityResult) -> tuple[str | bool, ...]:
    dataset = result.dataset
    return (
        *(result.assertion, result.column or "", result.passed, "" if result.value is None else repr(result.value)),
        *(("", "") if dataset is None else (dataset.namespace, dataset.name)),
        *(result.rule or "", result.severity or "", result.suite or "", result.suite_version or ""),
    )


def known(symbol: StrEnum | None) -> str | None:
    """Return an enum's value, or None for UNKNOWN, which isn't stored."""
    return None if symbol is None or symbol.value == "UNKNOWN" else symbol.value
