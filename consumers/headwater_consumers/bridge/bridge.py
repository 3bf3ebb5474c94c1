"""Bridge: records of an OpenLineage topic become events on the events topic, at least once.

For each batch of records, in this order:

1. Each record's document becomes events, which go to the sink; a record without an OpenLineage event is dead-lettered.
2. Wait until Kafka has acknowledged every event. An event that fails for a temporary reason is sent again. If an event
   is too large for its topic, the OpenLineage record is dead-lettered.
3. Send the dead letters (the original records byte for byte, except credentials), and wait until all are acknowledged.
4. Commit the offsets.

After a crash before step 4 the batch is read again. That changes nothing in the graph: an event has the same id
each time. Only one batch is in flight at a time, and its size is bounded.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

from headwater_consumers.bridge.metrics import BridgeMetrics
from headwater_consumers.kafka.membership import POLL_SECONDS, Membership
from headwater_consumers.kafka.notices import Notices, RetryCause
from headwater_consumers.kafka.records import FetchedRecord, next_offsets
from headwater_consumers.kafka.source import RecordSource
from headwater_consumers.materializer.batch import unread_letter
from headwater_consumers.materializer.dead_letters.letter import BRIDGE, DeadLetter, DeadLetterStage
from headwater_consumers.materializer.dead_letters.topic import DeadLetterSink, DeadLettersUndeliveredError
from headwater_consumers.materializer.errors import DeadLetterReason
from headwater_openlineage.intake.receiving import Refusal, RefusalReason, receive, redacted_bytes
from headwater_openlineage.intake.sink import IntakeSink, SinkFullError, Undeliverable
from headwater_schemas.errors import BrokerUnavailableError, EncodeError, LineageError
from headwater_schemas.events import LineageEvent

BATCH_RECORDS = 500
BATCH_BYTES = 4 * 1024 * 1024
_RETRY_SECONDS = 1.0
_LAST_COMMIT_SECONDS = 10.0

_REASONS = {
    RefusalReason.NOT_JSON: DeadLetterReason.NOT_AN_EVENT,
    RefusalReason.NOT_AN_EVENT: DeadLetterReason.INVALID_EVENT,
    RefusalReason.BREAKS_CONTRACT: DeadLetterReason.INVALID_EVENT,
    RefusalReason.TOO_LARGE: DeadLetterReason.TOO_LARGE,
}


@dataclass(slots=True)
class BridgeTotals:
    """Counts of a bridge. A committed record counts once in `dead_lettered`, or with each of its events in `events`.

    Attributes:
        events: events acknowledged by the events topic.
        dead_lettered: records acknowledged by the dead-letter topic.
    """

    consumed: int = 0
    events: int = 0
    dead_lettered: int = 0

    def document(self) -> dict[str, int]:
        """Return the totals as `headwater consume --json` prints them."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class BridgeParts:
    """Parts of a bridge.

    Attributes:
        dead_letters: destination of records that aren't events.
        document_max_bytes: maximum size of a document.
        drain_seconds: time for the current batch to finish at a stop.
        clock: monotonic seconds.
        strict: whether events that don't follow the specification become dead letters.
        redacting: whether text that looks like a credential is removed from events and dead letters.
    """

    source: RecordSource
    sink: IntakeSink
    dead_letters: DeadLetterSink
    metrics: BridgeMetrics
    notices: Notices
    tenant: str
    document_max_bytes: int
    drain_seconds: float
    clock: Callable[[], float]
    strict: bool = False
    redacting: bool = True


