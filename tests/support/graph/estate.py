"""Events of a small estate, in a real graph, and what `headwater check` finds there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from headwater_analysis.checks import CheckedRule, check, rule_named
from headwater_analysis.reader import Reader
from headwater_schemas.events import (
    Certainty,
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    DeclarationEvent,
    DeclarationSetEvent,
    Expression,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    ParentRun,
    Position,
    Provenance,
    QualityResult,
    RunEvent,
    RunEventType,
    RunRef,
    SchemaDefinition,
    SchemaField,
    Symlink,
    TableSnapshot,
    TransformationKind,
    TransformationType,
    Versions,
    build,
)
from headwater_schemas.identity import declaration_digest, plan_digest
from support.graph.writing import store

if TYPE_CHECKING:
    from neo4j import Driver

DAY = datetime(2025, 1, 1, tzinfo=UTC)
NOW = DAY + timedelta(days=30)
ORDERS, REPORT, OTHER = (DatasetRef("n", name) for name in ("orders", "report", "other"))
LOAD, READ = JobRef("f", "load"), JobRef("f", "read")
CODE = Versions(code="c1")


class Estate:
    """Events of a small estate, and what checking it finds."""

    def __init__(self, driver: Driver, reader: Reader) -> None:
        self.driver = driver
        self.reader = reader
        self.events: list[LineageEvent] = []

    def add(
        self, body: Any, at: datetime = DAY, job: JobRef | None = None, run: str | None = None, **more: Any
    ) -> None:
        ref = None if run is None else RunRef(run)
        event = build.lineage_event(body, job=job, run=ref, producer="test", event_time=at, **more)
        self.events.append(event)

    def ran(
        self,
        job: JobRef,
        *,
        reads: Sequence[DatasetRef | DatasetUse] = (),
        writes: Sequence[DatasetRef | DatasetUse] = (),
        day: int = 0,
        kind: RunEventType = RunEventType.COMPLETE,
        versions: Versions | None = CODE,
        plan: ColumnLineage | None = None,
        parent: ParentRun | None = None,
        run: str = "",
        quality: Sequence[QualityResult] = (),
    ) -> None:
        at = DAY + timedelta(days=day)
        uses = [
            [each if isinstance(each, DatasetUse) else DatasetUse(dataset=each) for each in some]
            for some in (reads, writes)
        ]
        if plan is not None:
            self.add(plan, at, job)
        body = RunEvent(
            type=kind,
            inputs=tuple(uses[0]),
            outputs=tuple(uses[1]),
            plan_digest=None if plan is None else plan_digest(plan),
            started_at=at,
            ended_at=at + timedelta(minutes=1) if kind.is_terminal else None,
            versions=versions,
            parent=parent,
            quality=tuple(quality),
        )
        self.add(body, at + timedelta(minutes=1), job, run or f"{job.name}-{day}")

    def batch(
        self,
        number: int,
        *,
        start: int,
        end: int,
        passed: bool | None = None,
        writes: DatasetRef = ORDERS,
        job: JobRef = LOAD,
        run: str = "stream-1",
        query: str = "q1",
    ) -> None:
        """A micro-batch of a job's query, as its run reported it."""
        ranges = Position(kafka=KafkaRanges("topic", (OffsetRange(0, start, end),)))
        quality = () if passed is None else (QualityResult(assertion="a", passed=passed),)
        entry = IntervalEntry(
            batch_id=number,
            inputs=(DatasetUse(dataset=OTHER, position=ranges, certainty=Certainty.EXACT),),
            outputs=(DatasetUse(dataset=writes),),
            processing_time=DAY + timedelta(minutes=number),
            quality=quality,
        )
        body = IntervalEvent(query_id=query, query_name="enrich", entries=(entry,), provenance=Provenance.OBSERVED)
        self.add(body, DAY, job, run)

    def declared(self, *declarations: DeclarationEvent, format_: str | None = None, day: int = 0) -> None:
        """Declarations of one set, which are all that it has."""
        at = DAY + timedelta(days=day)
        (name,) = {each.set for each in declarations}
        for each in declarations:
            self.add(each, at)
        digests = tuple(sorted(declaration_digest(each) for each in declarations))
        self.add(DeclarationSetEvent(set=name, revision=1, items=digests, format=format_), at)

    def called(self, dataset: DatasetRef, table: str) -> DatasetRef:
        """Declare a dataset's name in a catalog, and return that name."""
        catalog = DatasetRef("hive://metastore:9083", table)
        link = Symlink(catalog.namespace, catalog.name, "TABLE")
        self.add(DatasetEvent(dataset=dataset, type="TABLE", symlinks=(link,)))
        return catalog

    def check(self, rule: str, **more: Any) -> CheckedRule:
        store(self.driver, self.events)
        self.events.clear()
        (found,) = check(self.reader, NOW, rules=[rule_named(rule)], **more).rules
        assert found.total + found.exempted >= len(found.findings)
        return found

    def subjects(self, rule: str, **more: Any) -> list[str]:
        found = self.check(rule, **more)
        assert found.total == len(found.findings)
        return [each.subject.name for each in found.findings]


def version(dataset: DatasetRef, number: int, *, format_: str = "delta") -> DatasetUse:
    position = Position(
        table_snapshot=TableSnapshot(
            format=format_, snapshot_id=str(number), parent_id=str(number - 1) if number else None
        )
    )
    return DatasetUse(dataset=dataset, position=position, certainty=Certainty.EXACT)


def lineage(
    *edges: tuple[str, str], source: DatasetRef = ORDERS, target: DatasetRef = REPORT, **more: Any
) -> ColumnLineage:
    return ColumnLineage(
        datasets=(source, target),
        edges=tuple(
            ColumnEdge(
                output=1,
                output_field=to,
                input=0,
                input_field=of,
                type=TransformationType.DIRECT,
                kind=more.get("kind", TransformationKind.COPY),
                masking=bool(more.get("masking")),
                expression="e" if "expression" in more else None,
            )
            for of, to in edges
        ),
        expressions=(Expression("e", more["expression"]),) if "expression" in more else (),
        complete=more.get("complete", True),
        incomplete_reason=more.get("reason"),
    )


def schema(estate: Estate, dataset: DatasetRef, *columns: str, **more: Any) -> None:
    fields = tuple(SchemaField(path=name, type="string") for name in columns)
    estate.add(DatasetEvent(dataset=dataset, schema=SchemaDefinition(fields=fields), **more))
