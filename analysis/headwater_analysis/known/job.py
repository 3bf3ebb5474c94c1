"""Details of one job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from headwater_analysis.assets import Asset
from headwater_analysis.declared import Declared, declared_together
from headwater_analysis.facets import Facet, facets_of
from headwater_analysis.identity import Identities
from headwater_analysis.known.dataset import MOST_RUNS
from headwater_analysis.known.tags_and_uses import (
    AssetTag,
    JobDataset,
    dataset_use,
    tags_of,
)
from headwater_analysis.moments import moment
from headwater_analysis.owners import OwnerName, owners_of
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_job
from headwater_analysis.runs.last_good_run import quality_turns
from headwater_analysis.runs.list_runs import ask_runs
from headwater_analysis.runs.records import QualityTurn, Role, RunItem
from headwater_analysis.texts import TEXT
from headwater_graph.keys import retention_key

MOST_DATASETS = 100
MOST_QUERIES = 100
MOST_JUDGED = 20
"""Maximum number of queries whose quality is shown."""


@dataclass(frozen=True, slots=True)
class Source:
    """Location of a job's code.

    Attributes:
        type: type of the location, such as `git`.
        url, repo, path, version, branch: location and version of the code, where known.
    """

    type: str | None
    url: str | None
    repo: str | None
    path: str | None
    version: str | None
    branch: str | None


@dataclass(frozen=True, slots=True)
class KnownPlan:
    """Latest column lineage of a job.

    Attributes:
        digest: digest of the column lineage.
        complete: whether the column lineage is complete; None: unknown.
        incomplete_reason: reason why the column lineage is incomplete.
        edges: number of edges.
        first_seen, last_seen: first and last observation.
    """

    digest: str
    complete: bool | None
    incomplete_reason: str | None
    edges: int | None
    first_seen: datetime | None
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class KnownQuery:
    """A streaming query of a job.

    Attributes:
        query_id: Spark's id, constant over restarts.
        name: name of the query, if any.
        checkpoint_location: location of its checkpoint.
        first_batch, last_batch: the lowest and highest micro-batch known.
        first_seen, last_seen: the span in which it was observed.
    """

    query_id: str
    name: str | None
    checkpoint_location: Annotated[str | None, TEXT]
    first_batch: int | None
    last_batch: int | None
    first_seen: datetime | None
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class KnownRetention:
    """Retention of a job's individually stored micro-batches.

    Attributes:
        summarized_before: time before which micro-batches are only in summaries.
        dropped_before: time before which micro-batches are dropped.
    """

    summarized_before: datetime | None
    dropped_before: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobDetails:
    """Details of one job.

    Attributes:
        job: the job.
        description: description, if any.
        job_type: type of the job, such as SPARK_JOB.
        integration: reporting integration, such as SPARK.
        owners: owners of the job.
        tags: tags of the job.
        criticality: criticality that its own events report.
        declared: declarations of the job; None if there are none.
        source: location of its code; None if unknown.
        inputs: datasets that it reads, the last seen first; at most 100.
        inputs_total: number of datasets that it reads.
        outputs: datasets that it writes, the last seen first; at most 100.
        outputs_total: number of datasets that it writes.
        plan: its latest column lineage.
        queries: its streaming queries, the last seen first; at most 100.
        runs: latest runs, at most 5.
        quality: changes between passing and failing assertions of each of its streaming queries; at most 20 queries.
        retention: times before which micro-batches are summarized or dropped; None: all are stored individually.
        first_seen, last_seen: the span in which it was observed.
        facets: further facets of the job in events.
    """

    job: Asset
    description: str | None
    job_type: str | None
    integration: str | None
    owners: tuple[OwnerName, ...]
    tags: tuple[AssetTag, ...]
    criticality: str | None
    declared: Declared | None
    source: Source | None
    inputs: tuple[JobDataset, ...]
    inputs_total: int
    outputs: tuple[JobDataset, ...]
    outputs_total: int
    plan: KnownPlan | None
    queries: tuple[KnownQuery, ...]
    runs: tuple[RunItem, ...]
    quality: tuple[QualityTurn, ...]
    retention: KnownRetention | None
    first_seen: datetime | None
    last_seen: datetime | None
    facets: Annotated[tuple[Facet, ...], TEXT]


def job_details(reader: Reader, text: str) -> JobDetails:
    """Return the details of the job that `text` names.

    Raises:
        NotFoundError: no job has this name; with the nearest names.
        AmbiguousError: several jobs have this name.
    """
    return reader.read(lambda tx: details_of(tx, resolve_job(tx, text).asset))


def details_of(tx: Transaction, asset: Asset) -> JobDetails:
    """Return the details of a resolved job."""
    row = tx.one("known/job", key=asset.key, most=MOST_QUERIES)
    own = row["properties"]
    source = Source(*(own.get(f"source_{name}") or None for name in Source.__slots__))
    inputs, inputs_total = _datasets(tx, asset, "READS", row["inputs_total"])
    outputs, outputs_total = _datasets(tx, asset, "WRITES", row["outputs_total"])
    return JobDetails(
        job=asset,
        **{name: own.get(name) or None for name in ("description", "job_type", "integration", "criticality")},
        owners=owners_of(own),
        tags=tags_of(own),
        declared=declared_together(tx, [asset.key]),
        source=source if source != Source(*[None] * len(Source.__slots__)) else None,
        inputs=inputs,
        inputs_total=inputs_total,
        outputs=outputs,
        outputs_total=outputs_total,
        plan=_plan(tx, row["plan"]) if row["plan"] is not None else None,
        queries=tuple(KnownQuery(**_seen(query)) for query in row["queries"]),
        runs=tuple(ask_runs(tx, "of", asset, Role.WROTE, limit=MOST_RUNS)),
        quality=quality_turns(tx, asset, most=MOST_JUDGED),
        retention=_retention(tx, asset),
        first_seen=moment(own.get("first_seen")),
        last_seen=moment(own.get("last_seen")),
        facets=facets_of(own),
    )


def _plan(tx: Transaction, row: Mapping[str, Any]) -> KnownPlan:
    shown = _seen({name: value for name, value in row.items() if name != "key"})
    if tx.visible is not None and shown["edges"] is not None:
        # The stored number also counts edges of hidden columns.
        shown["edges"] = tx.one("known/edges_seen", plan=row["key"])["edges"]
    return KnownPlan(**shown)


def _retention(tx: Transaction, job: Asset) -> KnownRetention | None:
    """Latest days of retention across the job's scopes: the job, its namespace, and all jobs."""
    scopes = ((None, None), (job.namespace, None), (job.namespace, job.name))
    row = tx.one("known/retention", keys=[retention_key(tx.tenant, *scope) for scope in scopes])
    found = KnownRetention(moment(row["summarized_before"]), moment(row["dropped_before"]))
    return None if found == KnownRetention(None, None) else found


