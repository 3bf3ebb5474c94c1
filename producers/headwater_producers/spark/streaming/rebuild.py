"""Rebuilder of committed micro-batches: the same entries and events as from their progress.

The offset log has only end offsets: a micro-batch begins where the previous one ended. These offsets go through the
same functions as a progress, so that the source positions, and with them the event id, come out the same. Facts that
the checkpoint lacks (run, duration, rows, plan, versions) are left out, and overwrite no observed value.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from headwater_producers.spark.common.errors import CheckpointError
from headwater_producers.spark.connectors.connector_questions import SourceOffsets
from headwater_producers.spark.connectors.registry import REGISTRY
from headwater_producers.spark.jvm.files import TextFiles
from headwater_producers.spark.plan import PlanInput, PlanOutput
from headwater_producers.spark.streaming.checkpoint import LoggedBatch, QueryLog, StreamCheckpoint
from headwater_producers.spark.streaming.interval import (
    MicroBatchFacts,
    QueryProgress,
    SinkCommits,
    SourceProgress,
    interval_entry,
    sink_outputs,
    source_offsets,
)
from headwater_producers.spark.streaming.interval_events import fitting
from headwater_schemas.events import (
    Certainty,
    DatasetUse,
    EmissionReason,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    LineageEvent,
    Provenance,
    build,
)

# Placeholder for the required time of a progress. The entry gets the checkpoint's time, or none.
_NEVER: Final = datetime.min.replace(tzinfo=UTC)


class Rebuilder:
    """Rebuilder of one query's micro-batches.

    Args:
        files: reader of the checkpoint and of a file sink's log.
        inputs: inputs of the query's sources; inputs without a `source_index` are left out.
        sources: number of the query's sources; None: the number in its log.
        proven: True to report only those `outputs` that the sink's log confirms: a foreachBatch function may write a
            dataset in some micro-batches and not in others.
    """

    def __init__(
        self,
        log: QueryLog,
        files: TextFiles,
        *,
        inputs: Sequence[PlanInput],
        sources: int | None,
        outputs: Sequence[PlanOutput] = (),
        commits: SinkCommits | None = None,
        proven: bool = False,
    ) -> None:
        self._log = log
        self._inputs = inputs
        self._sources = sources
        self._outputs = outputs
        self._proven = proven
        self._commits = commits or SinkCommits("", "", files)
        self._checkpoint = StreamCheckpoint(log.location, files)
        self._read: OrderedDict[int, LoggedBatch] = OrderedDict()

    def entry(self, batch_id: int) -> IntervalEntry:
        """Rebuild a committed micro-batch.

        The start offset is in the log of the previous micro-batch. If that file is gone, the range begins at the last
        known offsets (for Kafka at the query's first offsets) and is an UPPER_BOUND. The event id depends only on the
        end offsets, so the id stays the same.

        Raises:
            CheckpointError: the range that the micro-batch read is unknown.
            OSError, ValueError: a file of the checkpoint can't be read.
        """
        batch = self._batch(batch_id)
        before = self._log.before(batch_id)
        starts = self._ends(self._batch(before)) if before is not None else (None,) * len(self._ends(batch))
        is_exact = batch_id == 0 or before == batch_id - 1
        progress = self._progress(batch, starts)
        sources = source_offsets(progress, self._inputs)
        if not is_exact and any(_needs_start(each) and each.start != each.end for each in sources):
            raise CheckpointError(
                f"micro-batch {batch_id}: the offsets of the one before it are gone, so its files are unknown"
            )
        entry = interval_entry(
            progress,
            self._inputs,
            MicroBatchFacts(
                outputs=self._written(batch_id),
                watermark_after=self._checkpoint.watermark_after(batch_id),
            ),
            checkpoint=self._checkpoint.root,
        )
        return msgspec.structs.replace(
            entry,
            processing_time=batch.planned_at,
            inputs=entry.inputs if is_exact else tuple(_as_upper_bound(use) for use in entry.inputs),
        )

    def _written(self, batch_id: int) -> tuple[DatasetUse, ...]:
        written = sink_outputs(self._outputs, self._commits, batch_id, None)
        return tuple(use for use in written if use.position is not None) if self._proven else written

    def _progress(self, batch: LoggedBatch, starts: Sequence[Any]) -> QueryProgress:
        ends = self._ends(batch)
        if len(starts) != len(ends):
            raise CheckpointError(
                f"micro-batch {batch.batch_id} and the one before it have different numbers of sources"
            )
        return QueryProgress(
            query_id="",
            run_id="",
            name=None,
            batch_id=batch.batch_id,
            started_at=_NEVER,
            duration_ms=None,
            before_write_ms=0,
            executed=True,
            rows_out=None,
            watermark=batch.watermark,
            has_watermark=batch.watermark is not None,
            sources=tuple(
                SourceProgress(description="", start=start, end=end, rows=None)
                for start, end in zip(starts, ends, strict=True)
            ),
            sink="",
        )

    def _ends(self, batch: LoggedBatch) -> tuple[Any, ...]:
        """Return the end offsets by source; a source that occurs twice in the plan (a self-union) is logged twice."""
        if self._sources is None or len(batch.ends) == self._sources:
            return batch.ends
        distinct = tuple(end for index, end in enumerate(batch.ends) if end not in batch.ends[:index])
        if len(distinct) == self._sources:
            return distinct
        raise CheckpointError(
            f"micro-batch {batch.batch_id} has offsets of {len(batch.ends)} sources, the query {self._sources}"
        )

    def _batch(self, batch_id: int) -> LoggedBatch:
        # Micro-batches are rebuilt in order: each is used for its own entry, then as the predecessor of the next.
        if batch_id not in self._read:
            self._read[batch_id] = self._log.batch(batch_id)
            if len(self._read) > 2:
                self._read.popitem(last=False)
        return self._read[batch_id]


def _needs_start(source: SourceOffsets) -> bool:
    """Return True if the range that a micro-batch read can't be bounded without its start offset."""
    return any(each.needs_start for each in REGISTRY.of_source(source))


def _as_upper_bound(use: DatasetUse) -> DatasetUse:
    position = use.position
    if position is None or position.files is not None:
        return use
    return msgspec.structs.replace(use, certainty=Certainty.UPPER_BOUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryIdentity:
    """Fields that all events of one query share.

    Attributes:
        tenant, job, query_id: the query's key in the graph.
        query_name, checkpoint_location: name and checkpoint of the query; None if unknown.
    """

    tenant: str
    job: JobRef
    query_id: str
    producer: str
    query_name: str | None = None
    checkpoint_location: str | None = None
    reason: EmissionReason = EmissionReason.CHECKPOINT


def interval_events(
    query: QueryIdentity, entries: Sequence[IntervalEntry], *, per_event: int, now: datetime
) -> Iterator[LineageEvent]:
    """Yield events of the entries, in order of their batch ids, with at most `per_event` consecutive entries each.

    An event's time is the planning time of its last micro-batch, so repeated reconstructions give equal events, byte
    for byte; `now` is only used if the checkpoint has no times. There is no run: the checkpoint doesn't record the
    start of the query that a micro-batch ran in.
    """
    for part in consecutive(entries, per_event):
        yield from fitting(part, lambda fits: _event(query, fits, now))


def _event(query: QueryIdentity, entries: Sequence[IntervalEntry], now: datetime) -> LineageEvent:
    return build.lineage_event(
        IntervalEvent(
            query_id=query.query_id,
            entries=tuple(entries),
            query_name=query.query_name,
            checkpoint_location=query.checkpoint_location,
            reason=query.reason,
            provenance=Provenance.RECONCILED,
        ),
        job=query.job,
        producer=query.producer,
        event_time=entries[-1].processing_time or now,
        tenant=query.tenant,
    )


def consecutive(entries: Iterable[IntervalEntry], at_most: int) -> Iterator[list[IntervalEntry]]:
    """Split into runs of consecutive batch ids, none longer than `at_most`."""
    part: list[IntervalEntry] = []
    for entry in entries:
        if part and (entry.batch_id != part[-1].batch_id + 1 or len(part) >= at_most):
            yield part
            part = []
        part.append(entry)
    if part:
        yield part
