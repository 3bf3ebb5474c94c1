"""Parts of a scope as answers show them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from headwater_analysis.amounts import amount, first_of
from headwater_analysis.incidents.answers import ScopePart
from headwater_analysis.trace.traced_parts import OffsetSpan
from headwater_schemas.events import IncidentClock, IncidentScope
from headwater_schemas.identity import utc_text
from headwater_schemas.naming import spelling
from headwater_schemas.ranges import batches_text, partition_text

MOST_NAMED: Final = 3
"""Maximum number of offset ranges that a line names; further ranges are counted."""


def scope_part(part: IncidentScope) -> ScopePart:
    """Build the answer of a part."""
    return ScopePart(
        text=part_line(part),
        dataset=None if part.dataset is None else spelling(part.dataset.namespace, part.dataset.name),
        job=None if part.job is None else spelling(part.job.namespace, part.job.name),
        run=part.run,
        query=part.query,
        consumer=part.consumer,
        column=part.column,
        partition=part.partition,
        offsets=tuple(OffsetSpan(each.partition, each.from_, each.to_exclusive) for each in part.offsets or ()),
        files=part.files or (),
        version=part.version,
        code_version=part.code_version,
        from_batch=part.from_batch,
        to_batch=part.to_batch,
        since=part.since,
        until=part.until,
        clock=part.clock,
        since_last_good=bool(part.since_last_good),
    )


def part_line(part: IncidentScope) -> str:
    """Format a part in one line: `dataset kafka://broker:9092/flights, offsets 0:120..130`."""
    return ", ".join([_subject(part), *_narrowed(part)])


def _subject(part: IncidentScope) -> str:
    if part.dataset is not None:
        column = "" if part.column is None else f"#{part.column}"
        return f"dataset {spelling(part.dataset.namespace, part.dataset.name)}{column}"
    if part.job is not None:
        return f"job {spelling(part.job.namespace, part.job.name)}"
    if part.run is not None:
        return f"run {part.run}"
    return f"query {part.query}" if part.query is not None else f"consumer {part.consumer}"


def _narrowed(part: IncidentScope) -> Iterator[str]:
    for name, text in (
        ("partition", part.partition),
        ("offsets", _ranges(part)),
        ("version", part.version),
        ("code version", part.code_version),
    ):
        if text is not None:
            yield f"{name} {text}"
    if part.files is not None:
        # Paths of files are texts of jobs, which not every asker may see: only `ScopePart.files` has them.
        yield amount(len(part.files), "file")
    if part.from_batch is not None or part.to_batch is not None:
        yield _batches(part.from_batch, part.to_batch)
    if part.since is not None or part.until is not None:
        clock = "event time" if part.clock is IncidentClock.EVENT else "processed"
        yield f"{clock} {_span(part.since, part.until)}"
    if part.since_last_good:
        yield "everything since the last good run"


def _ranges(part: IncidentScope) -> str | None:
    if part.offsets is None:
        return None
    named = [partition_text(each.partition, each.from_, each.to_exclusive) for each in part.offsets]
    return first_of(named, MOST_NAMED)


def _batches(first: int | None, last: int | None) -> str:
    if last is None:
        return f"batches from {first} on"
    return f"batches up to {last}" if first is None else batches_text(first, last)


def _span(since: datetime | None, until: datetime | None) -> str:
    if since is None:
        return f"before {utc_text(until) if until is not None else ''}"
    return f"from {utc_text(since)}" + ("" if until is None else f" until {utc_text(until)}")
