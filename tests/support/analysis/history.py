"""A few months of jobs as events, and the questions of history answered naively over the same events.

Two batch jobs write one table, one of them with other code from some day on; a streaming query reads a topic over
several runs, with batches that are missing, reconciled, read twice or reported again with other ends.
"""

from __future__ import annotations

import random
import uuid
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from headwater_schemas.events import (
    Certainty,
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    Expression,
    FileSet,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Owner,
    Position,
    Provenance,
    QualityResult,
    RunError,
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
from support.graph.writing import hold

if TYPE_CHECKING:
    from neo4j import Driver

PRODUCER = "tests"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
ORDERS = DatasetRef("s3://lake", "warehouse/orders")
RAW = DatasetRef("kafka://k", "orders.raw")
CLEAN = DatasetRef("file", "/data/clean")
LOAD, REPAIR, STREAM = JobRef("shop", "load_orders"), JobRef("shop", "repairOrders"), JobRef("shop", "orders.clean")
TERMINAL = {RunEventType.COMPLETE, RunEventType.FAIL, RunEventType.ABORT}


@dataclass
class Run:
    """A batch run as it is reported.

    Attributes:
        edges: of its plan: output column, input column (None: a constant), kind and expression.
        snapshot: that it wrote.
    """

    job: JobRef
    number: int
    began: datetime
    state: RunEventType
    code: str
    edges: tuple[tuple[str, str | None, TransformationKind, str], ...]
    inputs: tuple[DatasetRef, ...]
    snapshot: str | None

    @property
    def run_id(self) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.job.name} {self.number}"))

    @property
    def ended(self) -> datetime:
        return self.began + timedelta(minutes=10)

    def events(self) -> Iterable[LineageEvent]:
        lineage = self.lineage()
        plan = lineage_event(lineage, job=self.job, run=RunRef(self.run_id), producer=PRODUCER, event_time=self.began)
        assert plan.plan_event is not None
        versions = Versions(code=self.code)
        uses = tuple(DatasetUse(dataset=each) for each in self.inputs)
        digest = plan.plan_event.digest
        yield plan
        yield self._event(
            RunEvent(type=RunEventType.START, inputs=uses, versions=versions, plan_digest=digest), self.began
        )
        if self.state not in TERMINAL:
            return
        written: tuple[DatasetUse, ...] = ()
        if self.snapshot is not None:
            snapshot = TableSnapshot(format="iceberg", snapshot_id=self.snapshot, operation="append")
            written = (
                DatasetUse(
                    dataset=ORDERS, position=Position(table_snapshot=snapshot), certainty=Certainty.EXACT, rows=7
                ),
            )
        error = RunError(type="E", message="no space left") if self.state is RunEventType.FAIL else None
        body = RunEvent(type=self.state, outputs=written, versions=versions, plan_digest=digest, error=error)
        yield self._event(body, self.ended)

    def lineage(self) -> ColumnLineage:
        edges = tuple(
            ColumnEdge(
                output=1,
                output_field=output,
                input=None if source is None else 0,
                input_field=source,
                type=TransformationType.DIRECT,
                subtype="TRANSFORMATION",
                kind=kind,
                expression=f"e{place}",
            )
            for place, (output, source, kind, _) in enumerate(self.edges)
        )
        texts = tuple(Expression(f"e{place}", edge[3]) for place, edge in enumerate(self.edges))
        return ColumnLineage(datasets=(self.inputs[0], ORDERS), edges=edges, expressions=texts, complete=True)

    def _event(self, body: RunEvent, time: datetime) -> LineageEvent:
        return lineage_event(body, job=self.job, run=RunRef(self.run_id), producer=PRODUCER, event_time=time)


@dataclass
class Batch:
    """A micro-batch as it is reported once."""

    batch: int
    run: str | None
    time: datetime
    emitted: datetime
    ranges: tuple[tuple[int, int, int], ...]
    quality: tuple[tuple[str, bool], ...]
    manifest: str

    @property
    def rank(self) -> tuple[bool, datetime]:
        return self.run is not None, self.emitted

    @property
    def ends(self) -> tuple[tuple[int, int], ...]:
        return tuple((partition, end) for partition, _, end in self.ranges)


