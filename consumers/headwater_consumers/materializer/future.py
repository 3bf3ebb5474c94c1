"""Limit for times in the future, so that an event with a wrong clock doesn't outrank later events forever.

Of two values, the later event's value wins, and `last_seen` only grows. So an event of the year 9998 would win until
that year. Therefore times later than the record's timestamp plus `future_max_seconds` are lowered to this limit, which
later events can pass. The timestamp is the broker's (`message.timestamp.type=LogAppendTime`, set by
`headwater consume`) and part of the record, so reading the topic again gives the same result.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import msgspec

from headwater_schemas.events import IntervalEvent, LineageEvent
from headwater_schemas.identity import event_id
from headwater_schemas.redaction import redact

CLOCK_FACET = "headwater_clock"
"""Facet of a run, job or dataset whose event time was too far ahead: `stated` was replaced by `taken_as`."""

CORRECTION_FACET = "headwater_correction"
"""Facet of a dataset or job that an event corrected: the `reason`, and `stated`, the event's original time."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def as_counted(event: LineageEvent, timestamp_ms: int | None, most_seconds: float) -> LineageEvent:
    """Return the event, with its times lowered if they are too far in the future.

    Args:
        timestamp_ms: timestamp of the record; None: no limit.
        most_seconds: maximum time by which the event may be ahead of the timestamp.
    """
    if timestamp_ms is None:
        return event
    try:
        latest = _EPOCH + timedelta(milliseconds=timestamp_ms, seconds=most_seconds)
    except OverflowError:
        return event
    if not _is_later(event, latest):
        return event
    return _no_later(event, latest)


def _is_later(event: LineageEvent, latest: datetime) -> bool:
    """Return True if the event time, a processing time or a retention's `before` is later than `latest`."""
    if event.event_time > latest:
        return True
    if (body := event.interval_event) is not None:
        return any(entry.processing_time is not None and entry.processing_time > latest for entry in body.entries)
    return (retention := event.retention_event) is not None and retention.before > latest


def _no_later(event: LineageEvent, latest: datetime) -> LineageEvent:
    """Return the event with times limited to `latest`, and a facet about the change if its body has facets."""
    replace = msgspec.structs.replace
    if (intervals := event.interval_event) is not None:
        event = replace(event, interval_event=_with_limited_times(intervals, latest))
    if (retention := event.retention_event) is not None:
        event = replace(event, retention_event=replace(retention, before=min(retention.before, latest)))
    if event.event_time <= latest:
        return event
    stated = {"stated": event.event_time.isoformat(), "taken_as": latest.isoformat()}
    return replace(_with_facet(event, CLOCK_FACET, stated), event_time=latest)


def correction(event: LineageEvent, reason: str, now: datetime, most_seconds: float) -> LineageEvent | None:
    """Return the event with the latest allowed event time, so that it wins over stored values.

    Args:
        event: event of a dataset or a job.
        reason: text for the facet `headwater_correction`.
        now: time of sending.
        most_seconds: maximum time by which an event may be ahead of its record's timestamp.

    Returns:
        The event with a new id; None for other kinds.
    """
    if event.dataset_event is None and event.job_event is None:
        return None
    marked = _with_facet(event, CORRECTION_FACET, {"stated": event.event_time.isoformat(), "reason": redact(reason)})
    corrected = msgspec.structs.replace(marked, event_time=now + timedelta(seconds=most_seconds))
    return msgspec.structs.replace(corrected, event_id=event_id(corrected))


def _with_facet(event: LineageEvent, name: str, content: dict[str, str]) -> LineageEvent:
    """Return the event with a facet, if its body has facets."""
    replace, mark = msgspec.structs.replace, {name: json.dumps(content)}
    if (run := event.run_event) is not None:
        return replace(event, run_event=replace(run, run_facets={**run.run_facets, **mark}))
    if (job := event.job_event) is not None:
        return replace(event, job_event=replace(job, facets={**job.facets, **mark}))
    if (dataset := event.dataset_event) is not None:
        return replace(event, dataset_event=replace(dataset, facets={**dataset.facets, **mark}))
    return event


def _with_limited_times(body: IntervalEvent, latest: datetime) -> IntervalEvent:
    entries = tuple(
        entry
        if entry.processing_time is None or entry.processing_time <= latest
        else msgspec.structs.replace(entry, processing_time=latest)
        for entry in body.entries
    )
    return msgspec.structs.replace(body, entries=entries)
