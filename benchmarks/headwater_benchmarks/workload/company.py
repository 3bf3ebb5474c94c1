"""Streaming queries and batch jobs that emit one event after another, each consistent with those before."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

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
    Tag,
    TransformationKind,
    TransformationType,
    Versions,
)
from headwater_schemas.events.build import lineage_event

PRODUCER = "https://headwater/workload"
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
PARTITIONS = 8
"""Partitions of each topic that a query reads."""
INPUTS, OUTPUTS, COLUMNS = 3, 2, 20
"""Inputs and outputs of each run of a batch job; the columns are of each output."""
_LATE_MS = 50
"""An irregular query's micro-batch begins up to so much after its time."""
_CLUSTER = "kafka://workload"
_VERSIONS = Versions(code="3f2c1a9", engine=EngineRef("spark", "4.0.0"))


class Query:
    """A streaming query: intervals without end, whose offsets follow on one another.

    Args:
        number: of its own.
        dice: of the workload.
        epoch: of the first micro-batch.
        irregular: also draw the rows written and how late each micro-batch begins, so that no number follows from
            another one and compresses to nothing.
    """

    def __init__(self, number: int, dice: random.Random, epoch: datetime = EPOCH, *, irregular: bool = False) -> None:
        self._dice = dice
        self._now = epoch
        self._irregular = irregular
        self._batch = 0
        self._query_id = _uuid(dice)
        self._run = RunRef(_uuid(dice))
        self._job = JobRef("streams", f"query-{number}")
        self._topics = (f"events-{number}", f"enriched-{number}")
        self._read = [0] * PARTITIONS
        self._written = [0] * PARTITIONS

    def next(self, micro_batches: int = 1) -> LineageEvent:
        """The next micro-batches, as one event."""
        entries = tuple(self._entry() for _ in range(micro_batches))
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

    def _entry(self) -> IntervalEntry:
        rows = written = self._rows()
        began = self._now
        if self._irregular:
            written = self._rows()
            began += timedelta(milliseconds=self._dice.randrange(_LATE_MS))
        entry = IntervalEntry(
            batch_id=self._batch,
            processing_time=began,
            inputs=(self._use(self._topics[0], self._read, rows, Certainty.EXACT),),
            outputs=(self._use(self._topics[1], self._written, written, Certainty.UPPER_BOUND),),
            watermark_before=began - timedelta(seconds=20),
            watermark_after=began - timedelta(seconds=10),
            duration_ms=self._dice.randrange(200, 9_000),
            rows_in=sum(rows),
            rows_out=sum(written),
        )
        self._batch += 1
        self._now += timedelta(seconds=10)
        return entry

    def _rows(self) -> list[int]:
        return [self._dice.randrange(1, 2_000) for _ in range(PARTITIONS)]

    def _use(self, topic: str, ends: list[int], rows: list[int], certainty: Certainty) -> DatasetUse:
        ranges = tuple(
            OffsetRange(partition=partition, from_=end, to_exclusive=end + more)
            for partition, (end, more) in enumerate(zip(ends, rows, strict=True))
        )
        ends[:] = [part.to_exclusive for part in ranges]
        position = Position(kafka=KafkaRanges(topic=topic, ranges=ranges))
        return DatasetUse(dataset=DatasetRef(_CLUSTER, topic), position=position, certainty=certainty, rows=sum(rows))


class Job:
    """A batch job: its plan once, then a START and an end for each of its runs.

    Args:
        number: of its own.
        dice: of the workload.
        tables: numbers of the tables there are; jobs share them, and `hot` ones are in nearly every job.
        epoch: of the first run.
    """

    def __init__(self, number: int, dice: random.Random, *, tables: int, epoch: datetime = EPOCH) -> None:
        self._dice = dice
        self._now = epoch
        self._job = JobRef("batch", f"job-{number}")
        # The first is one of a few that everybody reads.
        chosen = [dice.randrange(max(1, tables // 50)), *dice.sample(range(tables), INPUTS + OUTPUTS - 1)]
        self._tables = [table(chosen_number) for chosen_number in chosen]
        self._events = self._emitted()

    def next(self) -> LineageEvent:
        """The next event it emits."""
        return next(self._events)

    def _emitted(self) -> Iterator[LineageEvent]:
        plan = lineage_event(self._lineage(), job=self._job, producer=PRODUCER, event_time=self._now)
        digest = plan.plan_event.digest if plan.plan_event else None
        yield plan
        while True:
            run = RunRef(_uuid(self._dice))
            began, ended = self._now, self._now + timedelta(minutes=self._dice.randrange(1, 50))
            kind = RunEventType.FAIL if self._dice.random() < 0.03 else RunEventType.COMPLETE
            for type_, at in ((RunEventType.START, began), (kind, ended)):
                body = RunEvent(
                    type=type_,
                    processing_type=ProcessingType.BATCH,
                    inputs=tuple(self._use(dataset) for dataset in self._tables[:INPUTS]),
                    outputs=tuple(self._use(dataset) for dataset in self._tables[INPUTS:]),
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
        datasets = tuple(sorted(set(self._tables)))
        place = {dataset: index for index, dataset in enumerate(datasets)}
        edges = [
            ColumnEdge(
                output=place[output],
                output_field=f"column_{column}",
                input=place[self._tables[column % INPUTS]],
                input_field=f"column_{self._dice.randrange(COLUMNS)}",
                type=TransformationType.DIRECT,
                subtype="IDENTITY",
                kind=TransformationKind.COPY,
            )
            for output in self._tables[INPUTS:]
            for column in range(COLUMNS)
        ]
        return ColumnLineage(datasets=datasets, edges=tuple(edges))


def table(number: int) -> DatasetRef:
    """One of the company's tables."""
    return DatasetRef("s3://workload", f"warehouse/area_{number % 17}/table_{number}")


def described_table(number: int, at: datetime) -> LineageEvent:
    """The catalog's description of a table."""
    body = DatasetEvent(
        dataset=table(number),
        type="TABLE",
        schema=SchemaDefinition(
            tuple(SchemaField(path=f"column_{column}", type="string", nullable=True) for column in range(COLUMNS))
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
