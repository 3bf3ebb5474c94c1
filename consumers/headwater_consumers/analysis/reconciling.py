"""What the graph knows of a streaming query, for whoever rebuilds its micro-batches from its checkpoint."""

from __future__ import annotations

import json
from dataclasses import dataclass

from headwater_consumers.analysis import micro_batches
from headwater_consumers.analysis.micro_batches import Stretch
from headwater_consumers.analysis.reader import Reader, Transaction
from headwater_consumers.graph.keys import query_key
from headwater_schemas.events import DatasetRef, JobRef, Provenance
from headwater_schemas.facets import SINK_FACET


@dataclass(frozen=True, slots=True)
class CheckpointQuery:
    """A streaming query as the graph has it.

    Attributes:
        jobs: that started it; one, unless a producer is wrong.
        reads, writes: the datasets of its micro-batches.
        name: as the job named it.
        writes_itself: whether every start of it reported that its sink writes each micro-batch by itself, which code
            inside foreachBatch may or may not do.
        batches: how each of its known micro-batches is known, those that were asked for.
    """

    jobs: tuple[JobRef, ...]
    reads: tuple[DatasetRef, ...]
    writes: tuple[DatasetRef, ...]
    name: str | None
    writes_itself: bool
    batches: dict[int, Provenance]


def known_query(reader: Reader, query_id: str, *, until: int) -> CheckpointQuery | None:
    """A query by Spark's id, with its micro-batches below `until`; None where the graph doesn't have it."""

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
    """Whether a start's facet has it; one of another producer, or of an earlier version, may not."""
    try:
        return json.loads(facet).get("callback") is False
    except (ValueError, AttributeError):
        return False
