"""Random events from small pools: the same runs, batches, datasets and times come up again and again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec

from headwater_schemas.events import (
    Approval,
    Certainty,
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetMark,
    DatasetRead,
    DatasetRef,
    DatasetUse,
    DeclarationEvent,
    DeclarationSetEvent,
    DeclaredColumn,
    EmissionReason,
    EngineRef,
    Expression,
    FileSet,
    IncidentAction,
    IncidentClock,
    IncidentEvent,
    IncidentResolution,
    IncidentScope,
    IncidentSeverity,
    IncidentType,
    IntervalEntry,
    IntervalEvent,
    JobEvent,
    JobRef,
    KafkaRanges,
    LifecycleChange,
    LineageEvent,
    MarkSpread,
    NotificationChange,
    NotifiedRecipient,
    OffsetRange,
    OpaqueRange,
    Owner,
    ParentRun,
    PartitionMapping,
    Position,
    ProcessingType,
    Provenance,
    PublicationState,
    QualityResult,
    ReachedDataset,
    ReachedPart,
    RetentionEvent,
    RetentionMode,
    RunContext,
    RunError,
    RunEvent,
    RunEventType,
    RunRef,
    SchemaDefinition,
    SchemaField,
    Sensitivity,
    SourceLocation,
    Storage,
    Symlink,
    TableSnapshot,
    Tag,
    TimeRange,
    TransformationKind,
    TransformationType,
    Versions,
    build,
)
from headwater_schemas.identity import declaration_digest, plan_digest

T = TypeVar("T")

START = datetime(2013, 1, 1, 5, 15, 0, 123456, tzinfo=UTC)
PRODUCER = "https://headwater.example/test"


@dataclass(frozen=True)
class Pools:
    """Number of names of each sort. The smaller, the more collisions.

    Of retentions, declarations and incidents, the weight among the other kinds.
    """

    tenants: int = 2
    jobs: int = 3
    datasets: int = 4
    runs: int = 5
    queries: int = 2
    batches: int = 8
    times: int = 12
    columns: int = 4
    plans: int = 3
    days: int = 1
    retentions: int = 0
    declarations: int = 0
    incidents: int = 0


def colliding_events(random: random.Random, count: int, pools: Pools | None = None) -> list[LineageEvent]:
    """`count` events of all kinds, about a tenth of them repeats of earlier ones."""
    maker = _Maker(random, pools or Pools())
    events: list[LineageEvent] = []
    while len(events) < count:
        again = events and random.random() < 0.1
        events.append(random.choice(events) if again else maker.event())
    return events


class _Maker:
    def __init__(self, random: random.Random, pools: Pools) -> None:
        self.random = random
        self.pools = pools
        self.lineages = [self._lineage() for _ in range(pools.plans)]
        self.declarations: list[DeclarationEvent] = []

    def event(self) -> LineageEvent:
        weights = {
            self._run: 4,
            self._interval: 6,
            self._plan: 2,
            self._dataset: 3,
            self._job: 2,
            self._retention: self.pools.retentions,
            self._declared: self.pools.declarations,
            self._incident: self.pools.incidents,
        }
        return self.random.choices([*weights], weights=[*weights.values()])[0]()

    # What the pools hold.

    def _maybe(self, value: T, chance: float = 0.5) -> T | None:
        return value if self.random.random() < chance else None

    def _some(self, values: Sequence[T], least: int = 0) -> list[T]:
        return self.random.sample(values, self.random.randint(least, len(values)))

    def _tenant(self) -> str:
        return f"tenant{self.random.randrange(self.pools.tenants)}"

    def _job_ref(self) -> JobRef:
        return JobRef("flights", f"job{self.random.randrange(self.pools.jobs)}")

    def _dataset_ref(self) -> DatasetRef:
        return DatasetRef("kafka://b:9092", f"dataset{self.random.randrange(self.pools.datasets)}")

    def _run_id(self) -> str:
        return f"0197c1de-0000-7bd1-9d55-00000000000{self.random.randrange(self.pools.runs)}"

    def _query_id(self) -> str:
        return f"5b1fb1d4-7d4b-4c0f-8d8a-00000000000{self.random.randrange(self.pools.queries)}"

    def _time(self) -> datetime:
        days = self.random.randrange(self.pools.days) if self.pools.days > 1 else 0
        return START + timedelta(days, seconds=self.random.randrange(self.pools.times))

    def _path(self) -> str:
        return f"c{self.random.randrange(self.pools.columns)}"

    def _versions(self) -> Versions | None:
        return self._maybe(
            Versions(
                code=self._maybe(f"v{self.random.randrange(3)}"),
                engine=self._maybe(EngineRef("spark", self.random.choice(["4.0.0", "4.0.1"]))),
            )
        )

    def _facets(self) -> dict[str, str]:
        names = self._some(["a", "b c", "ü"])
        return {name: self.random.choice(["", '{"x":1}', '{"x":2}']) for name in names}

    def _added_files(self) -> dict[str, str]:
        texts = ['{"count":3,"paths":["/t/b","/t/p=1/a"]}', '{"count":0,"paths":[]}']
        return {"headwater_addedFiles": self.random.choice(texts)} if self.random.random() < 0.2 else {}

    def _tags(self) -> tuple[Tag, ...] | None:
        tags = [Tag(key="pii"), Tag(key="pii", value="email"), Tag(key="gold", source="ui", field="c1")]
        return self._maybe(tuple(self._some(tags)))

    def _owners(self) -> tuple[Owner, ...] | None:
        return self._maybe(tuple(self._some([Owner("team:a"), Owner("team:b", "MAINTAINER")])))

    # Positions.

    def _kafka(self) -> Position:
        ranges = []
        for partition in self._some([0, 1, 2], least=1):
            start = self.random.randrange(3) * 10
            ranges.append(OffsetRange(partition, start, start + self.random.choice([0, 10, 10, 20])))
        return Position(kafka=KafkaRanges("t", tuple(sorted(ranges)), self._maybe(self.random.choice("xy"))))

    def _position(self) -> Position:
        digest = self.random.choice(["m1", "m2"])
        return self.random.choice(
            [
                self._kafka(),
                Position(
                    table_snapshot=TableSnapshot(
                        format="iceberg",
                        snapshot_id=str(self.random.randrange(3)),
                        parent_id=self._maybe("0"),
                        operation=self._maybe(self.random.choice(["append", "overwrite"])),
                        partitions=tuple(self._some(["d=2", "d=1"])),
                    )
                ),
                Position(
                    files=FileSet(count=2, bytes=self._maybe(7), manifest_digest=self._maybe(digest), pattern="*")
                ),
                Position(opaque=OpaqueRange(from_json=self._maybe("{}"), to_json="{}")),
                Position(time_range=TimeRange(from_=START, to_exclusive=self._time())),
                Position(),
            ]
        )

    def _uses(self, *, kafka: bool = False) -> tuple[DatasetUse, ...]:
        return tuple(
            DatasetUse(
                dataset=self._dataset_ref(),
                position=self._maybe(self._kafka() if kafka else self._position(), 0.8),
                certainty=self.random.choice(list(Certainty)),
                rows=self._maybe(self.random.randrange(100)),
                facets=(self._facets() if self.random.random() < 0.1 else {}) | self._added_files(),
                inputs=self._maybe(tuple(sorted({self._dataset_ref() for _ in range(self.random.randrange(3))}))),
                possible=self.random.random() < 0.6,
                schema_digest=self._maybe(self.random.choice(["s1", "s2"]), 0.3),
            )
            for _ in range(self.random.randrange(3))
        )

    # Bodies.

    def _run(self) -> LineageEvent:
        kind = self.random.choice(list(RunEventType))
        parent = ParentRun(self._run_id(), self._job_ref())
        body = RunEvent(
            type=kind,
            processing_type=self.random.choice(list(ProcessingType)),
            inputs=self._uses(),
            outputs=self._uses(),
            started_at=self._maybe(self._time(), 0.3),
            ended_at=self._maybe(self._time(), 0.3),
            nominal_start=self._maybe(self._time()),
            versions=self._versions(),
            parent=self._maybe(parent, 0.3),
            root=self._maybe(ParentRun(self._run_id(), self._job_ref()), 0.2),
            error=self._maybe(RunError(message="m", type=self._maybe("T"), stack_trace=self._maybe("s")), 0.3),
            publication=self.random.choice(list(PublicationState)),
            plan_digest=self._maybe(plan_digest(self.random.choice(self.lineages))),
            query_id=self._maybe(self._query_id(), 0.3),
            checkpoint_location=self._maybe("/c1", 0.3),
            context=self._maybe(self._context(), 0.3),
            rows_rejected=self._maybe(self.random.randrange(3), 0.2),
            provenance=self._maybe(Provenance.RECONCILED, 0.2) or Provenance.UNKNOWN,
            quality=self._maybe(self._results(), 0.2) or (),
            run_facets=self._facets(),
            job_facets=self._facets(),
        )
        return build.lineage_event(
            body,
            job=self._job_ref(),
            run=RunRef(self._run_id()),
            producer=self.random.choice([PRODUCER, "p2"]),
            event_time=self._time(),
            tenant=self._tenant(),
        )

    def _results(self) -> tuple[QualityResult, ...]:
        about = QualityResult(assertion="s", passed=False, dataset=self._dataset_ref(), suite="t", severity="warn")
        results = (QualityResult(assertion="q", passed=True), QualityResult(assertion="r", passed=False, value=0.1))
        return (*results, about) if self.random.random() < 0.3 else results

    def _context(self) -> RunContext:
        return RunContext(
            script=self._maybe("a.py"),
            branch=self._maybe(self.random.choice(["main", "fix"])),
            campaign=self._maybe(""),
            statement=self._maybe("SELECT 1"),
        )

    def _interval(self) -> LineageEvent:
        first = self.random.randrange(self.pools.batches)
        provenance = self.random.choice(list(Provenance))
        body = IntervalEvent(
            query_id=self._query_id(),
            entries=tuple(self._entry(first + n) for n in range(self.random.choice([1, 1, 1, 2, 3]))),
            query_name=self._maybe(self.random.choice(["enrich", "stats", ""])),
            checkpoint_location=self._maybe(self.random.choice(["/c1", "/c2"])),
            versions=self._versions(),
            reason=self.random.choice(list(EmissionReason)),
            provenance=provenance,
        )
        return build.lineage_event(
            body,
            job=self._job_ref(),
            run=self._maybe(RunRef(self._run_id())),
            producer=PRODUCER,
            event_time=self._time(),
            tenant=self._tenant(),
        )

    def _entry(self, batch_id: int) -> IntervalEntry:
        # Mostly the offsets that the batch id suggests, so that reports of one batch often agree.
        inputs = self._uses(kafka=True)
        if self.random.random() < 0.7:
            ranges = tuple(OffsetRange(p, batch_id * 10, batch_id * 10 + 10) for p in range(2))
            inputs = (
                DatasetUse(
                    dataset=DatasetRef("kafka://b:9092", "dataset0"),
                    position=Position(kafka=KafkaRanges("t", ranges)),
                    certainty=self.random.choice([Certainty.EXACT, Certainty.INFERRED]),
                    rows=self._maybe(20),
                ),
            )
        results = self._results()
        return IntervalEntry(
            batch_id=batch_id,
            processing_time=self._maybe(self._time(), 0.8),
            inputs=inputs,
            outputs=self._uses(),
            watermark_before=self._maybe(self._time(), 0.3),
            rows_in=self._maybe(self.random.randrange(10)),
            quality=self._maybe(results) or (),
            plan_digest=self._maybe(plan_digest(self.random.choice(self.lineages))),
        )

    def _lineage(self) -> ColumnLineage:
        datasets = tuple(sorted({self._dataset_ref() for _ in range(3)}))
        edges = []
        for _ in range(self.random.randrange(6)):
            source = self._maybe(self.random.randrange(len(datasets)), 0.8)
            edges.append(
                ColumnEdge(
                    output=self.random.randrange(len(datasets)),
                    output_field=self._maybe(self._path(), 0.8),
                    input=source,
                    input_field=None if source is None else self._maybe(self._path(), 0.8),
                    type=self.random.choice(list(TransformationType)),
                    subtype=self._maybe("FILTER"),
                    kind=self.random.choice(list(TransformationKind)),
                    masking=self.random.random() < 0.5,
                    expression=self._maybe(self.random.choice(["e1", "e2"])),
                )
            )
        complete = self.random.random() < 0.5
        return ColumnLineage(datasets=datasets, edges=tuple(edges), complete=complete)

    def _lineage_of_run(self) -> ColumnLineage:
        """A known lineage, its expressions worded one way or another."""
        lineage = self.random.choice(self.lineages)
        texts = tuple(Expression(id_, f"{id_}{self.random.choice('ab')}") for id_ in self._some(["e1", "e2"]))
        return ColumnLineage(
            datasets=lineage.datasets,
            edges=lineage.edges,
            complete=lineage.complete,
            expressions=tuple(sorted(texts)),
            incomplete_reason=self._maybe("too large", 0.3),
        )

    def _plan(self) -> LineageEvent:
        return build.lineage_event(
            self._lineage_of_run(),
            job=self._job_ref(),
            producer=PRODUCER,
            event_time=self._time(),
            tenant=self._tenant(),
        )

    def _dataset(self) -> LineageEvent:
        fields = tuple(
            SchemaField(path=path, type=self._maybe(self.random.choice(["int", "string"])), nullable=self._maybe(True))
            for path in self._some(["c0", "c1", "c2", "c3"])
        )
        lifecycle = self._maybe(self.random.choice(list(LifecycleChange)))
        body = DatasetEvent(
            dataset=self._dataset_ref(),
            type=self._maybe(self.random.choice(["TABLE", ""])),
            schema=self._maybe(SchemaDefinition(fields), 0.7),
            owners=self._owners(),
            tags=self._tags(),
            classification=self._maybe(self.random.choice(["restricted", ""])),
            storage=self._maybe(Storage("iceberg", self._maybe("parquet"))),
            symlinks=self._maybe((Symlink("n", "l2"), Symlink("n", "l1", "TABLE"))),
            lifecycle=lifecycle,
            previous=self._dataset_ref() if lifecycle is LifecycleChange.RENAME else None,
            facets=self._facets() | (self._column_changes() if lifecycle is LifecycleChange.ALTER else {}),
        )
        return build.lineage_event(body, producer=PRODUCER, event_time=self._time(), tenant=self._tenant())

    def _column_changes(self) -> dict[str, str]:
        renamed = '{"renamed":[{"previous":"c0","path":"c4"}],"dropped":["c1"]}'
        return {"headwater_columns": self.random.choice([renamed, '{"dropped":["c0","c5"]}', ""])}

    def _job(self) -> LineageEvent:
        body = JobEvent(
            processing_type=self._maybe(self.random.choice(list(ProcessingType))),
            description=self._maybe(self.random.choice(["d", ""])),
            inputs=self._maybe(tuple(sorted({self._dataset_ref() for _ in range(self.random.randrange(3))}))),
            outputs=self._maybe(tuple(sorted({self._dataset_ref() for _ in range(self.random.randrange(3))}))),
            lineage=self._maybe(self._lineage_of_run(), 0.3),
            owners=self._owners(),
            tags=self._tags(),
            source=self._maybe(SourceLocation(type="git", url="u", version=self._maybe("v1"))),
            facets=self._facets(),
        )
        return build.lineage_event(
            body, job=self._job_ref(), producer=PRODUCER, event_time=self._time(), tenant=self._tenant()
        )

    def _retention(self) -> LineageEvent:
        job = self._maybe(self._job_ref())
        body = RetentionEvent(
            before=self._time(),
            mode=self.random.choice([RetentionMode.SUMMARIZE, RetentionMode.SUMMARIZE, RetentionMode.DROP]),
            namespace=self._maybe("flights") if job is None else job.namespace,
            job=None if job is None else job.name,
        )
        return build.lineage_event(body, producer=PRODUCER, event_time=self._time(), tenant=self._tenant())

    def _declared(self) -> LineageEvent:
        """A declaration, or a revision that lists some of few: some never have an event, some sets never a revision."""
        if not self.declarations:
            self.declarations = [self._declaration() for _ in range(6)]
        body: DeclarationEvent | DeclarationSetEvent = self.random.choice(self.declarations)
        if self.random.random() < 0.4:
            listed = [one for one in self.declarations if one.set == body.set and self.random.random() < 0.6]
            body = DeclarationSetEvent(
                set=body.set,
                revision=self.random.randrange(1, 4),
                items=tuple(sorted({declaration_digest(one) for one in listed})),
                source=self._maybe("a file"),
            )
        return build.lineage_event(body, producer=PRODUCER, event_time=self._time(), tenant=self._tenant())

    def _declaration(self) -> DeclarationEvent:
        body = DeclarationEvent(
            set=self.random.choice(["a", "b"]),
            owners=self._owners(),
            sensitivity=self._maybe(self.random.choice(list(Sensitivity))),
            certified=self._maybe(self.random.random() < 0.5),
            glossary=self._maybe(("term",)),
        )
        match self.random.randrange(3):
            case 0:
                columns = tuple(
                    DeclaredColumn(
                        path=path,
                        sensitivity=self._maybe(Sensitivity.PII),
                        tags=self._maybe((Tag(key="t"),)),
                        approval=self._maybe(self._approval(), 0.3),
                        smallest_group=self._maybe(self.random.randrange(30), 0.3),
                        type=self._maybe(self.random.choice(["int", "string"]), 0.3),
                    )
                    for path in self._some(["c0", "c1"])
                )
                marks = tuple(self._mark(name) for name in self._some(["critical", "legal-hold"]))
                changed: dict[str, Any] = {
                    "dataset": self._dataset_ref(),
                    "columns": self._maybe(columns),
                    "marks": self._maybe(marks),
                }
            case 1:
                changed = {
                    "job": self._job_ref(),
                    "inputs": self._maybe((self._dataset_ref(),)),
                    "outputs": self._maybe((self._dataset_ref(),)),
                    "lineage": self._maybe(self._lineage_of_run(), 0.3),
                    "partitions": self._maybe((self._partitions(),), 0.3),
                }
            case _:
                reads = (DatasetRead(self._dataset_ref(), tuple(self._some(["c0", "c1"]))),)
                changed = {"consumer": self.random.choice(["x", "y"]), "reads": self._maybe(reads, 0.9)}
        return msgspec.structs.replace(body, **changed)

    def _incident(self) -> LineageEvent:
        """An action on one of two incidents; parts come from a small pool, so most are added and removed again."""
        action = self.random.choice([action for action in IncidentAction if action is not IncidentAction.UNKNOWN])
        title = "t" if action is IncidentAction.OPENED else self._maybe("u", 0.2)
        changed: dict[str, Any] = {}
        parts = [self._part(), self._part()]
        match action:
            case IncidentAction.OPENED:
                changed = {"scope": self._maybe(tuple(parts))}
            case IncidentAction.SCOPE_CHANGED if parts[0] == parts[1]:
                changed = {"removed": (parts[0],)}
            case IncidentAction.SCOPE_CHANGED:
                changed = {"scope": (parts[0],), "removed": self._maybe((parts[1],))}
            case IncidentAction.REPAIRED:
                changed = {"scope": tuple(parts)}
            case IncidentAction.ASSIGNED:
                changed = {"assignee": self.random.choice(["x", "y"])}
            case IncidentAction.MERGED | IncidentAction.SUPERSEDED:
                changed = {"into": self.random.choice(["i2", "i3"])}
            case IncidentAction.REACHED:
                changed = {"reached": self._reached(), "as_of": self._time(), "complete": self.random.random() < 0.5}
            case IncidentAction.NOTIFIED:
                changed = {"notified": self._notified()}
            case IncidentAction.RESOLVED:
                changed = {"resolution": self.random.choice([*IncidentResolution][1:])}
        body = IncidentEvent(
            incident=self.random.choice(["i0", "i1"]),
            action=action,
            by=self.random.choice(["me", "a check"]),
            reason="why",
            title=title,
            severity=self._maybe(self.random.choice(list(IncidentSeverity)), 0.2),
            type=self._maybe(self.random.choice(list(IncidentType)), 0.2),
            cause=self._maybe("c", 0.2),
            **changed,
        )
        return build.lineage_event(body, producer=PRODUCER, event_time=self._time(), tenant=self._tenant())

    def _reached(self) -> tuple[ReachedDataset, ...]:
        """Some of the datasets; some of these are cleared."""
        names = sorted({self._dataset_ref() for _ in range(self.random.randint(0, 3))})
        return tuple(self._reached_dataset(name) for name in names)

    def _notified(self) -> tuple[NotifiedRecipient, ...]:
        """One or two of two recipients."""
        names = sorted({self.random.choice(["x", "y"]) for _ in range(2)})
        changes = [each for each in NotificationChange if each is not NotificationChange.UNKNOWN]
        return tuple(
            NotifiedRecipient(recipient=name, channel="c", digest="ab" * 32, change=self.random.choice(changes))
            for name in names
        )

    def _reached_dataset(self, dataset: DatasetRef) -> ReachedDataset:
        part = ReachedPart(certainty=Certainty.EXACT, version=self.random.choice(["1", "2"]))
        parts = tuple(self._some([part, msgspec.structs.replace(part, format="delta")]))
        return ReachedDataset(
            dataset=dataset,
            depth=self.random.randrange(3),
            certainty=self.random.choice(list(Certainty)),
            since=self._maybe(self._time()),
            cleared=not parts,
            parts=parts,
            part_count=len(parts),
            digest="ab" * 32,
        )

    def _part(self) -> IncidentScope:
        match self.random.randrange(6):
            case 0:
                return IncidentScope(dataset=self._dataset_ref(), column=self._maybe(self._path()))
            case 1:
                span: dict[str, Any] = (
                    {"since": START, "clock": IncidentClock.EVENT} if self.random.random() < 0.5 else {}
                )
                return IncidentScope(dataset=self._dataset_ref(), partition=self._maybe("day=1"), **span)
            case 2:
                return IncidentScope(job=self._job_ref(), code_version=self._maybe("v1"))
            case 3:
                return IncidentScope(run=self._run_id())
            case 4:
                return IncidentScope(query=self._query_id(), from_batch=self._maybe(1))
            case _:
                return IncidentScope(consumer=self.random.choice(["x", "y"]))

    def _approval(self) -> Approval:
        covers, sensitivity = (self.random.choice(list(Sensitivity)) for _ in range(2))
        return Approval(covers=covers, sensitivity=sensitivity, by="me", reason="why", until=self._maybe("2027-06-30"))

    def _mark(self, name: str) -> DatasetMark:
        spread = self._maybe(self.random.choice(list(MarkSpread)))
        return DatasetMark(mark=name, version=self._maybe("7"), spread=spread, reason=self._maybe("why"))

    def _partitions(self) -> PartitionMapping:
        source, target = self._dataset_ref(), self._dataset_ref()
        return PartitionMapping(input=source, output=target, input_field="day", output_field="month", transform="month")


def ending_events(random: random.Random, count: int) -> list[LineageEvent]:
    """`count` events of applications that are killed and started again, each with queries and batch writes.

    Runs mostly report no end, and most are in one query and below one application, where events mention these at all.
    """
    return [_ending(random) for _ in range(count)]


def _ending(random: random.Random) -> LineageEvent:
    number = random.randrange(9)
    is_odd = random.random() < 0.05
    query = number % 3 if not is_odd else random.randrange(3)
    above = number // 3 if not is_odd else random.randrange(3)
    time = START + timedelta(seconds=above * 4 + query + random.choice([0, 0, 1, 2, 5]))
    app, run = ParentRun(f"app{above}", JobRef("f", "app")), RunRef(f"run{number}")
    job = JobRef("f", f"job{query}")
    query_id = f"query{query}" if query else None
    if query_id is not None and random.random() < 0.3:
        entry = IntervalEntry(batch_id=random.randrange(9), processing_time=time)
        interval = IntervalEvent(query_id=query_id, entries=(entry,), provenance=Provenance.OBSERVED)
        return build.lineage_event(interval, job=job, run=run, producer=PRODUCER, event_time=time)
    types = (RunEventType.START, RunEventType.RUNNING, RunEventType.OTHER, RunEventType.COMPLETE, RunEventType.ABORT)
    [type_] = random.choices(types, weights=(12, 6, 2, 1, 1))
    if random.random() < 0.2:
        body = RunEvent(type=type_, parent=random.choice([None, ParentRun("dag", JobRef("a", "dag")), app]))
        return build.lineage_event(body, job=app.job, run=RunRef(app.run_id), producer=PRODUCER, event_time=time)
    body = RunEvent(
        type=type_,
        query_id=query_id if random.random() < 0.8 else None,
        parent=app if random.random() < 0.8 else None,
    )
    return build.lineage_event(body, job=job, run=run, producer=PRODUCER, event_time=time)
