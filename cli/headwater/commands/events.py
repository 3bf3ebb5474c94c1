"""`headwater events`: the newest records of the events topic, decoded."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from headwater.connection import client_config, require_servers
from headwater.console import JsonOption, console
from headwater.decoding import event_decoder
from headwater.kafka_errors import asking_kafka
from headwater.settings import connected_settings
from headwater.show import events as show
from headwater_consumers.kafka.records import FetchedRecord
from headwater_consumers.kafka.topic_reader import records_to_end
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import DecodeError, UnreadableRecordError
from headwater_schemas.events import EventKind, LineageEvent
from headwater_schemas.kafka.client import quiet

Read = tuple["FetchedRecord", LineageEvent | DecodeError]


def command(
    last: Annotated[int, typer.Option("--last", min=1, help="Number of events, the newest published.")] = 20,
    job: Annotated[str | None, typer.Option(help="Only events of this job: namespace/name, or its name.")] = None,
    kind: Annotated[
        list[EventKind] | None,
        typer.Option(case_sensitive=False, help="Only events of this kind. Repeatable.", show_default=False),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Show the newest events on the topic, as they were published: no graph and no consumer is needed.

    With --job or --kind the whole topic is read for them. A record that can't be decoded is shown with the reason.
    """
    settings = connected_settings(kafka=True)
    names, client = settings.topic.names(), quiet(client_config(settings.kafka))
    is_choosy = job is not None or bool(kind)
    with (
        asking_kafka(require_servers(settings.kafka), doing=f"reading {names.events}"),
        event_decoder(settings) as decoder,
        console.status(f"Reading {names.events}"),
    ):
        records = records_to_end(client, names.events, newest=None if is_choosy else last)
        found = _chosen(_decoded(records, decoder), job, frozenset(kind or ()))
        newest = heapq.nlargest(last, found, key=_published)
    newest.reverse()
    console.result(show.document(newest), show.table(newest))


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
    """Filter for the events asked for. A record that can't be decoded is shown only without a filter."""
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
