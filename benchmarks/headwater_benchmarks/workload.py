"""Made-up events in the proportions of a busy company, for benchmarks and the soak test.

Streaming queries and batch jobs emit one event after another, each consistent with the earlier events. `Mixture` mixes
these events, with repeats, disorder, and wrong clocks. Equal seeds give equal streams.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from headwater_schemas.events import (
    Certainty,
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    EngineRef,
    IntervalEntry,
    IntervalEvent,
    JobEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Owner,
    Position,
    ProcessingType,
    Provenance,
    RunEvent,
    RunEventType,
    RunRef,
    SchemaDefinition,
    SchemaField,
    TableSnapshot,
    Tag,
    TransformationKind,
    TransformationType,
    Versions,
)
from headwater_schemas.events.build import lineage_event
from headwater_schemas.identity import event_id

PRODUCER = "https://headwater/workload"
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
PARTITIONS = 8
"""Default number of partitions of each topic that a query reads."""
INPUTS, OUTPUTS, COLUMNS = 3, 2, 20
"""Numbers of inputs and of outputs of a batch job, and number of columns of each output."""
_LATE_MS = 50
"""Maximum delay of an irregular query's micro-batch."""
_CLUSTER = "kafka://workload"
_VERSIONS = Versions(code="3f2c1a9", engine=EngineRef("spark", "4.0.0"), capture="1.0.0")


class StreamingQuery:
    """A streaming query: an endless series of micro-batches with consecutive offsets.

    Args:
        reads, writes: topics of the query; by default `events-<number>` and `enriched-<number>`.
        upstream: query that writes the topic `reads`. Each micro-batch ends within the output of the upstream query's
            micro-batch with the same batch id. Call `next` of both queries with equal numbers, upstream first.
        to_table: whether the query writes snapshots of a table instead of a topic.
        irregular: whether the number of written rows and the delay of each micro-batch are random. If not, they follow
            from other numbers, and a store could compress them away.
    """

    def __init__(
        self,
        number: int,
        dice: random.Random,
        *,
        reads: DatasetRef | None = None,
        writes: DatasetRef | None = None,
        upstream: StreamingQuery | None = None,
        partitions: int = PARTITIONS,
        to_table: bool = False,
        irregular: bool = False,
    ) -> None:
        self._dice = dice
        self._now = EPOCH
        self._upstream, self._to_table, self._irregular = upstream, to_table, irregular
        self._batch = 0
        self._query_id = _uuid(dice)
        self._run = RunRef(_uuid(dice))
        self._job = JobRef("streams", f"query-{number}")
        self._reads = reads or DatasetRef(_CLUSTER, f"events-{number}")
        self._writes = writes or DatasetRef(_CLUSTER, f"enriched-{number}")
        self._read = [0] * partitions
        self._written = [[0] * partitions]

    def next(self, micro_batches: int = 1) -> LineageEvent:
        """Return the next micro-batches as one event."""
        # For a downstream query: start offsets of this event's first micro-batch, then end offsets of each micro-batch.
        self._written = self._written[-1:]
        entries = tuple(self._entry(index) for index in range(micro_batches))
        return lineage_event(
            IntervalEvent(
                query_id=self._query_id,
                entries=entries,
                query_name=self._job.name,
                checkpoint_location=f"s3://workload/checkpoints/{self._job.name}",
                versions=_VERSIONS,
                provenance=Provenance.OBSERVED,
            ),
            job=self._job,
            run=self._run,
            producer=PRODUCER,
            event_time=entries[-1].processing_time or EPOCH,
        )

    def _entry(self, index: int) -> IntervalEntry:
        rows = written = self._rows()
        began = self._now
        if self._irregular:
            written = self._rows()
            began += timedelta(milliseconds=self._dice.randrange(_LATE_MS))
        ends = [end + count for end, count in zip(self._read, rows, strict=True)]
        if self._upstream is not None:
            begin_and_end = self._upstream._written[index : index + 2]  # noqa: SLF001  another of the same class
            ends = [self._dice.randrange(first, last) + 1 for first, last in zip(*begin_and_end, strict=True)]
        read = _kafka(self._reads, self._read, ends, Certainty.EXACT)
        self._read = ends
        self._written.append([end + count for end, count in zip(self._written[-1], written, strict=True)])
        wrote = _kafka(self._writes, self._written[-2], self._written[-1], Certainty.UPPER_BOUND)
        if self._to_table:
            current, parent = str(self._batch + 1), str(self._batch)
            snapshot = TableSnapshot(format="iceberg", snapshot_id=current, parent_id=parent, operation="append")
            wrote = DatasetUse(dataset=self._writes, position=Position(table_snapshot=snapshot), rows=wrote.rows)
        entry = IntervalEntry(
            batch_id=self._batch,
            processing_time=began,
            inputs=(read,),
            outputs=(wrote,),
            watermark_before=began - timedelta(seconds=20),
            watermark_after=began - timedelta(seconds=10),
            duration_ms=self._dice.randrange(200, 9_000),
            rows_in=read.rows,
            rows_out=wrote.rows,
        )
        self._batch += 1
        self._now += timedelta(seconds=10)
        return entry

    def _rows(self) -> list[int]:
        return [self._dice.randrange(1, 2_000) for _ in self._read]


