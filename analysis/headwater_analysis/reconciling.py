"""Streaming queries and unfinished writes in the graph, for recovery after a crash."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater_analysis import micro_batches
from headwater_analysis.micro_batches import Stretch
from headwater_analysis.moments import EVER
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.runs.from_rows import heartbeat
from headwater_graph.keys import dataset_key, query_key
from headwater_schemas.events import DatasetRef, JobRef, ParentRun, Provenance
from headwater_schemas.facets import SINK_FACET, WRITE_FACET


@dataclass(frozen=True, slots=True)
class CheckpointQuery:
    """A streaming query in the graph.

    Attributes:
        jobs: jobs that started the query; one, unless a producer is wrong.
        reads, writes: datasets of its micro-batches.
        writes_itself: whether every start of the query reported a sink that writes each micro-batch. False for
            foreachBatch, whose code may write or not.
        batches: provenance of each known micro-batch in the requested range, by batch id.
    """

    jobs: tuple[JobRef, ...]
    reads: tuple[DatasetRef, ...]
    writes: tuple[DatasetRef, ...]
    name: str | None
    writes_itself: bool
    batches: dict[int, Provenance]


def known_query(reader: Reader, query_id: str, *, until: int) -> CheckpointQuery | None:
    """Return a query by Spark's id, with its micro-batches below `until`; None if the graph doesn't have it."""

    def ask(tx: Transaction) -> CheckpointQuery | None:
        key = query_key(tx.tenant, query_id)
        row = tx.row("reconciling/query", query=key, sink_facet=SINK_FACET)
        if row is None:
            return None
        found = micro_batches.following(tx, [Stretch(key, last=until - 1)], until)[0]
        return CheckpointQuery(
            jobs=tuple(JobRef(*names) for names in row["jobs"]),
            reads=tuple(DatasetRef(*names) for names in row["reads"]),
            writes=tuple(DatasetRef(*names) for names in row["writes"]),
            name=row["name"],
            writes_itself=bool(row["sinks"]) and all(map(_writes_itself, row["sinks"])),
            batches={each.batch_id: Provenance(micro_batches.row(each)["properties"]["provenance"]) for each in found},
        )

    return reader.read(ask)


def _writes_itself(facet: str) -> bool:
    """Return whether a start's facet reports a sink without a callback; other producers' facets may lack the field."""
    try:
        return json.loads(facet).get("callback") is False
    except (ValueError, AttributeError):
        return False


@dataclass(frozen=True, slots=True)
class OpenWrite:
    """A run of a batch write without an end, in the graph.

    Attributes:
        run_id, job, parent: id, job and parent of the run.
        started_at, last_seen: start of the run, and last observation of the run.
        facet: facet of the run's START event that describes the write.
        heartbeat_seconds: interval of its heartbeats; None if unknown.
        reads: datasets that it reads.
    """

    run_id: str
    job: JobRef
    parent: ParentRun | None
    started_at: datetime
    last_seen: datetime
    facet: str
    heartbeat_seconds: float | None
    reads: tuple[DatasetRef, ...]


def open_writes(reader: Reader) -> tuple[OpenWrite, ...]:
    """List all announced batch writes without an end, the longest unseen first."""

    def ask(tx: Transaction) -> tuple[OpenWrite, ...]:
        return tuple(
            _open_write(row["run"], row) for row in tx.rows("reconciling/open_writes", before=EVER, facet=WRITE_FACET)
        )

    return reader.read(ask)


def claimed_versions(reader: Reader, dataset: DatasetRef, since: datetime) -> frozenset[str]:
    """Versions of a dataset that were written by runs or micro-batches which were seen at or after a time."""

    def ask(tx: Transaction) -> frozenset[str]:
        key = dataset_key(tx.tenant, dataset.namespace, dataset.name)
        return frozenset(row["version"] for row in tx.rows("reconciling/claimed", dataset=key, since=since))

    return reader.read(ask)


def _open_write(run: Mapping[str, Any], row: Mapping[str, Any]) -> OpenWrite:
    parent = None
    if run["parent_run_id"] is not None:
        parent = ParentRun(run["parent_run_id"], JobRef(run["parent_job_namespace"], run["parent_job_name"]))
    last_seen = run["last_seen"].to_native()
    return OpenWrite(
        run_id=run["run_id"],
        job=JobRef(run["job_namespace"], run["job_name"]),
        parent=parent,
        started_at=run["started_at"].to_native() if run["started_at"] is not None else last_seen,
        last_seen=last_seen,
        facet=row["facet"],
        heartbeat_seconds=heartbeat(row["heartbeat"]),
        reads=tuple(DatasetRef(*names) for names in row["reads"]),
    )
