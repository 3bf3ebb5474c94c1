"""Micro-batches, conflicting reports of micro-batches, and batch runs, as the graph stores them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from headwater_analysis.assets import Asset, job_asset
from headwater_analysis.micro_batches import StoredMicroBatch, Stretch, preceding, rewinds, row, stored_batches
from headwater_analysis.moments import moment
from headwater_analysis.reader import Transaction
from headwater_analysis.trace.traced_parts import RunBrief
from headwater_analysis.trace.uses import VERSIONS, StoredUse, read_use, version_range

if TYPE_CHECKING:
    from neo4j import Record


@dataclass(frozen=True, slots=True)
class Query:
    """A streaming query.

    Attributes:
        key, query_id, name, job: key, id, name and job of the query.
        first_batch, last_batch: lowest and highest known micro-batch.
        summarized: whether the graph no longer stores some of its micro-batches individually.
        contested: whether some micro-batches have conflicting reports of their positions.
        rewinds: first batch after each point where its offsets went back, in ascending order.
    """

    key: str
    query_id: str
    name: str | None
    first_batch: int
    last_batch: int
    job: Asset | None
    summarized: bool = False
    contested: bool = False
    rewinds: tuple[int, ...] = ()

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """Pairs of first and last batch id. Within each range, the query's offsets only grow."""
        first = [self.first_batch, *self.rewinds]
        return list(zip(first, [*(start - 1 for start in self.rewinds), self.last_batch], strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Execution:
    """A micro-batch or batch run.

    Attributes:
        started_at, ended_at: times of the trigger or run, where known.
        properties: all stored properties.
    """

    started_at: datetime | None
    ended_at: datetime | None
    uses: tuple[StoredUse, ...]
    properties: Mapping[str, Any] = field(repr=False)

    def reads(self, dataset: str | None = None) -> list[StoredUse]:
        """Inputs, from one dataset or all."""
        return [use for use in self.uses if not use.produced and dataset in (None, use.dataset)]

    def writes(self, dataset: str | None = None) -> list[StoredUse]:
        """Outputs, to one dataset or all."""
        return [use for use in self.uses if use.produced and dataset in (None, use.dataset)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(_Execution):
    """A micro-batch, or several consecutive micro-batches, built from the row of an Interval or Conflict.

    Attributes:
        conflict: whether this is a report that lost to another report of the same micro-batch with other positions.
        query: key of its query.
        first, last: first and last batch id, both included.
    """

    conflict: bool
    query: str
    first: int
    last: int

    @property
    def key(self) -> str:
        """Key of the stored node. One batch id may have several conflicts, each with its own key."""
        return str(self.properties["key"])

    @property
    def run(self) -> RunBrief | None:
        """Run (one start of the query) in which the micro-batch ran; None if unknown."""
        stored = self.properties
        if (run_id := stored.get("run_id")) is None:
            return None
        return RunBrief(
            run_id=run_id, code_version=stored.get("code_version"), config_version=stored.get("config_version")
        )

    def time(self, name: str) -> datetime | None:
        """Stored time of this name, `watermark_before` or `watermark_after`; None if unknown."""
        return moment(self.properties.get(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(_Execution):
    """A batch run."""

    key: str
    job: Asset | None

    @property
    def brief(self) -> RunBrief:
        """Summary of the run."""
        stored = self.properties
        return RunBrief(
            run_id=stored["run_id"],
            code_version=stored.get("code_version"),
            config_version=stored.get("config_version"),
            state=stored.get("state"),
        )


def read_queries(tx: Transaction, queries: Iterable[Mapping[str, Any]]) -> dict[str, Query | None]:
    """Build queries, by key; None for a query without a known batch."""
    known = {stored["key"]: stored for stored in queries}
    back = rewinds(tx, {key: [batch for each in stored["rewinds"] for batch in each] for key, stored in known.items()})
    return {
        key: None
        if stored["first_batch"] is None
        else Query(
            key,
            stored["query_id"],
            stored["name"],
            stored["first_batch"],
            stored["last_batch"],
            None if stored["job"] is None else job_asset(stored["job"]),
            stored["summarized"],
            stored["contested"],
            back[key],
        )
        for key, stored in known.items()
    }


def read_batch(stored_batch: Record | Mapping[str, Any]) -> Batch:
    """Build a micro-batch from an Interval or Conflict."""
    stored = stored_batch["properties"]
    started, millis = moment(stored.get("processing_time")), stored.get("duration_ms")
    return Batch(
        conflict=stored_batch["label"] == "Conflict",
        query=stored["query"],
        first=stored["batch_id"],
        last=stored.get("last_batch", stored["batch_id"]),
        started_at=started,
        ended_at=None if started is None or millis is None else started + timedelta(milliseconds=millis),
        uses=_uses(stored_batch["uses"]),
        properties=stored,
    )


def read_run(row: Record) -> Run:
    """Build a batch run from a Run."""
    stored, job = row["properties"], row["job"]
    return Run(
        key=stored["key"],
        job=job_asset(job) if job is not None else None,
        started_at=moment(stored.get("started_at")),
        ended_at=moment(stored.get("ended_at")),
        uses=_uses(row["uses"]),
        properties=stored,
    )


def _uses(rows: Iterable[tuple[str, str, Mapping[str, Any]]]) -> tuple[StoredUse, ...]:
    """Inputs and committed outputs. A failed run mostly has no outputs."""
    committed = (row for row in rows if not row[2].get("uncommitted"))
    ordered = sorted(committed, key=lambda row: (row[0], row[1], row[2].get("ordinal", 0)))
    return tuple(read_use(*row) for row in ordered)


def listed(position: Any) -> Mapping[int, tuple[int, int]]:
    """Offset range of each partition in a Kafka position, empty ranges included.

    A range of table versions gives {VERSIONS: range}.
    """
    if position.get("position") == "kafka":
        ranges = zip(position["from"], position["to_exclusive"], strict=True)
        return dict(zip(position["partitions"], ranges, strict=True))
    if position.get("position") == "table_range" and (bounds := version_range(position)) is not None:
        return {VERSIONS: bounds}
    return {}


def same_topic(one: str | None, other: str | None) -> bool:
    """Return whether two topic ids may be of the same incarnation: they are equal, or one is unknown."""
    return one is None or other is None or one == other


def stretches(tx: Transaction, wanted: Sequence[tuple[str, int, int]], limit: int) -> list[list[Batch]]:
    """Read the intervals of each query between two batch ids, both included; at most `limit` for each query."""
    return [batches_of(each) for each in stored_batches(tx, [Stretch(*each) for each in wanted], limit)]


def batches_of(intervals: Iterable[StoredMicroBatch]) -> list[Batch]:
    """Decode intervals."""
    return [read_batch(row(each.interval())) for each in intervals]


def before(tx: Transaction, wanted: Sequence[tuple[str, int]], limit: int = 1) -> list[list[Batch]]:
    """Read the last `limit` intervals of each query before a batch id, the latest first."""
    earlier = preceding(tx, [Stretch(query, last=first - 1) for query, first in wanted], limit)
    return [[read_batch(row(interval)) for interval in intervals] for intervals in earlier]
