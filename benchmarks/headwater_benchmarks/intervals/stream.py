"""The micro-batches of a query, as columns and as events: ten seconds each, eight partitions in and out.

Rows per partition, durations and the milliseconds of processing times are random, each for itself, so that they can't
be compressed away.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from headwater_benchmarks.estate.segments import CHUNK, Columns, Ints, Values
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
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
    Versions,
)
from headwater_schemas.events.build import lineage_event
from headwater_schemas.identity import micros

PARTITIONS = 8
TENANT = "default"
_CLUSTER = "kafka://stream"
_PRODUCER = "https://headwater/bench/intervals"
_BEGIN = micros(datetime(2025, 1, 1, tzinfo=UTC))
_PERIOD_SECONDS = 10
_MOST_ROWS = 2_000
"""Of a partition, in one micro-batch."""
_LATE_MS = 50
"""A micro-batch begins up to so much after its time."""
_VERSIONS = Versions(code="3f2c1a9", engine=EngineRef("spark", "4.0.0"))


@dataclass(frozen=True, slots=True)
class Record:
    """A record that a micro-batch read.

    Attributes:
        query: number of the query.
        batch_id: of the micro-batch.
        topic: namespace and name.
        partition, offset: of the record.
    """

    query: int
    batch_id: int
    topic: DatasetRef
    partition: int
    offset: int


@dataclass(slots=True)
class Stream:
    """One query, from its beginning on; its micro-batches can be had once, in order.

    Attributes:
        number: of the query.
        seed: of the benchmark.
        wanted: batch ids of which a record is wanted.
        records: those of them that were met.
    """

    number: int
    seed: int
    wanted: frozenset[int] = frozenset()
    records: list[Record] = field(default_factory=list)
    _read: Ints = field(default_factory=lambda: np.zeros((1, PARTITIONS), dtype=np.int64))
    _written: Ints = field(default_factory=lambda: np.zeros((1, PARTITIONS), dtype=np.int64))

    def columns(self, first: int, last: int) -> Columns:
        """The micro-batches from one batch id up to another, which follow on those before; of one `CHUNK`."""
        count = last - first
        dice = np.random.default_rng([self.seed, self.number, first // CHUNK])
        rows = dice.integers(1, _MOST_ROWS, (2, count, PARTITIONS))
        read, written = (
            np.concatenate([end, end + np.cumsum(each, axis=0)])
            for end, each in zip((self._read, self._written), rows, strict=True)
        )
        self._read, self._written = read[-1:], written[-1:]
        time = self._times(first, last)
        for batch_id in sorted(self.wanted.intersection(range(first, last))):
            partition = batch_id % PARTITIONS
            offset = int(read[batch_id - first + 1, partition]) - 1
            self.records.append(Record(self.number, batch_id, self.topic, partition, offset))
        return Columns(
            {
                "time": time,
                "watermark before": time - 20_000_000,
                "watermark after": time - 10_000_000,
                "duration": dice.integers(200, 9_000, count),
                "rows in": rows[0].sum(axis=1),
                "rows out": rows[1].sum(axis=1),
                "in from": read[:-1],
                "in to": read[1:],
                "out from": written[:-1],
                "out to": written[1:],
            }
        )

    def _times(self, first: int, last: int) -> Ints:
        """Drawn for a whole chunk, so that they are the same whichever part of it is asked for."""
        chunk, at = divmod(first, CHUNK)
        late = np.random.default_rng([self.seed, self.number, chunk, 1]).integers(0, _LATE_MS, CHUNK) * 1_000
        even = _BEGIN + np.arange(first, last, dtype=np.int64) * (_PERIOD_SECONDS * 1_000_000)
        times: Ints = even + late[at : at + last - first]
        return times

    @property
    def topic(self) -> DatasetRef:
        """That it reads."""
        return DatasetRef(_CLUSTER, f"events-{self.number}")

    def event(self, values: Values, batch_id: int) -> LineageEvent:
        """The event of one micro-batch with these values."""
        name = f"query-{self.number}"
        time = values.time("time")
        entry = IntervalEntry(
            batch_id=batch_id,
            processing_time=time,
            inputs=(_use(values, "in", self.topic, Certainty.EXACT),),
            outputs=(_use(values, "out", DatasetRef(_CLUSTER, f"enriched-{self.number}"), Certainty.UPPER_BOUND),),
            watermark_before=values.time("watermark before"),
            watermark_after=values.time("watermark after"),
            duration_ms=values.number("duration"),
            rows_in=values.number("rows in"),
            rows_out=values.number("rows out"),
        )
        body = IntervalEvent(
            query_id=_id("query", self.number),
            entries=(entry,),
            query_name=name,
            checkpoint_location=f"s3://stream/checkpoints/{name}",
            versions=_VERSIONS,
            provenance=Provenance.OBSERVED,
        )
        return lineage_event(
            body, job=JobRef("streams", name), run=RunRef(_id("run", self.number)), producer=_PRODUCER, event_time=time
        )


def _use(values: Values, name: str, dataset: DatasetRef, certainty: Certainty) -> DatasetUse:
    ranges = tuple(
        OffsetRange(
            partition=partition,
            from_=values.number(f"{name} from", partition),
            to_exclusive=values.number(f"{name} to", partition),
        )
        for partition in range(PARTITIONS)
    )
    position = Position(kafka=KafkaRanges(topic=dataset.name, ranges=ranges))
    return DatasetUse(dataset=dataset, position=position, certainty=certainty, rows=values.number(f"rows {name}"))


def _id(kind: str, number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"stream/{kind}/{number}"))
