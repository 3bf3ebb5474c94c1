"""Forwarder: events of the topic become OpenLineage documents at a collector, at least once and in order.

For each batch of records, in this order:

1. Each event becomes documents; column lineages are remembered for the events that cite them.
2. Deliver the documents. While the collector is unavailable, wait: new events stay in Kafka.
3. Flush the collector. Documents that the collector refuses for good are stored in a file or topic before step 4.
4. Commit the offsets, except those of micro-batches that `Spacing` holds back to join them in one document.

After a crash before step 4 the batch is delivered again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from headwater_consumers.forward.collectors import (
    Collector,
    CollectorUnavailableError,
    DocumentRefusedError,
    OutgoingDocument,
    RefusedDocuments,
)
from headwater_consumers.forward.documents import UnsendableError, sendable_documents
from headwater_consumers.forward.metrics import ForwardMetrics
from headwater_consumers.forward.plans import PlanCache, holds_plan
from headwater_consumers.forward.spacing import Spacing
from headwater_consumers.kafka.backoff import Backoff, BackoffPolicy
from headwater_consumers.kafka.membership import POLL_SECONDS, Membership
from headwater_consumers.kafka.notices import Notices, RetryCause, TroubleCause
from headwater_consumers.kafka.records import FetchedRecord, Partition, next_offsets
from headwater_consumers.kafka.source import RecordSource
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import BrokerUnavailableError, DecodeError, TransientError
from headwater_schemas.events import LineageEvent

BATCH_RECORDS = 200
BATCH_BYTES = 4 * 1024 * 1024
_LAST_COMMIT_SECONDS = 10.0
# Maximum pause that a collector may request; after it the document is sent again anyway.
_LONGEST_PAUSE_SECONDS = 300.0


class ForwardCause(StrEnum):
    """Cause of a retry that only the forwarder has; see also `RetryCause`."""

    COLLECTOR = "The collector"

    @property
    def label(self) -> str:
        """Name of the cause for people, as the subject of a sentence."""
        return self.value


@dataclass(slots=True)
class ForwardTotals:
    """Counts of a forwarder.

    Attributes:
        skipped: records that aren't events, are of another tenant, or have an invalid OpenLineage document.
        delivered: documents accepted by the collector.
        refused: documents refused for good by the collector.
    """

    consumed: int = 0
    skipped: int = 0
    delivered: int = 0
    refused: int = 0

    def document(self) -> dict[str, int]:
        """Return the totals as `headwater forward --json` prints them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ForwardParts:
    """Parts of a forwarder.

    Attributes:
        refused: destination of documents that the collector refuses.
        tenant: tenant whose events are forwarded.
        coalesced: True if micro-batches of an event share a document, provided that their offsets are contiguous.
        spacing: holds micro-batches back, to join those of some minutes in one event; None: no micro-batch is held
            back.
        clock: monotonic seconds.
        random: function that returns a number in [0, 1).
    """

    source: RecordSource
    decoder: Decoder
    plans: PlanCache
    collector: Collector
    refused: RefusedDocuments
    metrics: ForwardMetrics
    notices: Notices
    warn: Callable[[str], None]
    tenant: str
    coalesced: bool
    spacing: Spacing | None
    backoff: BackoffPolicy
    clock: Callable[[], float]
    random: Callable[[], float]


@dataclass(frozen=True, slots=True)
class _Outgoing:
    """A document, with the record of its event."""

    document: OutgoingDocument
    record: FetchedRecord
    event_id: str