def _kafka(topic: DatasetRef, begins: Sequence[int], ends: Sequence[int], certainty: Certainty) -> DatasetUse:
    ranges = tuple(
        OffsetRange(partition=partition, from_=begin, to_exclusive=end)
        for partition, (begin, end) in enumerate(zip(begins, ends, strict=True))
    )
    position = Position(kafka=KafkaRanges(topic=topic.name, ranges=ranges))
    return DatasetUse(dataset=topic, position=position, certainty=certainty, rows=sum(ends) - sum(begins))


class BatchJob:
    """A batch job: emits its plan once, then a START and an end for each run.

    Args:
        inputs, outputs: tables of the job.
        failing: share of runs that fail.
    """

    def __init__(
        self,
        number: int,
        dice: random.Random,
        inputs: Sequence[DatasetRef],
        outputs: Sequence[DatasetRef],
        *,
        columns: int = COLUMNS,
        failing: float = 0.03,
    ) -> None:
        self._dice = dice
        self._now = EPOCH
        self._job = JobRef("batch", f"job-{number}")
        self._inputs, self._outputs, self._columns, self._failing = inputs, outputs, columns, failing
        self._events = self._emitted()

    def next(self) -> LineageEvent:
        """Return the job's next event."""
        return next(self._events)

    def _emitted(self) -> Iterator[LineageEvent]:
        plan = lineage_event(self._lineage(), job=self._job, producer=PRODUCER, event_time=self._now)
        digest = plan.plan_event.digest if plan.plan_event else None
        yield plan
        while True:
            run = RunRef(_uuid(self._dice))
            began, ended = self._now, self._now + timedelta(minutes=self._dice.randrange(1, 50))
            kind = RunEventType.FAIL if self._dice.random() < self._failing else RunEventType.COMPLETE
            for type_, at in ((RunEventType.START, began), (kind, ended)):
                body = RunEvent(
                    type=type_,
                    processing_type=ProcessingType.BATCH,
                    inputs=tuple(map(self._use, self._inputs)),
                    outputs=tuple(map(self._use, self._outputs)),
                    started_at=began,
                    ended_at=None if type_ is RunEventType.START else ended,
                    versions=_VERSIONS,
                    plan_digest=digest,
                )
                yield lineage_event(body, job=self._job, run=run, producer=PRODUCER, event_time=at)
            self._now += timedelta(hours=1)

    def _use(self, dataset: DatasetRef) -> DatasetUse:
        rows = self._dice.randrange(1, 10_000_000)
        return DatasetUse(dataset=dataset, rows=rows, bytes=rows * 80)

    def _lineage(self) -> ColumnLineage:
        datasets = tuple(sorted({*self._inputs, *self._outputs}))
        indexes = {dataset: index for index, dataset in enumerate(datasets)}
        edges = [
            ColumnEdge(
                output=indexes[output],
                output_field=f"column_{column}",
                input=indexes[self._inputs[column % len(self._inputs)]],
                input_field=f"column_{self._dice.randrange(self._columns)}",
                type=TransformationType.DIRECT,
                subtype="IDENTITY",
                kind=TransformationKind.COPY,
            )
            for output in self._outputs
            for column in range(self._columns)
        ]
        return ColumnLineage(datasets=datasets, edges=tuple(edges))


