"""Micro-batches one after the other, and what each lists of what it used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_consumers.analysis.trace.batches import Batch, read_batch
from headwater_consumers.analysis.trace.uses import VERSIONS, version_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater_consumers.analysis.reader import Transaction


def listed(position: Any) -> dict[int, tuple[int, int]]:
    """Range of each listed partition, empty ones too, of a Kafka position; of a table's, under `VERSIONS`."""
    if position.get("position") == "kafka":
        ranges = zip(position["from"], position["to_exclusive"], strict=True)
        return dict(zip(position["partitions"], ranges, strict=True))
    if position.get("position") == "table_range" and (bounds := version_range(position)) is not None:
        return {VERSIONS: bounds}
    return {}


def same_topic(one: str | None, other: str | None) -> bool:
    """Whether two topic ids may be of the same incarnation: they are equal, or one isn't known."""
    return one is None or other is None or one == other


def stretches(tx: Transaction, wanted: Sequence[tuple[str, int, int]], limit: int) -> list[list[Batch]]:
    """Intervals of each query key between two batch ids, both included, at most `limit` of each."""
    out: list[list[Batch]] = [[] for _ in wanted]
    if wanted:
        rows = [{"n": n, "query": query, "first": first, "last": last} for n, (query, first, last) in enumerate(wanted)]
        for row in tx.rows("trace/stretch", stretches=rows, limit=limit):
            out[row["n"]].append(read_batch(row))
    return out


def before(tx: Transaction, wanted: Sequence[tuple[str, int]], limit: int = 1) -> list[list[Batch]]:
    """The last intervals of each query key before a batch id, the latest first."""
    out: list[list[Batch]] = [[] for _ in wanted]
    if wanted:
        rows = [{"n": n, "query": query, "first": first} for n, (query, first) in enumerate(wanted)]
        for row in tx.rows("trace/before", stretches=rows, limit=limit):
            out[row["n"]].append(read_batch(row))
    return out
