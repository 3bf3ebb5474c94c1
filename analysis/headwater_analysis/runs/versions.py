"""Versions of a dataset, and the runs or micro-batches that produced them.

To sort the versions, the query reads one time of every version (its earliest write). It reads all other facts only of
the page's versions. Readers of a version are only counted: a static table that a stream is joined with is read by every
micro-batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from headwater_analysis import micro_batches, paging
from headwater_analysis.assets import Asset
from headwater_analysis.identity import Identities
from headwater_analysis.moments import moment
from headwater_analysis.paging import EPOCH
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_dataset
from headwater_analysis.runs.from_rows import job_of
from headwater_graph.derive import versions_used
from headwater_graph.facts.model import RelType
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.facts.properties import flatten

if TYPE_CHECKING:
    from neo4j import Record

MOST_PRODUCERS = 10
"""Maximum number of a version's producers to show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Producer:
    """A run or micro-batch that wrote a version.

    Attributes:
        at: end of the run, or processing time of the micro-batch.
        job: job of the run or micro-batch.
        run_id: id of the run; None for a micro-batch that was reconciled.
        query_id, batch_id: for a micro-batch, its query and batch.
        code_version: version of its code.
        conflict: whether the micro-batch ran again later with other offsets.
    """

    at: datetime | None
    job: Asset | None
    run_id: str | None
    query_id: str | None
    batch_id: int | None
    code_version: str | None
    conflict: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionItem:
    """A version of a dataset: a table's snapshot, or a set of files.

    Attributes:
        key: key of the node.
        format: `iceberg`, `delta`; `files` for a manifest.
        version: snapshot id, or the manifest's digest.
        parent_id: id of the previous snapshot.
        operation: append, overwrite …
        partitions: partitions that it changed.
        file_count, file_bytes: for a manifest, number and bytes of files.
        produced_at: time when it was first produced, as far as known.
        producers: runs and micro-batches that wrote it, the earliest first; at most 10.
        producers_total: number of its producers.
        readers: number of runs and micro-batches that read it.
    """

    key: str
    format: str
    version: str
    parent_id: str | None
    operation: str | None
    partitions: tuple[str, ...]
    file_count: int | None
    file_bytes: int | None
    produced_at: datetime | None
    producers: tuple[Producer, ...]
    producers_total: int
    readers: int


@dataclass(frozen=True, slots=True)
class VersionPage:
    """Versions of a dataset, the latest produced first, versions of unknown time last.

    Attributes:
        of: the dataset.
        items: versions of this page.
        total: total number of versions.
        next_cursor: cursor of the next page; None on the last page.
    """

    of: Asset
    items: tuple[VersionItem, ...]
    total: int
    next_cursor: str | None


def versions(reader: Reader, dataset: str, *, limit: int = 20, cursor: str | None = None) -> VersionPage:
    """List the versions of a dataset, the latest produced first.

    Args:
        dataset: name of the dataset.
        cursor: `next_cursor` of the page before.

    Raises:
        NotFoundError, AmbiguousError: no dataset has this name, or several have.
        QuestionError: the cursor belongs to another question.
    """

    def question(tx: Transaction) -> VersionPage:
        of = resolve_dataset(tx, dataset).asset
        asked = ("versions", tx.tenant, of.key)
        produced_at, key = paging.decode_moment(cursor, question=asked)
        page = {"made": produced_at, "key": key, "limit": limit + 1, "epoch": EPOCH}
        members = Identities.of(tx).members(of.key)
        rows = tx.rows("runs/versions", of=members, producers=MOST_PRODUCERS, **page)
        items = _items(tx, rows)
        total = tx.rows("runs/count_versions", of=members)[0]["total"]
        following = None
        if len(items) > limit:
            last = items[limit - 1]
            following = paging.encode_moment(last.produced_at, last.key, question=asked)
        return VersionPage(of, tuple(items[:limit]), total, following)

    return reader.read(question)


def latest_versions(tx: Transaction, of: Asset, most: int) -> tuple[VersionItem, ...]:
    """Latest versions of a dataset, the latest first; at most `most`."""
    page = {"made": None, "key": "", "limit": most, "epoch": EPOCH}
    return tuple(
        _items(tx, tx.rows("runs/versions", of=Identities.of(tx).members(of.key), producers=MOST_PRODUCERS, **page))
    )


def _items(tx: Transaction, rows: Sequence[Record]) -> list[VersionItem]:
    wanted = sorted({(query, batch) for row in rows for query, batches in row["segments"] for batch in batches})
    found = {(each.query, each.batch_id): each for each in micro_batches.at_batches(tx, wanted)}
    queries = sorted({query for query, _ in wanted})
    jobs = {row["key"]: row for row in tx.rows("runs/jobs_of_queries", queries=queries)}
    items = []
    for row in rows:
        producers = [(each["at"], each["key"], _of_run(tx.tenant, each)) for each in row["runs"]]
        for query, batches in row["segments"]:
            for interval in (found[query, batch] for batch in batches if (query, batch) in found):
                producers += _of_interval(tx.tenant, interval, row["version"]["key"], jobs.get(query))
        ordered = sorted(producers, key=lambda each: (each[2].at or _UNKNOWN, each[1]))
        items.append(_version(row, tuple(each for _, _, each in ordered[:MOST_PRODUCERS])))
    return items


_UNKNOWN = datetime.max.replace(tzinfo=UTC)


def _version(row: Record, producers: tuple[Producer, ...]) -> VersionItem:
    own: Mapping[str, Any] = row["version"]
    unchanged = ("key", "format", "version", "parent_id", "operation", "file_count", "file_bytes")
    return VersionItem(
        **{name: own[name] for name in unchanged},
        partitions=tuple(own["partitions"] or ()),
        produced_at=next((each.at for each in producers if each.at is not None), None),
        producers=producers,
        producers_total=row["writers"],
        readers=row["readers"],
    )


def _of_run(tenant: str, row: Mapping[str, Any]) -> Producer:
    return Producer(
        at=moment(row["at"]),
        job=job_of(tenant, row["job_namespace"], row["job_name"]),
        run_id=row["run_id"],
        query_id=None,
        batch_id=None,
        code_version=row["code_version"],
        conflict=False,
    )


def _of_interval(
    tenant: str, interval: IntervalFacts, version: str, job: Record | None
) -> list[tuple[Any, str, Producer]]:
    """Producers for each report of a micro-batch that wrote the version."""
    out = []
    for digest, variant in interval.variants.items():
        if (RelType.WROTE, version) in set(versions_used(tenant, variant.uses)):
            own = flatten(variant.registers)
            time, run_id, code = own.get("processing_time"), own.get("run_id"), own.get("code_version")
            producer = Producer(
                at=time if isinstance(time, datetime) else None,
                job=None if job is None else job_of(tenant, job["namespace"], job["name"]),
                run_id=None if run_id is None else str(run_id),
                query_id=str(interval.identity["query_id"]),
                batch_id=interval.batch_id,
                code_version=None if code is None else str(code),
                conflict=digest != interval.winner,
            )
            out.append((time, f"{interval.identity['key']} {digest}", producer))
    return out
