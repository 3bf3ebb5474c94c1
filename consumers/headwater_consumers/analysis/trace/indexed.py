"""Micro-batches and runs found by an index: by the marks of files and partitions, by versions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from headwater_consumers.analysis.trace.answer import Part, PartKind
from headwater_consumers.analysis.trace.batches import Batch, Run, read_batch, read_run
from headwater_consumers.analysis.trace.context import Context
from headwater_consumers.analysis.trace.taken import Pending
from headwater_consumers.graph.keys import version_key
from headwater_consumers.graph.words import path_mark

if TYPE_CHECKING:
    from neo4j import Record

# Lucene takes 1,024 words in one query.
MOST_MARKS = 1_000


def indexed_users(context: Context, pendings: Sequence[Pending]) -> list[list[Batch]]:
    """For each part, micro-batches that may have used some of it; to be compared with what they recorded."""
    batches: dict[tuple[str, int], Batch] = {}
    by_dataset: dict[str, list[Batch]] = defaultdict(list)
    for row in _rows(context, [pending.part for pending in pendings]):
        if row["label"] != "Interval":
            continue
        batch = read_batch(row)
        if (batch.query, batch.first) not in batches:
            batches[batch.query, batch.first] = batch
            for dataset in {use.dataset for use in batch.uses}:
                by_dataset[dataset].append(batch)
    return [by_dataset[pending.part.dataset.key] for pending in pendings]


def path_users(context: Context, paths: Iterable[str]) -> tuple[list[Batch], list[Run]]:
    """Micro-batches and runs that used files or partitions (backwards: that wrote them)."""
    rows = _by_marks(context, sorted({path_mark(path) for path in paths}))
    return [read_batch(row) for row in rows if row["label"] != "Run"], [
        read_run(row) for row in rows if row["label"] == "Run"
    ]


def _rows(context: Context, parts: Sequence[Part]) -> list[Record]:
    marks = {path_mark(path) for part in parts if part.kind is PartKind.FILES for path in part.files}
    versions = {
        version_key(context.tx.tenant, part.dataset.key, part.format, part.version)
        for part in parts
        if part.format is not None and part.version is not None
    }
    rows = _by_marks(context, sorted(marks))
    if versions:
        rows += context.tx.rows("trace/version_users", versions=sorted(versions), limit=context.limit)
    return rows


def _by_marks(context: Context, marks: Sequence[str]) -> list[Record]:
    if len(marks) > MOST_MARKS:
        context.cut = True
    if not marks:
        return []
    return context.tx.rows(
        "trace/path_users",
        marks=" OR ".join(marks[:MOST_MARKS]),
        type="PRODUCED" if context.backward else "CONSUMED",
        limit=context.limit,
    )