def _datasets(tx: Transaction, job: Asset, link: str, names: int) -> tuple[tuple[JobDataset, ...], int]:
    """Datasets that a job reads or writes, each once even if it has several names, and their number."""
    rows = tx.rows("known/datasets_of_job", key=job.key, link=link, most=MOST_DATASETS)
    identities = Identities.of(tx)
    identities.look_at(row["dataset"]["key"] for row in rows)
    uses: dict[str, JobDataset] = {}
    for use in map(dataset_use, rows):
        shown = identities.shown(use.dataset.key)
        named = identities.named(shown)
        known = use if named is None else replace(use, dataset=named.asset, gone=named.dropped)
        uses[shown] = _joined(uses[shown], known) if shown in uses else known
    return tuple(uses.values()), names - (len(rows) - len(uses))


def _joined(one: JobDataset, other: JobDataset) -> JobDataset:
    return replace(
        one,
        observed=one.observed or other.observed,
        declared=one.declared or other.declared,
        first_seen=min(filter(None, (one.first_seen, other.first_seen)), default=None),
        last_seen=max(filter(None, (one.last_seen, other.last_seen)), default=None),
    )


def _seen(row: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of an answer from a row, with the observed span as Python's times."""
    return {**row, "first_seen": moment(row["first_seen"]), "last_seen": moment(row["last_seen"])}