class Forwarder:
    """One member of the forwarder's consumer group. `run` blocks; `stop` ends `run`."""

    def __init__(self, parts: ForwardParts, *, until_caught_up: bool = False) -> None:
        self._parts = parts
        self._until_caught_up = until_caught_up
        self._stopping = threading.Event()
        self._member = Membership(
            parts.source,
            parts.clock,
            not_committed=self._broker_trouble,
            trouble=self._broker_trouble,
            gone=self._gone,
        )
        self._reached: dict[Partition, int] = {}
        self._last_progress = parts.clock()
        # None: nothing was sent yet, so the state is unknown. A forwarder without events has to be ready, too.
        self._delivering: bool | None = None
        self.totals = ForwardTotals()

    def stop(self) -> None:
        """Let `run` end after the current document. Safe from a signal handler."""
        self._stopping.set()

    def document(self) -> dict[str, Any]:
        """Return the answer to `/livez` and `/readyz`."""
        reachable = self._parts.source.reachable
        return {
            "alive": self._parts.clock() - self._last_progress < _LONGEST_PAUSE_SECONDS,
            "ready": bool(self._member.partitions) and reachable and self._delivering is not False,
            "partitions_assigned": len(self._member.partitions),
            "kafka_reachable": reachable,
            "collector_reachable": self._delivering,
        }

    # The loop

    def remember(self, records: Iterable[FetchedRecord]) -> None:
        """Remember the column lineages in records that were forwarded before."""
        for record in records:
            if self._stopping.is_set():
                return
            if not holds_plan(record.headers):
                continue
            try:
                self._parts.plans.remember(self._parts.decoder.decode(record.value))
            except (DecodeError, TransientError):
                continue

    def run(self) -> ForwardTotals:
        """Forward until stopped, or until all records that were on the topic at the start are committed.

        Raises:
            FatalError: a person has to change a setting.
        """
        self._parts.source.subscribe(self._member)
        try:
            while not self._stopping.is_set() and not (self._until_caught_up and self._member.caught_up()):
                self._run_once()
            self._member.commit_the_last(_LAST_COMMIT_SECONDS)
        finally:
            self._parts.source.close()
            self._parts.collector.close()
            self._parts.refused.close()
        return self.totals

    def _run_once(self) -> None:
        parts = self._parts
        self._last_progress = parts.clock()
        polled = parts.source.poll(max_records=BATCH_RECORDS, max_bytes=BATCH_BYTES, timeout_seconds=POLL_SECONDS)
        if parts.source.reachable:
            parts.notices.over(RetryCause.BROKER)
        if polled.records:
            parts.source.pause()
            try:
                if not self._forwarded(polled.records):
                    return
            finally:
                parts.source.resume()
        if parts.spacing is None:
            self._member.dealt_with(next_offsets(polled.records, polled.reached))
        elif self._released(parts.spacing, everything=self._until_caught_up and not polled.records):
            reached = next_offsets(polled.records, polled.reached)
            ours = self._member.partitions  # partitions may have been lost during the delivery
            self._reached |= {partition: offset for partition, offset in reached.items() if partition in ours}
            self._member.dealt_with(parts.spacing.committable(self._reached))

    def _released(self, spacing: Spacing, *, everything: bool) -> bool:
        """Deliver micro-batches that were held long enough. False: the forwarder is being stopped."""
        found = spacing.all() if everything else spacing.due()
        return self._delivered([each for released in found for each in self._of_event(*released)])

    def _gone(self, partitions: frozenset[Partition]) -> None:
        for partition in partitions:
            self._reached.pop(partition, None)
        if self._parts.spacing is not None:
            self._parts.spacing.forget(partitions)

    def _forwarded(self, records: Sequence[FetchedRecord]) -> bool:
        """Do steps 1 to 3. False: the forwarder is being stopped, and no offset of the batch may be committed."""
        outgoing: list[_Outgoing] = []
        for record in records:
            found = self._documents(record)
            if found is None:
                return False
            outgoing += found
        self.totals.consumed += len(records)
        self._parts.metrics.consumed.inc(len(records))
        return self._delivered(outgoing)

    def _documents(self, record: FetchedRecord) -> list[_Outgoing] | None:
        """Do step 1; None: the forwarder is being stopped."""
        backoff = Backoff(self._parts.backoff, self._parts.clock, self._parts.random)
        while True:
            try:
                event = self._parts.decoder.decode(record.value)
            except DecodeError:
                return self._skipped()  # the materializer dead-letters the record
            except TransientError as error:
                if not self._waited(RetryCause.SCHEMAS, error, backoff):
                    return None
                continue
            self._parts.notices.over(RetryCause.SCHEMAS)
            break
        if event.tenant != self._parts.tenant:
            return self._skipped()
        self._parts.plans.remember(event)
        spacing = self._parts.spacing
        events = [(event, record)] if spacing is None else list(spacing.through(event, record))
        return [each for released in events for each in self._of_event(*released)]

    def _of_event(self, event: LineageEvent, record: FetchedRecord) -> list[_Outgoing]:
        parts = self._parts
        try:
            documents = sendable_documents(event, parts.plans.cited_by(event), coalesced=parts.coalesced)
        except UnsendableError as error:
            parts.warn(f"Event {event.event_id} at {record} is skipped: {error}.")
            return self._skipped()
        return [_Outgoing(outgoing, record, event.event_id) for _, outgoing in documents]

    def _skipped(self) -> list[_Outgoing]:
        self.totals.skipped += 1
        self._parts.metrics.skipped.inc()
        return []

    def _delivered(self, outgoing: Sequence[_Outgoing]) -> bool:
        """Do steps 2 and 3. False: the forwarder is being stopped."""
        parts = self._parts
        backoff = Backoff(parts.backoff, parts.clock, parts.random)
        refusals: dict[int, DocumentRefusedError] = {}
        position = failed = 0
        while True:
            try:
                while position < len(outgoing):
                    if self._stopping.is_set():
                        return False
                    refused = partial(refusals.__setitem__, position)
                    parts.collector.deliver(outgoing[position].document, refused)
                    position += 1
                    self._last_progress = parts.clock()
            except CollectorUnavailableError as error:
                if position > failed:
                    backoff.succeeded()
                failed = position
                if not self._waited(ForwardCause.COLLECTOR, error, backoff):
                    return False
                continue
            try:
                parts.collector.flush()
                self._set_aside([(outgoing[number], error) for number, error in sorted(refusals.items())])
            except CollectorUnavailableError as error:
                if not self._waited(ForwardCause.COLLECTOR, error, backoff):
                    return False
                position = failed = 0
                refusals.clear()
                continue
            break
        parts.notices.over(ForwardCause.COLLECTOR)
        self._up(up=True)
        self.totals.delivered += len(outgoing) - len(refusals)
        parts.metrics.delivered.inc(len(outgoing) - len(refusals))
        return True

    def _set_aside(self, refusals: Sequence[tuple[_Outgoing, DocumentRefusedError]]) -> None:
        for each, error in refusals:
            self._parts.refused.add(each.document, error, source=str(each.record), event_id=each.event_id)
        for each, error in refusals:
            self._parts.warn(
                f"The collector refuses a document of event {each.event_id}, at {each.record}: {error.status}. "
                "The document and the answer are stored where --refused points."
            )
        self.totals.refused += len(refusals)
        self._parts.metrics.refused.inc(len(refusals))

    def _broker_trouble(self, error: BrokerUnavailableError) -> None:
        self._parts.notices.trouble(RetryCause.BROKER, f"{str(error).rstrip('.')}.")

    def _waited(self, cause: TroubleCause, error: TransientError, backoff: Backoff) -> bool:
        """Wait before another attempt, and stay in the group. False: the forwarder is being stopped."""
        parts = self._parts
        parts.metrics.retries.inc()
        parts.notices.trouble(cause, f"{str(error).rstrip('.')}.")
        if cause is ForwardCause.COLLECTOR:
            self._up(up=False)
        backoff.failed()
        pause = error.after_seconds if isinstance(error, CollectorUnavailableError) else None
        until = parts.clock() + max(backoff.remaining_seconds, min(pause or 0.0, _LONGEST_PAUSE_SECONDS))
        while not self._stopping.is_set():
            if (left := until - parts.clock()) <= 0:
                return True
            parts.source.poll(max_records=1, max_bytes=1, timeout_seconds=min(left, POLL_SECONDS))
            self._last_progress = parts.clock()
        return False

    def _up(self, *, up: bool) -> None:
        self._delivering = up
        self._parts.metrics.collector_up.set(up)
