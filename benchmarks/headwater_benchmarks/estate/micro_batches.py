"""The pipelines' micro-batches, written as the consumer writes them: events, folded, by its writer."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from headwater_benchmarks.estate import batches
from headwater_benchmarks.estate.drawn import Estate
from headwater_benchmarks.estate.lines import Query
from headwater_benchmarks.estate.names import JOBS_NAMESPACE, Dataset, query_id
from headwater_benchmarks.estate.times import BEGIN
from headwater_graph.fold import fold
from headwater_graph.segments.segment import SIZE
from headwater_graph.write import GraphWriter
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    EmissionReason,
    EngineRef,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    Provenance,
    RunRef,
    TableSnapshot,
    Versions,
)
from headwater_schemas.events.build import lineage_event

if TYPE_CHECKING:
    from neo4j import Driver

_PERIOD = timedelta(minutes=1)
_TABLE_ROWS = 1_000
_DURATION_MS = 900


def write_micro_batches(estate: Estate, driver: Driver, database: str) -> None:
    """Write them to the imported graph, query by query; each transaction has those of a segment.

    Args:
        estate: as drawn.
        driver: to the database.
        database: that was imported.
    """
    writer = GraphWriter(driver, database)
    for query in estate.lines.queries:
        entries = Entries(estate, query)
        for first in range(0, estate.lines.batches, SIZE):
            some = range(first, min(first + SIZE, estate.lines.batches))
            writer.apply(fold([entries.event(some)]))


class Entries:
    """Micro-batches of one query, by batch id."""

    def __init__(self, estate: Estate, query: Query) -> None:
        self._job = estate.jobs[query.number]
        self._query = query
        self._read, self._wrote = estate.datasets[query.reads], estate.datasets[query.writes]
        self._reads = batches.read(estate.sizes, estate.lines, query).tolist()
        self._writes = [] if query.to_table else batches.written(estate.sizes, estate.lines, query.writes).tolist()

    def event(self, some: range) -> LineageEvent:
        """The event of consecutive micro-batches."""
        body = IntervalEvent(
            query_id=query_id(self._query.number),
            entries=tuple(map(self._entry, some)),
            query_name=self._job.name,
            checkpoint_location=f"file:/checkpoints/{self._job.name}",
            versions=Versions(code="v1", engine=EngineRef("spark", "4.0.0")),
            reason=EmissionReason.CHECKPOINT,
            provenance=Provenance.OBSERVED,
        )
        return lineage_event(
            body,
            job=JobRef(JOBS_NAMESPACE, self._job.name),
            run=RunRef(self._job.run_id),
            producer="estate",
            event_time=BEGIN + some[-1] * _PERIOD,
        )

    def _entry(self, batch_id: int) -> IntervalEntry:
        time = BEGIN + batch_id * _PERIOD
        read = _topic(self._read, self._reads, batch_id)
        return IntervalEntry(
            batch_id=batch_id,
            processing_time=time,
            watermark_after=time,
            duration_ms=_DURATION_MS,
            rows_in=read.rows,
            rows_out=read.rows,
            plan_digest=self._job.digest,
            inputs=(read,),
            outputs=(self._table(batch_id) if self._query.to_table else _topic(self._wrote, self._writes, batch_id),),
        )

    def _table(self, batch_id: int) -> DatasetUse:
        """The snapshot that a micro-batch made."""
        parent = self._query.number * 1_000_000 + batch_id
        snapshot = TableSnapshot(
            format="iceberg", snapshot_id=str(parent + 1), parent_id=str(parent), operation="append"
        )
        return _use(self._wrote, Position(table_snapshot=snapshot), _TABLE_ROWS)


def _topic(dataset: Dataset, offsets: list[list[int]], batch_id: int) -> DatasetUse:
    """Offsets of a topic between where a micro-batch begins and the next one does."""
    begins, ends = offsets[batch_id], offsets[batch_id + 1]
    ranges = tuple(
        OffsetRange(partition=partition, from_=begin, to_exclusive=end)
        for partition, (begin, end) in enumerate(zip(begins, ends, strict=True))
    )
    position = Position(kafka=KafkaRanges(topic=dataset.name, ranges=ranges))
    return _use(dataset, position, sum(ends) - sum(begins))


def _use(dataset: Dataset, position: Position, rows: int) -> DatasetUse:
    ref = DatasetRef(dataset.namespace, dataset.name)
    return DatasetUse(dataset=ref, position=position, certainty=Certainty.EXACT, rows=rows)