@dataclass
class History:
    """Random history of runs and micro-batches.

    Attributes:
        runs: of batch jobs, in order of time.
        batches: every report of every micro-batch.
    """

    seed: int
    runs: list[Run] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    query_id: str = ""

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.query_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"query {self.seed}"))
        for number in range(24):
            self.runs.append(self._run(number))
        self._stream(40)

    def events(self) -> list[LineageEvent]:
        out = [event for run in self.runs for event in run.events()]
        out += [self._event_of(batch) for batch in self.batches]
        out += self._datasets()
        return out

    def stream_run(self, number: int) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"stream {self.seed} {number}"))

    def winners(self) -> list[Batch]:
        """Winning report of each micro-batch: observed before reconciled, then the latest."""
        emitted: dict[int, list[Batch]] = defaultdict(list)
        for batch in self.batches:
            emitted[batch.batch].append(batch)
        return [max(tellings, key=lambda one: one.rank) for _, tellings in sorted(emitted.items())]

    def conflicts(self, batch: int) -> int:
        return len({one.ends for one in self.batches if one.batch == batch}) - 1

    def _run(self, number: int) -> Run:
        job = LOAD if number % 3 else REPAIR
        state = self.dice.choice(
            [RunEventType.COMPLETE] * 3 + [RunEventType.FAIL, RunEventType.ABORT, RunEventType.START]
        )
        old = (
            ("id", "value.id", TransformationKind.COPY, "id"),
            ("total", "value.total", TransformationKind.CAST, "cast(total as decimal)"),
            ("note", "value.note", TransformationKind.COPY, "note"),
        )
        new = (
            ("id", "value.id", TransformationKind.COPY, "id"),
            ("total", "value.total", TransformationKind.DERIVE, "total * 100"),
            ("total", "value.currency", TransformationKind.DERIVE, "total * 100"),
            ("loaded_by", None, TransformationKind.CONSTANT, "'load'"),
        )
        is_new = job == LOAD and number >= 12
        return Run(
            job,
            number,
            BEGIN + timedelta(days=number),
            state,
            "v2" if is_new else "v1",
            new if is_new else old,
            (RAW, DatasetRef("file", "/data/rates")) if is_new else (RAW,),
            f"{number:04}" if state is RunEventType.COMPLETE or self.dice.random() < 0.3 else None,
        )

    def _stream(self, batches: int) -> None:
        at, run = {0: 0, 1: 5}, 0
        for batch in range(batches):
            if self.dice.random() < 0.1:
                run += 1
            ranges = []
            for partition, start in at.items():
                start = max(0, start + self.dice.choice([0] * 8 + [3, -2]))  # noqa: PLW2901 - a gap, or read again
                at[partition] = start + self.dice.randint(0, 9)
                ranges.append((partition, start, at[partition]))
            if self.dice.random() < 0.1:
                continue
            time = BEGIN + timedelta(hours=batch)
            quality = (("fresh", self.dice.random() < 0.8), ("unique", True)) if self.dice.random() < 0.8 else ()
            reconciled = self.dice.random() < 0.15
            by = None if reconciled else self.stream_run(run)
            emitted = Batch(batch, by, time, time, tuple(ranges), quality, f"m{batch}")
            self.batches.append(emitted)
            if self.dice.random() < 0.15:
                others = tuple((partition, start, end + 1) for partition, start, end in ranges)
                again = Batch(
                    batch, self.stream_run(run + 1), time, time + timedelta(minutes=5), others, quality, f"m{batch}b"
                )
                self.batches.append(again)

    def _event_of(self, batch: Batch) -> LineageEvent:
        ranges = tuple(OffsetRange(*each) for each in batch.ranges)
        files = FileSet(count=1, bytes=10, manifest_digest=batch.manifest, paths=(f"/data/clean/{batch.manifest}",))
        entry = IntervalEntry(
            batch_id=batch.batch,
            processing_time=batch.time,
            inputs=(
                DatasetUse(
                    dataset=RAW, position=Position(kafka=KafkaRanges("orders.raw", ranges)), certainty=Certainty.EXACT
                ),
            ),
            outputs=(DatasetUse(dataset=CLEAN, position=Position(files=files), certainty=Certainty.EXACT),),
            quality=tuple(QualityResult(assertion=name, passed=passed) for name, passed in batch.quality),
        )
        body = IntervalEvent(
            query_id=self.query_id,
            entries=(entry,),
            provenance=Provenance.OBSERVED if batch.run else Provenance.RECONCILED,
        )
        run = RunRef(batch.run) if batch.run else None
        return lineage_event(body, job=STREAM, run=run, producer=PRODUCER, event_time=batch.emitted)

    def _datasets(self) -> list[LineageEvent]:
        def schema(day: int, *paths: str) -> LineageEvent:
            fields = tuple(SchemaField(path=path, type="string") for path in paths)
            body = DatasetEvent(
                dataset=ORDERS,
                type="TABLE",
                schema=SchemaDefinition(fields),
                owners=(Owner("team:shop"),),
                tags=(Tag(key="pii", value="yes"), Tag(key="money", field="total")),
            )
            return lineage_event(body, producer=PRODUCER, event_time=BEGIN + timedelta(days=day))

        return [
            schema(0, "id", "total", "note"),
            schema(11, "id", "total", "note"),
            schema(12, "id", "total", "loaded_by"),
        ]


def hold_history(driver: Driver, seed: int, layout: str) -> History:
    """Have the graph of a history in the database, to be read, its events in any order; the history."""
    made = History(seed)
    events = made.events()
    made.dice.shuffle(events)
    hold(driver, f"history {seed}, {layout}", events, at_once=40)
    return made
