"""Micro-batches of a streaming query in an archive, one by one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from headwater_consumers.archive.archive import Archive
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.fold import fold, reject_decoded
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import JobRef, LineageEvent
from headwater_schemas.identity import job_record_key


def archived_micro_batches(
    archive: Archive,
    decoder: Decoder,
    *,
    tenant: str,
    job: JobRef,
    query_id: str,
    batches: range,
    count: int,
    since: str,
) -> Sequence[IntervalFacts]:
    """Micro-batches as their events in the archive make them, by batch id.

    Days are read from the first on, up to the one that has the last of them: what is reported again later is left out.

    Args:
        archive: archive of the events topic.
        decoder: decoder with the schemas of the archive's records.
        tenant: tenant of the query.
        job: job of the query; its events have one record key.
        query_id: Spark's.
        batches: ids to look for.
        count: number of micro-batches.
        since: the day on which they were processed, as ISO 8601 has it; they weren't published before.

    Raises:
        ArchiveError: the archive can't be read.
        TransientError: a schema can't be looked up now.
    """
    events: list[LineageEvent] = []
    seen: set[int] = set()
    until: str | None = None
    for record in archive.records(key=job_record_key(tenant, job), since=since):
        day = _day(record.timestamp_ms)
        if until is not None and day > until:
            break
        try:
            event = decoder.decode(record.value)
        except DecodeError:
            continue
        body = event.interval_event
        if body is None or body.query_id != query_id or reject_decoded(event) is not None:
            continue
        if found := {entry.batch_id for entry in body.entries}.intersection(batches):
            events.append(event)
            seen |= found
            if len(seen) == count:
                until = day
    intervals = fold(events).intervals.values()
    return sorted((one for one in intervals if one.batch_id in batches), key=lambda one: one.batch_id)


def _day(timestamp_ms: int | None) -> str:
    return datetime.fromtimestamp((timestamp_ms or 0) / 1_000, UTC).date().isoformat()