def job_among(number: int, dice: random.Random, tables: int) -> BatchJob:
    """Make a batch job of the company. It shares tables with other jobs, and reads one of a few popular tables."""
    chosen = [dice.randrange(max(1, tables // 50)), *dice.sample(range(tables), INPUTS + OUTPUTS - 1)]
    refs = [table(one) for one in chosen]
    return BatchJob(number, dice, refs[:INPUTS], refs[INPUTS:])


def table(number: int) -> DatasetRef:
    """One of the company's tables."""
    return DatasetRef("s3://workload", f"warehouse/area_{number % 17}/table_{number}")


def described_table(number: int, at: datetime = EPOCH, columns: int = COLUMNS) -> LineageEvent:
    """Event that describes a table, as a catalog would."""
    body = DatasetEvent(
        dataset=table(number),
        type="TABLE",
        schema=SchemaDefinition(
            tuple(SchemaField(path=f"column_{column}", type="string", nullable=True) for column in range(columns))
        ),
        owners=(Owner(f"team:{number % 11}", "MAINTAINER"),),
        tags=(Tag(key="tier", value=str(number % 3)),),
    )
    return lineage_event(body, producer=PRODUCER, event_time=at)


def described_job(number: int, at: datetime) -> LineageEvent:
    """Event that describes a batch job."""
    body = JobEvent(
        processing_type=ProcessingType.BATCH, integration="SPARK", owners=(Owner(f"team:{number % 11}", "MAINTAINER"),)
    )
    return lineage_event(body, job=JobRef("batch", f"job-{number}"), producer=PRODUCER, event_time=at)


def _uuid(dice: random.Random) -> str:
    return str(uuid.UUID(int=dice.getrandbits(128), version=4))


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportions:
    """Proportions of the event stream.

    Attributes:
        queries, jobs, tables: number of queries, of jobs and of tables.
        intervals, runs: share of events from queries, and from batch jobs; all others describe tables and jobs.
        pack: number of micro-batches in an event of a query.
        repeated: share of events that arrive again later.
        late: share of events that arrive late.
        late_by: mean number of events that overtake a late event, or that arrive between an event and its repetition.
        skewed: share of events whose time is wrong, by up to a day.
    """

    queries: int = 50
    jobs: int = 200
    tables: int = 500
    intervals: float = 0.6
    runs: float = 0.3
    pack: int = 1
    repeated: float = 0.05
    late: float = 0.05
    late_by: int = 200
    skewed: float = 0.0


class Mixture:
    """Endless stream of events: iterate over it; `finish` returns the delayed events.

    Args:
        proportions: shares of the kinds of events.
    """

    def __init__(self, seed: int, proportions: Proportions | None = None) -> None:
        self._dice = random.Random(seed)  # noqa: S311  no secret
        self._of = proportions or Proportions()
        self._queries = [StreamingQuery(number, self._dice) for number in range(self._of.queries)]
        self._jobs = [job_among(number, self._dice, self._of.tables) for number in range(self._of.jobs)]
        self._delayed: list[LineageEvent] = []
        self._count = 0

    def __iter__(self) -> Iterator[LineageEvent]:
        """Yield events in order of arrival, some of them twice."""
        while True:
            event = self._next()
            if self._dice.random() < self._of.repeated:
                self._delayed.append(event)
            if self._dice.random() < self._of.late:
                self._delayed.append(event)
            else:
                yield event
            if self._delayed and self._dice.random() < len(self._delayed) / self._of.late_by:
                yield self._delayed.pop(self._dice.randrange(len(self._delayed)))

    def take(self, count: int) -> Iterator[LineageEvent]:
        """Yield `count` events, including repeated events; perhaps a few more, so that no delayed event is missing."""
        for emitted, event in enumerate(self, start=1):
            yield event
            if emitted + len(self._delayed) >= count:
                break
        yield from self.finish()

    def finish(self) -> list[LineageEvent]:
        """Return all delayed events, so that no event is missing."""
        delayed, self._delayed = self._delayed, []
        self._dice.shuffle(delayed)
        return delayed

    def _next(self) -> LineageEvent:
        self._count += 1
        roll = self._dice.random()
        if roll < self._of.intervals:
            event = self._dice.choice(self._queries).next(self._of.pack)
        elif roll < self._of.intervals + self._of.runs:
            event = self._dice.choice(self._jobs).next()
        else:
            at = EPOCH + timedelta(seconds=self._count)
            number = self._dice.randrange(self._of.tables + self._of.jobs)
            tables = self._of.tables
            event = described_table(number, at) if number < tables else described_job(number - tables, at)
        return self._skewed(event) if self._dice.random() < self._of.skewed else event

    def _skewed(self, event: LineageEvent) -> LineageEvent:
        off = timedelta(seconds=self._dice.uniform(-86_400, 86_400))
        skewed = msgspec.structs.replace(event, event_time=event.event_time + off)
        return msgspec.structs.replace(skewed, event_id=event_id(skewed))
