"""Gaps and overlaps of streaming queries: micro-batches that skipped offsets, or read offsets again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from headwater_analysis import micro_batches
from headwater_analysis.checks.broken_chains import BrokenJoint, joints_at, suspected_beside
from headwater_analysis.incidents.detection.data_fault import (
    MOST_FAULTS,
    DataFault,
    DataFaultKind,
    FoundFaults,
    latest,
)
from headwater_analysis.incidents.detection.named import FaultyQuery, ShownDatasets, cause_text, faulty_queries
from headwater_analysis.reader import Transaction
from headwater_schemas.events import IncidentScope


def broken_chains(tx: Transaction, since: datetime) -> FoundFaults:
    """Find gaps and overlaps of micro-batches that began at `since` or later."""
    rows = tx.rows("faults/broken_segments", since=since, limit=MOST_FAULTS + 1)
    wanted = {(row["query"], batch) for row in rows for batch in row["batches"]}
    joints = joints_at(tx, wanted | suspected_beside(tx))
    missing: dict[str, int] = {}
    for row in rows:
        missing[row["query"]] = missing.get(row["query"], 0) + row["missing"]
    queries = faulty_queries(tx, {*missing, *(each.interval.query for each in joints)})
    faults: list[DataFault] = []
    untimed: dict[str, int] = {}
    for each in joints:
        key = each.interval.query
        if each.since is None:
            untimed[key] = untimed.get(key, 0) + 1
        elif each.since >= since:
            faults += _faults(tx, each, queries[key])
    unknown = [
        f"whether {count:,} missing micro-batches of query {queries[key].text} skipped or repeated offsets"
        for key, count in sorted(missing.items())
        if count
    ]
    unknown += [
        f"when {count:,} micro-batches of query {queries[key].text} ran that skipped or repeated offsets"
        for key, count in sorted(untimed.items())
    ]
    return latest(faults, more=len(rows) > MOST_FAULTS, unknown=unknown)


def _faults(tx: Transaction, joint: BrokenJoint, query: FaultyQuery) -> Iterator[DataFault]:
    batch = joint.interval.batch_id
    row = micro_batches.row(joint.interval)
    used = sorted({dataset for _, dataset, _ in row["uses"]})
    datasets = ShownDatasets(tx, (each["properties"] for each in tx.rows("micro_batches/datasets", keys=used)))
    names = tuple(name for key in used for name in datasets.names(datasets.of(key)))
    for number, word, verb in ((joint.gaps, "gap", "skipped"), (joint.overlaps, "overlap", "read again")):
        if number:
            yield DataFault(
                kind=DataFaultKind.BROKEN_CHAIN,
                cause=cause_text(f"{word} in query {query.query_id}"),
                title=f"Query {query.text} {verb} offsets",
                datasets=names,
                part=IncidentScope(query=query.query_id, from_batch=batch, to_batch=batch),
                at=joint.since,
            )