@dataclass(slots=True)
class _Batch:
    """Records of one poll whose events aren't settled yet.

    Attributes:
        outstanding: number of documents whose events aren't all settled yet.
        to_retry: events that Kafka didn't accept for a temporary reason, with their record.
        letters: dead letters of refused records, by record.
    """

    outstanding: int = 0
    to_retry: deque[tuple[Sequence[LineageEvent], FetchedRecord]] = field(default_factory=deque)
    letters: dict[FetchedRecord, DeadLetter] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Bridge:
    """One member of the bridge's consumer group. `run` blocks, so call it in a separate thread. `stop` ends `run`."""

    name = "openlineage"

    def __init__(self, parts: BridgeParts, *, until_caught_up: bool = False) -> None:
        self._parts = parts
        self._until_caught_up = until_caught_up
        self._stopping = threading.Event()
        self._member = Membership(
            parts.source,
            parts.clock,
            not_committed=self._not_committed,
            trouble=lambda error: self._trouble(str(error)),
        )
        self._deadline: float | None = None
        self.totals = BridgeTotals()

    def stop(self) -> None:
        """Have `run` finish the current batch and return. Safe from any thread."""
        self._stopping.set()

    @property
    def ready(self) -> bool:
        """True if Kafka is reachable."""
        return self._parts.source.reachable

    def document(self) -> dict[str, Any]:
        """Return the bridge's part of `/livez` and `/readyz`."""
        return {"partitions_assigned": len(self._member.partitions), "kafka_reachable": self.ready}

    def _refused(self, record: FetchedRecord, refusal: Refusal) -> DeadLetter:
        if self._parts.redacting and record.value is not None:
            value = redacted_bytes(record.value, max_bytes=self._parts.document_max_bytes)
            key = None if record.key is None else redacted_bytes(record.key)
            record = replace(record, value=value, key=key)
        return _letter(record, _REASONS[refusal.reason], refusal.pointer, refusal.message)

    # The loop

    def run(self) -> BridgeTotals:
        """Bridge until stopped, or until all records that were on the topic at the start are committed.

        Raises:
            FatalError: a person has to change a setting.
        """
        source = self._parts.source
        source.subscribe(self._member)
        try:
            while not self._stopping.is_set() and not (self._until_caught_up and self._member.caught_up()):
                self._run_once()
            self._member.commit_the_last(min(self._parts.drain_seconds, _LAST_COMMIT_SECONDS))
        finally:
            source.close()
            self._parts.dead_letters.close()
        return self.totals

    def _run_once(self) -> None:
        parts = self._parts
        polled = parts.source.poll(max_records=BATCH_RECORDS, max_bytes=BATCH_BYTES, timeout_seconds=POLL_SECONDS)
        parts.metrics.up.set(parts.source.reachable)
        if parts.source.reachable:
            parts.notices.over(RetryCause.BROKER)
        if polled.records:
            parts.source.pause()
            try:
                if not self._bridged(polled.records):
                    return
            finally:
                parts.source.resume()
        # The last record may be followed by offsets without a record: a transaction's markers.
        self._member.dealt_with(next_offsets(polled.records, polled.reached))

    def _bridged(self, records: Sequence[FetchedRecord]) -> bool:
        """Do steps 1 to 3. False: the bridge is being stopped, and no offset of the batch may be committed."""
        batch = _Batch()
        self.totals.consumed += len(records)
        self._parts.metrics.consumed.inc(len(records))
        for record in records:
            if not self._sent(batch, record, self._events(batch, record)):
                return False
        if not self._settled(batch):
            return False
        return not batch.letters or self._dead_lettered(list(batch.letters.values()))

    def _events(self, batch: _Batch, record: FetchedRecord) -> list[LineageEvent]:
        if record.unread is not None:
            batch.letters[record] = unread_letter(record, record.unread, by=BRIDGE)
            return []
        if not record.value:
            batch.letters[record] = _letter(record, DeadLetterReason.EMPTY, "", "the value is empty")
            return []
        parts = self._parts
        received = receive(
            record.value,
            tenant=parts.tenant,
            max_bytes=parts.document_max_bytes,
            strict=parts.strict,
            redacting=parts.redacting,
        )
        if isinstance(received, Refusal):
            batch.letters[record] = self._refused(record, received)
            return []
        return received.events

    def _sent(self, batch: _Batch, record: FetchedRecord, events: Sequence[LineageEvent]) -> bool:
        while events:
            with batch.lock:
                batch.outstanding += 1
            try:
                self._parts.sink.send(events, partial(self._on_settled, batch, events, record))
            except EncodeError as error:
                self._unsent(batch)
                batch.letters[record] = self._refused(record, Refusal(RefusalReason.BREAKS_CONTRACT, "", str(error)))
            except SinkFullError as error:
                self._unsent(batch)
                if not self._waited(error):
                    return False
                continue
            break
        return True

    def _on_settled(
        self, batch: _Batch, events: Sequence[LineageEvent], record: FetchedRecord, failures: Sequence[Undeliverable]
    ) -> None:
        """Record the outcome of a document's events. Called from any thread."""
        published = len(events) - len(failures)
        to_retry = {failure.event_id for failure in failures if not failure.for_good}
        with batch.lock:
            self.totals.events += published
            for failure in failures:
                if failure.for_good:
                    batch.letters[record] = self._refused(record, Refusal(RefusalReason.TOO_LARGE, "", failure.reason))
            if to_retry:
                batch.to_retry.append(([event for event in events if event.event_id in to_retry], record))
            batch.outstanding -= 1
        self._parts.metrics.published.inc(published)

    def _unsent(self, batch: _Batch) -> None:
        with batch.lock:
            batch.outstanding -= 1

    def _settled(self, batch: _Batch) -> bool:
        """Do step 2: wait. The source is paused, but still polled, so that the bridge stays in the group."""
        while True:
            with batch.lock:
                outstanding, to_retry = batch.outstanding, list(batch.to_retry)
                batch.to_retry.clear()
            if to_retry:
                if not self._waited(LineageError(self._parts.sink.problem() or "Kafka didn't accept all events")):
                    return False
                for events, record in to_retry:
                    if not self._sent(batch, record, events):
                        return False
            elif not outstanding:
                return True
            elif not self._kept_in_group(POLL_SECONDS / 10):
                return False
            elif (problem := self._parts.sink.problem()) is not None:
                self._trouble(problem)

    def _dead_lettered(self, letters: list[DeadLetter]) -> bool:
        remaining: Sequence[DeadLetter] = letters
        while remaining:
            try:
                self._parts.dead_letters.send(remaining)
                remaining = ()
            except DeadLettersUndeliveredError as error:
                remaining = error.remaining
                self._parts.metrics.retries.inc()
                self._parts.notices.trouble(RetryCause.DEAD_LETTERS, str(error))
                if not self._kept_in_group(_RETRY_SECONDS):
                    return False
        self._parts.notices.over(RetryCause.DEAD_LETTERS)
        for letter in letters:
            self._parts.metrics.dead_letter(letter.reason)
        self.totals.dead_lettered += len(letters)
        return True

    def _not_committed(self, error: BrokerUnavailableError) -> None:
        self._parts.metrics.retries.inc()
        self._trouble(str(error))

    def _waited(self, error: LineageError) -> bool:
        self._parts.metrics.retries.inc()
        self._trouble(str(error))
        return self._kept_in_group(_RETRY_SECONDS)

    def _trouble(self, message: str) -> None:
        self._parts.notices.trouble(RetryCause.BROKER, f"{message.rstrip('.')}.")

    def _kept_in_group(self, seconds: float) -> bool:
        """Wait, and remain a member. False: the bridge is being stopped, and the drain time is over."""
        until = self._parts.clock() + seconds
        while True:
            left = until - self._parts.clock()
            self._parts.source.poll(max_records=1, max_bytes=1, timeout_seconds=max(0.0, min(left, POLL_SECONDS)))
            if self._stopping.is_set():
                if self._deadline is None:
                    self._deadline = self._parts.clock() + self._parts.drain_seconds
                if self._parts.clock() >= self._deadline:
                    return False
            if self._parts.clock() >= until:
                return True


def _letter(record: FetchedRecord, reason: DeadLetterReason, pointer: str, message: str) -> DeadLetter:
    stage = DeadLetterStage.APPLY if reason is DeadLetterReason.TOO_LARGE else DeadLetterStage.DECODE
    text = f"{pointer}: {message}" if pointer else message
    return DeadLetter(record, reason, stage, "headwater_openlineage.errors.Refused", text, by=BRIDGE)


class BridgeThread:
    """Bridge in the materializer's process, in a separate thread.

    Args:
        ended: called when the bridge ends by itself, with an error; the materializer should then end, too.
    """

    def __init__(self, bridge: Bridge, ended: Callable[[], None]) -> None:
        self._bridge = bridge
        self._ended = ended
        self._thread = threading.Thread(target=self._run, name="openlineage-bridge", daemon=True)
        self.error: Exception | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the bridge, and wait for its end."""
        self._bridge.stop()
        self._thread.join()

    @property
    def alive(self) -> bool:
        """True if the thread runs."""
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._bridge.run()
        except Exception as error:  # noqa: BLE001 - raised by the waiting thread
            self.error = error
            self._ended()
