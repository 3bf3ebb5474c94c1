"""Conversion of Headwater's events to OpenLineage's documents.

    an event that came from a document   ⇒ that document
    another event of the same document   ⇒ nothing
    RUN                                  ⇒ a RunEvent
    INTERVAL                             ⇒ a RunEvent of type RUNNING for each micro-batch
    PLAN, JOB                            ⇒ a JobEvent
    DATASET                              ⇒ a DatasetEvent

Every document with standard facets also has a facet `headwater` with the fields that standard facets lack (`native`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

import msgspec

from headwater_openlineage.facets import CORE
from headwater_openlineage.native import HEADWATER_FACET, headwater_facet
from headwater_openlineage.origin import PART, document_of
from headwater_openlineage.reading import Json
from headwater_openlineage.times import time_text
from headwater_openlineage.writing import PRODUCER, FacetWriter, run_of
from headwater_schemas.events import (
    Certainty,
    ColumnLineage,
    DatasetEvent,
    DatasetUse,
    IntervalEntry,
    IntervalEvent,
    JobEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    ProcessingType,
    RunEvent,
    RunEventType,
)

Plans = Callable[[str], ColumnLineage | None]
_EMISSION: Final = {"eventTrigger": "EVENT_BASED", "eventContentMode": "COMPLETE_SNAPSHOT"}
_INTEGRATION: Final = "SPARK"


def documents_of(event: LineageEvent, plans: Plans, *, coalesced: bool = False) -> list[Json]:
    """Build the documents of one event.

    Args:
        plans: column lineages of the event's job by digest; None if unknown.
        coalesced: True if micro-batches of an event share a document, provided that their offsets are contiguous.
    """
    document = document_of(event)
    if document is not None:
        return [document]
    if event.document == PART:
        return []
    writer = FacetWriter(event.producer or PRODUCER)
    if event.run_event is not None and event.job is not None:
        return [_with_facet(event, _run(event, event.run_event, event.job, plans, writer), "run", writer)]
    if event.interval_event is not None and event.job is not None:
        interval = event.interval_event
        if coalesced and (whole := joined(interval.entries)) is not None:
            return [_with_facet(event, _interval(event, interval, whole, event.job, plans, writer), "run", writer)]
        return [
            _with_facet(
                _with_only(event, interval, entry),
                _interval(event, interval, entry, event.job, plans, writer),
                "run",
                writer,
            )
            for entry in interval.entries
        ]
    if event.plan_event is not None and event.job is not None:
        body = JobEvent(lineage=event.plan_event.lineage)
        return [_with_facet(event, _job(event.event_time, body, event.job, writer), "job", writer)]
    if event.job_event is not None and event.job is not None:
        return [_with_facet(event, _job(event.event_time, event.job_event, event.job, writer), "job", writer)]
    if event.dataset_event is not None:
        return [_with_facet(event, _dataset(event, event.dataset_event, writer), "dataset", writer)]
    return []


def _with_facet(event: LineageEvent, document: Json, owner: str, writer: FacetWriter) -> Json:
    document[owner]["facets"][HEADWATER_FACET] = headwater_facet(event, document, writer.producer)
    return document


def _head(kind: str, time: datetime, writer: FacetWriter) -> Json:
    return {"eventTime": time_text(time), "producer": writer.producer, "schemaURL": CORE + kind}


def _run(event: LineageEvent, body: RunEvent, job: JobRef, plans: Plans, writer: FacetWriter) -> Json:
    lineage = plans(body.plan_digest) if body.plan_digest is not None and body.outputs else None
    type_ = RunEventType.OTHER if body.type is RunEventType.UNKNOWN else body.type
    job_facets = writer.job_type(body.processing_type, _INTEGRATION) | writer.made_from(body.outputs)
    return {
        **_head("RunEvent", event.event_time, writer),
        "eventType": type_.value,
        "run": run_of(event.run, event.event_id, writer.run_facets(body)),
        "job": writer.job(job, job_facets),
        "inputs": writer.uses(body.inputs, "inputFacets", None, body.quality),
        "outputs": writer.uses(body.outputs, "outputFacets", lineage),
    }


def _with_only(event: LineageEvent, interval: IntervalEvent, entry: IntervalEntry) -> LineageEvent:
    return msgspec.structs.replace(event, interval_event=msgspec.structs.replace(interval, entries=(entry,)))


def _interval(
    event: LineageEvent, interval: IntervalEvent, entry: IntervalEntry, job: JobRef, plans: Plans, writer: FacetWriter
) -> Json:
    lineage = plans(entry.plan_digest) if entry.plan_digest is not None else None
    job_type = writer.job_type(ProcessingType.STREAMING, _INTEGRATION, emissionPattern=_EMISSION)
    return {
        **_head("RunEvent", entry.processing_time or event.event_time, writer),
        "eventType": RunEventType.RUNNING.value,
        "run": run_of(event.run, interval.query_id, writer.engine(interval.versions)),
        "job": writer.job(job, job_type | writer.made_from(entry.outputs)),
        "inputs": writer.uses(entry.inputs, "inputFacets", None, entry.quality),
        "outputs": writer.uses(entry.outputs, "outputFacets", lineage),
    }


def _job(time: datetime, body: JobEvent, job: JobRef, writer: FacetWriter) -> Json:
    outputs = list(body.outputs or ())
    if body.lineage is not None:
        written = {body.lineage.datasets[edge.output] for edge in body.lineage.edges}
        outputs += sorted(written - set(outputs))
    uses = [DatasetUse(dataset=dataset) for dataset in outputs]
    return {
        **_head("JobEvent", time, writer),
        "job": writer.job(job, writer.job_facets(body)),
        "inputs": [writer.dataset(dataset, {}) for dataset in body.inputs or ()],
        "outputs": writer.uses(uses, "outputFacets", body.lineage),
    }


def _dataset(event: LineageEvent, body: DatasetEvent, writer: FacetWriter) -> Json:
    return {
        **_head("DatasetEvent", event.event_time, writer),
        "dataset": writer.dataset(body.dataset, writer.dataset_facets(body)),
    }


def joined(entries: Sequence[IntervalEntry]) -> IntervalEntry | None:
    """Join micro-batches into one, for standard facets: joined ranges, summed counts, time and plan of the last one.

    Args:
        entries: micro-batches by batch id, at least one.

    Returns:
        The joined micro-batch; None if offsets aren't contiguous or the datasets differ.
    """
    inputs, outputs = (_joined_uses([side(entry) for entry in entries]) for side in _SIDES)
    if inputs is None or outputs is None:
        return None
    return msgspec.structs.replace(entries[-1], inputs=inputs, outputs=outputs)


_SIDES: tuple[Callable[[IntervalEntry], tuple[DatasetUse, ...]], ...] = (
    lambda entry: entry.inputs,
    lambda entry: entry.outputs,
)


def _joined_uses(uses: Sequence[tuple[DatasetUse, ...]]) -> tuple[DatasetUse, ...] | None:
    if len({tuple(use.dataset for use in each) for each in uses}) > 1:
        return None
    found = [_joined_use(same) for same in zip(*uses, strict=True)]
    return None if None in found else tuple(use for use in found if use is not None)


def _joined_use(uses: Sequence[DatasetUse]) -> DatasetUse | None:
    last = uses[-1]
    position, certainty = last.position, last.certainty
    if any(use.position is not None and use.position.kafka is not None for use in uses):
        ranges = _joined_ranges([use.position.kafka for use in uses if use.position is not None and use.position.kafka])
        if ranges is None:
            return None
        position = Position(kafka=ranges)
    elif any(use.position != position for use in uses):
        position = None
    if position is None or any(use.certainty is not certainty for use in uses):
        certainty = Certainty.UNKNOWN
    return msgspec.structs.replace(
        last,
        position=position,
        certainty=certainty,
        rows=_sum([use.rows for use in uses]),
        bytes=_sum([use.bytes for use in uses]),
        files=_sum([use.files for use in uses]),
        inputs=last.inputs if all(use.inputs == last.inputs for use in uses) else None,
    )


def _joined_ranges(parts: Sequence[KafkaRanges]) -> KafkaRanges | None:
    if len({(part.topic, part.topic_id) for part in parts}) > 1:
        return None
    found: dict[int, OffsetRange] = {}
    for part in parts:
        for range_ in part.ranges:
            before = found.get(range_.partition)
            if before is not None and before.to_exclusive != range_.from_:
                return None
            start = range_.from_ if before is None else before.from_
            found[range_.partition] = OffsetRange(range_.partition, start, range_.to_exclusive)
    return msgspec.structs.replace(parts[0], ranges=tuple(found[partition] for partition in sorted(found)))


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
