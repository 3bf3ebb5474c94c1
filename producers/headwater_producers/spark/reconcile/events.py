"""Rebuilt micro-batches as IntervalEvents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater_producers.spark.events.fitting import fitting
from headwater_schemas.events import EmissionReason, IntervalEvent, JobRef, Provenance, build
from headwater_schemas.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from headwater_schemas.events import IntervalEntry, LineageEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """What all events of one query have in common.

    Attributes:
        tenant, job, query_id: what the query is known by in the graph.
        producer: URI of this code.
        query_name, checkpoint_location: where known.
        reason: why it is told now.
    """

    tenant: str
    job: JobRef
    query_id: str
    producer: str
    query_name: str | None = None
    checkpoint_location: str | None = None
    reason: EmissionReason = EmissionReason.CHECKPOINT


def interval_events(
    whose: Whose, entries: Sequence[IntervalEntry], *, per_event: int, now: datetime
) -> Iterator[LineageEvent]:
    """The entries, in order of their batch ids, in events of at most `per_event` consecutive ones.

    An event's time is when its last micro-batch was planned, so the same reconstruction is the same event, byte for
    byte, however often it is made; `now` only where the checkpoint has no times. There is no run: which start of the
    query a micro-batch ran in isn't in the checkpoint.
    """
    for part in consecutive(entries, per_event):
        yield from fitting(part, lambda fits: _event(whose, fits, now))


def _event(whose: Whose, entries: Sequence[IntervalEntry], now: datetime) -> LineageEvent:
    return build.interval_event(
        IntervalEvent(
            query_id=whose.query_id,
            entries=tuple(entries),
            query_name=redact(whose.query_name) if whose.query_name is not None else None,
            checkpoint_location=redact(whose.checkpoint_location) if whose.checkpoint_location is not None else None,
            reason=whose.reason,
            provenance=Provenance.RECONCILED,
        ),
        job=whose.job,
        producer=whose.producer,
        event_time=entries[-1].processing_time or now,
        tenant=whose.tenant,
    )


def consecutive(entries: Iterable[IntervalEntry], at_most: int) -> Iterator[list[IntervalEntry]]:
    """Runs of consecutive batch ids, none longer than `at_most`."""
    part: list[IntervalEntry] = []
    for entry in entries:
        if part and (entry.batch_id != part[-1].batch_id + 1 or len(part) >= at_most):
            yield part
            part = []
        part.append(entry)
    if part:
        yield part
