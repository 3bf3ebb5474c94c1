"""The events of one checkpoint, and what is missing for good."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from headwater.reconciling.knowledge import Knowledge
from headwater_producers.spark.common.versions import capture_version
from headwater_producers.spark.jvm.files import TextFiles
from headwater_producers.spark.left_writes.left_tables import location
from headwater_producers.spark.plan import PlanOutput, SourceKind
from headwater_producers.spark.streaming.checkpoint import QueryLog
from headwater_producers.spark.streaming.gaps import spans
from headwater_producers.spark.streaming.interval import SinkCommits, sink_at
from headwater_producers.spark.streaming.origins import origins
from headwater_producers.spark.streaming.rebuild import QueryIdentity, Rebuilder, interval_events
from headwater_schemas.events import IntervalEntry, LineageEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """One checkpoint.

    Attributes:
        location, query_id: checkpoint and id of the query.
        events: events to send, one a micro-batch.
        batches: rebuilt.
        not_emitted: those of them that the graph doesn't have; None: it wasn't asked.
        uncommitted: planned and not committed: no event is sent for them.
        unreadable: committed ones that can't be rebuilt, each with the reason.
        purged: number of micro-batches that the checkpoint has forgotten.
        gaps: those of them that the graph doesn't have either, as first and last; None: it wasn't asked.
    """

    location: str
    query_id: str
    events: tuple[LineageEvent, ...]
    batches: tuple[int, ...]
    not_emitted: tuple[int, ...] | None
    uncommitted: tuple[int, ...]
    unreadable: tuple[tuple[int, str], ...]
    purged: int
    gaps: tuple[tuple[int, int], ...] | None


def reconcile(
    log: QueryLog, files: TextFiles, known: Knowledge, *, query_id: str, tenant: str, sources: Mapping[int, str]
) -> Reconciled:
    """Rebuilds what a checkpoint has.

    Raises:
        CheckpointError: which datasets it is about is unknown, or its logs can't be read.
    """
    inputs, count = origins(log, known.reads, sources)
    output = known.writes[0] if len(known.writes) == 1 else None
    rebuilder = Rebuilder(
        log,
        files,
        inputs=inputs,
        sources=count,
        # A micro-batch with several outputs may have written only some; so may one of a foreachBatch function.
        outputs=() if output is None else (PlanOutput(dataset=output, kind=SourceKind.UNKNOWN),),
        proven=not known.writes_itself,
        commits=None if output is None else SinkCommits(sink_at(files, location(output)), query_id, files),
    )
    entries: list[IntervalEntry] = []
    unreadable: list[tuple[int, str]] = []
    committed = log.committed()
    for batch in committed:
        try:
            entries.append(rebuilder.entry(batch))
        except (OSError, ValueError) as error:  # a CheckpointError as well
            unreadable.append((batch, str(error)))
    identity = QueryIdentity(
        tenant=tenant,
        job=known.job,
        query_id=query_id,
        producer=f"https://headwater/reconcile/{capture_version()}",
        query_name=known.name,
        checkpoint_location=log.location,
    )
    batches = tuple(entry.batch_id for entry in entries)
    purged = committed[0] if committed else 0
    known_batches = known.batches
    return Reconciled(
        location=log.location,
        query_id=query_id,
        # One a micro-batch: each has the very id of the event that was, or wasn't, observed.
        events=tuple(interval_events(identity, entries, per_event=1, now=datetime.now(UTC))),
        batches=batches,
        not_emitted=None if known_batches is None else tuple(batch for batch in batches if batch not in known_batches),
        uncommitted=tuple(batch for batch in log.planned() if batch not in set(committed)),
        unreadable=tuple(unreadable),
        purged=purged,
        gaps=None
        if known_batches is None
        else tuple(spans(batch for batch in range(purged) if batch not in known_batches)),
    )
