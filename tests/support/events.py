"""One event of each kind with every field set."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from headwater_schemas.events import (
    ApiCursor,
    Approval,
    CdcPosition,
    Certainty,
    ColumnEdge,
    ColumnLineage,
    ConsumerType,
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
    TableRange,
    TableSnapshot,
    Tag,
    TimeRange,
    TransformationKind,
    TransformationType,
    Versions,
    build,
)
from headwater_schemas.identity import declaration_digest

PRODUCER = "https://headwater.example/test"
TIME = datetime(2013, 1, 1, 5, 15, 0, 123456, tzinfo=UTC)
LATER = datetime(2013, 1, 1, 5, 16, tzinfo=UTC)
JOB = JobRef("flights", "enrich")
RUN = RunRef("0197c1de-52f0-7bd1-9d55-1a2b3c4d5e6f")
QUERY_ID = "5b1fb1d4-7d4b-4c0f-8d8a-3c1b2a190807"
DEPARTED = DatasetRef("kafka://broker-1:9092,broker-2:9092", "flights.departed")
ENRICHED = DatasetRef("kafka://broker-1:9092,broker-2:9092", "flights.enriched")
AIRLINES = DatasetRef("file", "/data/airlines")
VERSIONS = Versions(code="4f2c9e1", config="prod-7", engine=EngineRef("spark", "4.0.0"), capture="0.1.0")

POSITIONS = (
    Position(kafka=KafkaRanges("flights.departed", (OffsetRange(0, 10, 20), OffsetRange(1, 7, 7)), "b1C2d3E4f5G6")),
    Position(
        table_snapshot=TableSnapshot(
            format="iceberg", snapshot_id="42", parent_id="41", operation="append", partitions=("month=1/day=1",)
        )
    ),
    Position(table_range=TableRange(format="delta", from_="3", to="5")),
    Position(
        files=FileSet(
            count=2, bytes=300, manifest_digest="c0" * 32, paths=("a.parquet", "b.parquet"), pattern="*.parquet"
        )
    ),
    Position(cdc=CdcPosition(system="postgres", from_="0/16B3740", to="0/16B3748")),
    Position(api_cursor=ApiCursor(from_="page-1", to="page-2")),
    Position(time_range=TimeRange(from_=TIME, to_exclusive=LATER)),
    Position(opaque=OpaqueRange(from_json='{"a":1}', to_json='{"a":2}')),
)

LINEAGE = ColumnLineage(
    datasets=(AIRLINES, DEPARTED, ENRICHED),
    edges=(
        ColumnEdge(output=2, input=0, input_field="carrier", type=TransformationType.INDIRECT, subtype="JOIN"),
        ColumnEdge(
            output=2,
            output_field="delay.`total.min`",
            input=1,
            input_field="legs.[].dep_delay",
            type=TransformationType.DIRECT,
            subtype="TRANSFORMATION",
            kind=TransformationKind.DERIVE,
            masking=True,
            expression="e1",
        ),
    ),
    expressions=(Expression("e1", "dep_delay + arr_delay"),),
    complete=False,
    incomplete_reason="too large",
)


QUALITY = QualityResult(
    assertion="not_null",
    passed=False,
    column="carrier",
    value=0.5,
    dataset=ENRICHED,
    rule="COMPLETENESS",
    severity="error",
    suite="enriched",
    suite_version="3",
)


def full_run_event() -> LineageEvent:
    uses = tuple(
        DatasetUse(
            dataset=DEPARTED,
            position=position,
            certainty=Certainty.EXACT,
            rows=10,
            bytes=1_000,
            files=2,
            facets={"custom": '{"x":1}'},
            schema_digest="5c" * 16,
        )
        for position in POSITIONS
    )
    body = RunEvent(
        type=RunEventType.FAIL,
        processing_type=ProcessingType.BATCH,
        inputs=uses,
        outputs=(DatasetUse(dataset=ENRICHED, inputs=(DEPARTED,)), DatasetUse(dataset=AIRLINES, possible=True)),
        started_at=TIME,
        ended_at=LATER,
        nominal_start=TIME,
        nominal_end=LATER,
        versions=VERSIONS,
        parent=ParentRun("0197c1de-0000-7bd1-9d55-1a2b3c4d5e6f", JobRef("airflow", "daily.flights")),
        root=ParentRun("0197c1de-1111-7bd1-9d55-1a2b3c4d5e6f", JobRef("airflow", "daily")),
        error=RunError(type="java.io.IOException", message="disk full", stack_trace="at x.Y.z"),
        publication=PublicationState.PARTIAL,
        plan_digest="ab" * 16,
        query_id=QUERY_ID,
        checkpoint_location="file:/checkpoints/enrich",
        context=RunContext(
            script="jobs/enrich.py",
            repository="https://git.example/flights",
            branch="main",
            package="flights 1.4.2",
            image=f"registry.example/flights@sha256:{'ab' * 32}",
            user="etl",
            service="system:serviceaccount:etl:flights",
            campaign="backfill-2013",
            statement="INSERT INTO enriched SELECT * FROM departed",
        ),
        rows_rejected=3,
        provenance=Provenance.RECONCILED,
        quality=(QUALITY, QualityResult(assertion="recent", passed=True)),
        run_facets={"spark_properties": "{}"},
        job_facets={"sql": '{"query":"select 1"}'},
    )
    return build.lineage_event(body, job=JOB, run=RUN, producer=PRODUCER, event_time=TIME)


def full_interval_event() -> LineageEvent:
    def entry(batch_id: int) -> IntervalEntry:
        ranges = tuple(OffsetRange(p, 50 * batch_id, 50 * batch_id + 50) for p in range(8))
        return IntervalEntry(
            batch_id=batch_id,
            processing_time=TIME,
            inputs=(
                DatasetUse(
                    dataset=DEPARTED,
                    position=Position(kafka=KafkaRanges("flights.departed", ranges, "b1C2d3E4f5G6")),
                    certainty=Certainty.EXACT,
                    rows=400,
                ),
            ),
            outputs=(DatasetUse(dataset=ENRICHED, certainty=Certainty.UNKNOWN, schema_digest="5d" * 16),),
            watermark_before=TIME,
            watermark_after=LATER,
            duration_ms=412,
            rows_in=400,
            rows_out=398,
            rows_dropped_late=2,
            state_rows=17,
            state_bytes=4_096,
            quality=(QUALITY,),
            plan_digest="ab" * 16,
        )

    body = IntervalEvent(
        query_id=QUERY_ID,
        entries=(entry(7), entry(8)),
        query_name="enrich",
        checkpoint_location="file:/checkpoints/enrich",
        versions=VERSIONS,
        reason=EmissionReason.CHECKPOINT,
        provenance=Provenance.OBSERVED,
    )
    return build.lineage_event(body, job=JOB, run=RUN, producer=PRODUCER, event_time=TIME)


def full_plan_event() -> LineageEvent:
    return build.lineage_event(LINEAGE, job=JOB, run=RUN, producer=PRODUCER, event_time=TIME)


def full_dataset_event() -> LineageEvent:
    body = DatasetEvent(
        dataset=ENRICHED,
        type="TOPIC",
        schema=SchemaDefinition(
            (
                SchemaField(path="origin", type="string", nullable=False, description="IATA code"),
                SchemaField(path="legs.[].carrier", type="string"),
            )
        ),
        description="Flights with their airline and plane",
        owners=(Owner("team:flights", "MAINTAINER"), Owner("jo")),
        tags=(Tag(key="pii", value="no", source="catalog", field="origin"),),
        classification="internal",
        criticality="tier-1",
        storage=Storage("kafka", "json"),
        symlinks=(Symlink("hive://metastore:9083", "flights.enriched", "TABLE"),),
        lifecycle=LifecycleChange.RENAME,
        previous=DatasetRef("kafka://broker-1:9092,broker-2:9092", "flights.joined"),
        source_uri="https://kafka-ui.example/flights.enriched",
        facets={"custom": "[1, 2]"},
    )
    return build.lineage_event(body, job=JOB, run=RUN, producer=PRODUCER, event_time=TIME, tenant="acme")


def full_job_event() -> LineageEvent:
    body = JobEvent(
        processing_type=ProcessingType.STREAMING,
        integration="SPARK",
        job_type="QUERY",
        description="Joins flights with airlines",
        inputs=(AIRLINES, DEPARTED),
        outputs=(ENRICHED,),
        lineage=LINEAGE,
        owners=(Owner("team:flights"),),
        tags=(Tag(key="team", value="flights"),),
        criticality="tier-2",
        source=SourceLocation(
            type="git",
            url="https://git.example/flights/enrich.py",
            repo_url="https://git.example/flights",
            path="enrich.py",
            version="4f2c9e1",
            branch="main",
        ),
        facets={"custom": "null"},
    )
    return build.lineage_event(body, job=JOB, producer=PRODUCER, event_time=TIME, document='{"eventTime":null}')


def full_retention_event() -> LineageEvent:
    body = RetentionEvent(before=LATER, mode=RetentionMode.SUMMARIZE, namespace="flights", job="enrich")
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME)


def full_declaration_event() -> LineageEvent:
    body = DeclarationEvent(
        set="flights",
        dataset=ENRICHED,
        description="Flights with their airline and plane",
        owners=(Owner("team:flights", "MAINTAINER"),),
        tags=(Tag(key="domain", value="travel"),),
        glossary=("flight",),
        classification="operations",
        sensitivity=Sensitivity.INTERNAL,
        criticality="tier-1",
        certified=True,
        freshness_seconds=900,
        deadline="06:00 Europe/Berlin",
        notice_days=14,
        on_call="#flights-on-call",
        contact="flights@example.com",
        url="https://wiki.example/flights",
        keep_days=400,
        reference=False,
        columns=(
            DeclaredColumn(
                path="value.tailnum",
                description="Registration of the plane",
                classification="asset",
                sensitivity=Sensitivity.PII,
                tags=(Tag(key="mask", value="hash"),),
                glossary=("tail number",),
                approval=Approval(
                    covers=Sensitivity.PII,
                    sensitivity=Sensitivity.INTERNAL,
                    by="privacy@example.com",
                    reason="Registrations are public",
                    until="2027-06-30",
                ),
                smallest_group=20,
                type="varchar(6)",
            ),
        ),
        marks=(
            DatasetMark(mark="critical"),
            DatasetMark(mark="legal-hold", version="7", spread=MarkSpread.UPSTREAM, reason="Case 11"),
        ),
    )
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME, tenant="acme")


def full_declaration_of_a_job() -> LineageEvent:
    body = DeclarationEvent(
        set="flights",
        job=JOB,
        inputs=(DEPARTED,),
        outputs=(ENRICHED,),
        lineage=LINEAGE,
        partitions=(
            PartitionMapping(
                input=DEPARTED, output=ENRICHED, input_field="day", output_field="month", transform="month"
            ),
        ),
    )
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME)


def full_declaration_of_a_consumer() -> LineageEvent:
    body = DeclarationEvent(
        set="flights",
        consumer="delay board",
        owners=(Owner("team:operations"),),
        type=ConsumerType.DASHBOARD,
        reads=(DatasetRead(AIRLINES), DatasetRead(ENRICHED, ("value.dep_delay",))),
    )
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME)


def full_declaration_set_event() -> LineageEvent:
    declared = (full_declaration_event(), full_declaration_of_a_job(), full_declaration_of_a_consumer())
    bodies = [event.declaration_event for event in declared]
    body = DeclarationSetEvent(
        set="flights",
        revision=3,
        items=tuple(sorted(declaration_digest(body) for body in bodies if body is not None)),
        format="odcs",
        source="contracts/flights.yaml at 4f2c9e1",
        document="{}",
    )
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME)


DAY = "day=2013-01-01/hour=05"


def full_incident_event() -> LineageEvent:
    """Change of a scope: parts of every sort, with all fields that an action of this sort may have."""
    topic = IncidentScope(
        dataset=DEPARTED,
        column="value.dep_delay",
        offsets=(OffsetRange(0, 10, 20), OffsetRange(0, 30, 31), OffsetRange(1, 0, 5)),
        since=TIME,
        until=LATER,
        clock=IncidentClock.EVENT,
    )
    body = IncidentEvent(
        incident="delays-2013-01-01",
        action=IncidentAction.SCOPE_CHANGED,
        by="jo@example.com",
        reason="The carrier sent minutes as hours",
        title="Delays of one carrier are wrong",
        description="From 05:15 to 05:16",
        severity=IncidentSeverity.SEV2,
        type=IncidentType.BAD_RECORDS,
        cause="carrier:9E/dep_delay",
        scope=(
            topic,
            IncidentScope(dataset=ENRICHED, partition=DAY, since_last_good=True),
            IncidentScope(dataset=AIRLINES, files=("a.csv", "b.csv"), version="7"),
            IncidentScope(job=JOB, code_version="4f2c9e1", since_last_good=True),
            IncidentScope(query=QUERY_ID, from_batch=7, to_batch=9, since=TIME, clock=IncidentClock.PROCESSING),
            IncidentScope(consumer="delay board"),
        ),
        removed=(IncidentScope(run=RUN.run_id),),
    )
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME, tenant="acme")


def full_incident_of_an_opening() -> LineageEvent:
    body = IncidentEvent(
        incident="delays-2013-01-01",
        action=IncidentAction.OPENED,
        by="headwater check",
        title="Delays are wrong",
        scope=(IncidentScope(run=RUN.run_id),),
    )
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME)


def full_incident_of_an_assignment() -> LineageEvent:
    body = IncidentEvent(
        incident="delays-2013-01-01", action=IncidentAction.ASSIGNED, by="jo@example.com", assignee="team:flights"
    )
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME)


def full_incident_of_a_merge() -> LineageEvent:
    body = IncidentEvent(
        incident="delays-2013-01-01", action=IncidentAction.MERGED, by="jo@example.com", into="delays-2012-12-31"
    )
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME)


def full_incident_of_a_resolution() -> LineageEvent:
    body = IncidentEvent(
        incident="delays-2013-01-01",
        action=IncidentAction.RESOLVED,
        by="jo@example.com",
        reason="Both jobs ran again",
        resolution=IncidentResolution.REPAIRED,
    )
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME)


def full_incident_of_a_reach() -> LineageEvent:
    """An answer of one dataset, with a part of every sort."""
    exact, possibly = Certainty.EXACT, Certainty.UPPER_BOUND
    parts = (
        ReachedPart(certainty=exact, topic_id="b1C2d3E4f5G6", offsets=(OffsetRange(0, 10, 20), OffsetRange(1, 0, 5))),
        ReachedPart(certainty=exact, files=("a.csv", "b.csv"), file_count=7),
        ReachedPart(certainty=exact, format="delta", version="5", from_version="3", partitions=(DAY,)),
        ReachedPart(certainty=possibly, position='{"cursor":7}'),
        ReachedPart(certainty=possibly, since=TIME, until=LATER),
    )
    reached = ReachedDataset(
        dataset=ENRICHED,
        depth=1,
        certainty=possibly,
        since=TIME,
        cleared=False,
        parts=parts,
        part_count=6,
        digest="0123456789abcdef" * 4,
    )
    body = IncidentEvent(
        incident="delays-2013-01-01",
        action=IncidentAction.REACHED,
        by="headwater blast",
        reason="Asked again after the repair",
        reached=(reached,),
        as_of=LATER,
        complete=False,
    )
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME)


def full_incident_of_a_notification() -> LineageEvent:
    """A recipient of each change."""
    changes = [each for each in NotificationChange if each is not NotificationChange.UNKNOWN]
    notified = tuple(
        NotifiedRecipient(recipient=f"team:{n}", channel="#flights", digest=f"{n}123456789abcdef" * 4, change=change)
        for n, change in enumerate(changes)
    )
    body = IncidentEvent(
        incident="delays-2013-01-01", action=IncidentAction.NOTIFIED, by="headwater notify", notified=notified
    )
    return build.lineage_event(body, producer=PRODUCER, event_time=TIME)


FULL_EVENTS = {
    "run": full_run_event,
    "interval": full_interval_event,
    "plan": full_plan_event,
    "dataset": full_dataset_event,
    "job": full_job_event,
    "retention": full_retention_event,
    "declaration": full_declaration_event,
    "declaration_of_a_job": full_declaration_of_a_job,
    "declaration_of_a_consumer": full_declaration_of_a_consumer,
    "declaration_set": full_declaration_set_event,
    "incident": full_incident_event,
    "incident_of_an_opening": full_incident_of_an_opening,
    "incident_of_an_assignment": full_incident_of_an_assignment,
    "incident_of_a_merge": full_incident_of_a_merge,
    "incident_of_a_resolution": full_incident_of_a_resolution,
    "incident_of_a_reach": full_incident_of_a_reach,
    "incident_of_a_notification": full_incident_of_a_notification,
}


def with_body(name: str, **fields: Any) -> LineageEvent:
    """A full event with fields of its body changed; its id stays."""
    event = FULL_EVENTS[name]()
    field = f"{event.kind.lower()}_event"
    body = msgspec.structs.replace(getattr(event, field), **fields)
    return msgspec.structs.replace(event, **{field: body})
