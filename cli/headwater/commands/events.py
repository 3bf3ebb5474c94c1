"""`headwater events`: the newest records of the events topic, decoded."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import msgspec
import typer
from rich.console import RenderableType

from headwater.connection import client_config
from headwater.console import JsonOption, console, plain_table
from headwater.decoding import event_decoder
from headwater.kafka_errors import asking_kafka
from headwater.settings import connected_settings
from headwater_analysis.amounts import amount
from headwater_consumers.kafka.records import FetchedRecord
from headwater_consumers.kafka.topic_reader import records_to_end
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import DecodeError, UnreadableRecordError
from headwater_schemas.events import (
    DatasetEvent,
    DatasetUse,
    DeclarationEvent,
    DeclarationSetEvent,
    EventKind,
    IncidentEvent,
    IntervalEvent,
    JobEvent,
    LineageEvent,
    PlanEvent,
    RetentionEvent,
    RunEvent,
)
from headwater_schemas.kafka.client import quiet
from headwater_schemas.ranges import batches_text
from headwater_schemas.visible import visible

Read = tuple["FetchedRecord", LineageEvent | DecodeError]


def command(
    last: Annotated[int, typer.Option("--last", min=1, help="Number of events, the newest published.")] = 20,
    job: Annotated[str | None, typer.Option(help="Only events of this job: namespace/name, or its name.")] = None,
    kind: Annotated[
        list[EventKind] | None, typer.Option(case_sensitive=False, help="Only events of this kind. Repeatable.")
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Show the newest events on the topic, as they were published: no graph and no consumer is needed.

    With --job or --kind, the whole topic is read. Without them, a record that can't be decoded is shown with the
    reason.
    """
    settings = connected_settings(kafka=True)
    names, client = settings.topic.names(), quiet(client_config(settings.kafka))
    is_filtered = job is not None or bool(kind)
    with (
        asking_kafka(settings.kafka, doing=f"reading {names.events}"),
        event_decoder(settings) as decoder,
        console.status(f"Reading {names.events}"),
    ):
        records = records_to_end(client, names.events, newest=None if is_filtered else last)
        found = _chosen(_decoded(records, decoder), job, frozenset(kind or ()))
        newest = heapq.nlargest(last, found, key=_published)
    newest.reverse()
    console.result(document(newest), table(newest))


def _decoded(records: Iterable[FetchedRecord], decoder: Decoder) -> Iterator[Read]:
    for record in records:
        if record.unread is not None:
            yield record, UnreadableRecordError(record.unread.why)
            continue
        try:
            yield record, decoder.decode(record.value)
        except DecodeError as problem:
            yield record, problem


def _chosen(read: Iterable[Read], job: str | None, kinds: frozenset[EventKind]) -> Iterator[Read]:
    """Filter the events by job and kind. A record that can't be decoded passes only if there is no filter."""
    for record, event in read:
        if isinstance(event, DecodeError):
            if job is None and not kinds:
                yield record, event
        elif (not kinds or event.kind in kinds) and (job is None or _is_of(event, job)):
            yield record, event


def _is_of(event: LineageEvent, job: str) -> bool:
    return event.job is not None and job in (event.job.name, f"{event.job.namespace}/{event.job.name}")


def _published(read: Read) -> tuple[int, int, int]:
    record = read[0]
    return record.timestamp_ms or 0, record.partition.number, record.offset


def document(read: Sequence[tuple[FetchedRecord, LineageEvent | DecodeError]]) -> dict[str, Any]:
    """Document of `events --json`: location of each record, with its event, or the reason why it can't be decoded."""
    return {
        "events": [
            {
                "at": f"{record.partition.number}@{record.offset}",
                "event": None if isinstance(event, DecodeError) else msgspec.to_builtins(event),
                "problem": str(event) if isinstance(event, DecodeError) else None,
            }
            for record, event in read
        ]
    }


def table(read: Sequence[tuple[FetchedRecord, LineageEvent | DecodeError]]) -> RenderableType:
    """Table with a row for each record, the newest last."""
    if not read:
        return "No events."
    rows = plain_table("time", "kind", "job", "what", "at")
    for record, event in read:
        at = f"{record.partition.number}@{record.offset}"
        if isinstance(event, DecodeError):
            rows.add_row("—", "—", "—", visible(str(event)), at)
        else:
            job = visible(event.job.name) if event.job is not None else "—"
            rows.add_row(f"{event.event_time:%Y-%m-%d %H:%M:%S}", visible(event.kind), job, visible(_what(event)), at)
    return rows


def _what(event: LineageEvent) -> str:
    match getattr(event, f"{event.kind.lower()}_event", None):
        case RunEvent() as run:
            error = f": {run.error.message.splitlines()[0]}" if run.error is not None and run.error.message else ""
            return f"{run.type}{error}{_uses(run.inputs, run.outputs)}"
        case IntervalEvent() as interval:
            return _batches(interval)
        case PlanEvent(lineage=lineage):
            why = "" if lineage.complete else f", incomplete: {lineage.incomplete_reason}"
            return f"{amount(len(lineage.edges), 'edge')}{why}"
        case DatasetEvent() as dataset:
            fields = f", {amount(len(dataset.schema.fields), 'field')}" if dataset.schema is not None else ""
            return " ".join(filter(None, (dataset.lifecycle, dataset.dataset.name))) + fields
        case JobEvent() as job:
            return ", ".join(filter(None, (job.processing_type, job.integration, job.job_type)))
        case RetentionEvent() as rule:
            return f"{rule.mode} before {rule.before:%Y-%m-%d}, of {rule.job or rule.namespace or 'all jobs'}"
        case DeclarationEvent() as declared:
            named = declared.dataset or declared.job
            return f"{named.name if named is not None else declared.consumer}, of set {declared.set}"
        case DeclarationSetEvent() as revision:
            number = len(revision.items)
            return f"revision {revision.revision} of set {revision.set}, {amount(number, 'declaration')}"
        case IncidentEvent() as incident:
            return _incident(incident)
    return ""


def _incident(incident: IncidentEvent) -> str:
    details = (
        incident.assignee and f"to {incident.assignee}",
        incident.into and f"into {incident.into}",
        incident.resolution,
        None if incident.reached is None else amount(len(incident.reached), "dataset"),
        None if incident.notified is None else amount(len(incident.notified), "recipient"),
        incident.title or incident.reason,
    )
    return f"{incident.action} {incident.incident}: {', '.join(filter(None, details))}".removesuffix(": ")


def _batches(interval: IntervalEvent) -> str:
    first, last = interval.entries[0], interval.entries[-1]
    return f"{batches_text(first.batch_id, last.batch_id)}, {interval.provenance}{_uses(last.inputs, last.outputs)}"


def _uses(inputs: Iterable[DatasetUse], outputs: Iterable[DatasetUse]) -> str:
    read, written = (", ".join(use.dataset.name for use in uses) for uses in (inputs, outputs))
    return f"  {read or '—'} → {written or '—'}" if read or written else ""
