"""Relay: the thread that takes events from the outbox to Kafka.

Its loop goes through the files, those of dead outboxes first, a batch at a time:

    1. read the next events of a file
    2. give them to the publisher
    3. wait until each is acknowledged or has failed
    4. forget acknowledged events, and events that are too large for Kafka; any other failure is tried again later
    5. delete the forgotten events from the file: with the transaction that stores the next new event, or when there is
       nothing more to relay

Apart from lost events (too large, or dropped because the outbox is full), an event is deleted only after its
acknowledgement. A crash between acknowledgement and deletion sends the event twice, which has no effect: the same
event id is the same fact.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from typing import Final

from headwater_producers.outbox.adoption import Adoption
from headwater_producers.outbox.backlog import Backlog
from headwater_producers.outbox.errors import OutboxUnusableError
from headwater_producers.outbox.store import Numbered, Store
from headwater_producers.publisher import FailedEvent, FailureKind, Publisher
from headwater_schemas.errors import CredentialsRefusedError

logger = logging.getLogger(__name__)

_BATCH_EVENTS: Final = 500
_BATCH_BYTES: Final = 4 * 1024 * 1024
_POLL_SECONDS: Final = 0.25
_RETRY_SECONDS: Final = 30.0


@dataclass(slots=True)
class _Progress:
    """Relay progress of one outbox file.

    Attributes:
        after: number of the last event that was given to the publisher.
        again_at: time of the next retry of failed events, by the monotonic clock; None if no event has failed.
    """

    after: int = 0
    again_at: float | None = None


class Relay:
    """Relay of a backlog to Kafka, until it is stopped.

    Args:
        publisher: publisher that only the relay uses.
        adoption: finds dead outboxes.
    """

    def __init__(self, backlog: Backlog, publisher: Publisher, adoption: Adoption) -> None:
        self._backlog = backlog
        self._publisher = publisher
        self._adoption = adoption
        self._progress: dict[Store, _Progress] = {}
        self._refused: str | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="headwater-outbox-relay", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; unacknowledged events stay in the outbox."""
        self._stopping.set()
        with self._backlog.to_relay:
            self._backlog.to_relay.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                moved = self._run_once()
            except Exception:
                logger.exception("Unexpected error in the outbox's relay; retrying")
                moved = False
                self._stopping.wait(_POLL_SECONDS)
            if not moved:
                self._await_change()

    def _run_once(self) -> bool:
        """Relay one batch of each file; return True if any file had events to relay."""
        self._adoption.look()
        moved = False
        for store in [*self._backlog.adopted, self._backlog.store]:
            if self._stopping.is_set():
                return True
            try:
                moved |= self._relay(store)
            except OutboxUnusableError:
                self._backlog.metrics.disk_errors.inc()
                if store is self._backlog.store:
                    raise
                self._let_go(store)
            else:
                if store is not self._backlog.store and not store.count:
                    self._let_go(store)
        return moved

    def _let_go(self, store: Store) -> None:
        self._progress.pop(store, None)
        self._backlog.let_go(store)
        if store.damage is not None:
            logger.error(
                "Outbox damaged: %s. Its readable events were sent to Kafka; the file is kept with the suffix .damaged",
                store.damage,
            )
            self._adoption.set_aside(store.path)

    def _await_change(self) -> None:
        own = self._progress_of(self._backlog.store)
        with self._backlog.to_relay:
            changed = self._backlog.to_relay.wait_for(
                lambda: self._stopping.is_set() or self._backlog.newest_relayable > own.after, _POLL_SECONDS * 4
            )
        if not changed:
            self._backlog.store.purge()

    def _relay(self, store: Store) -> bool:
        progress = self._progress_of(store)
        batch = self._next(store, progress)
        if not batch:
            return False
        # Step 2.
        for _, record in batch:
            self._publisher.publish_record(record)
        # Step 3.
        failed = self._await_outcome()
        if failed is None:
            return False
        # Step 4.
        progress.after = batch[-1][0]
        reasons = {failure.event_id: failure for failure in failed}
        too_large = {failure.event_id for failure in failed if failure.kind is FailureKind.TOO_LARGE}
        delivered = [number for number, record in batch if record.event_id not in reasons]
        self._backlog.settle(store, delivered, delivered=True)
        if lost := [number for number, record in batch if record.event_id in too_large]:
            first = next(failure for failure in failed if failure.event_id in too_large)
            logger.error("%d lineage events lost, too large for the topic: %s", len(lost), first.reason)
            self._backlog.settle(store, lost, delivered=False)
        if len(delivered) + len(lost) < len(batch):
            progress.again_at = progress.again_at or time.monotonic() + _RETRY_SECONDS
            again = next(failure for failure in failed if failure.event_id not in too_large)
            logger.warning(
                "Kafka refused lineage events: %s. They stay in the outbox, and are sent again in 30 s", again.reason
            )
        return True

    def _next(self, store: Store, progress: _Progress) -> list[Numbered]:
        batch = self._read(store, progress.after)
        if not batch and progress.again_at is not None and time.monotonic() >= progress.again_at:
            progress.after, progress.again_at = 0, None
            batch = self._read(store, 0)
        return batch

    def _read(self, store: Store, after: int) -> list[Numbered]:
        batch = store.read(after, max_events=_BATCH_EVENTS, max_bytes=_BATCH_BYTES)
        if not batch and store is self._backlog.store and self._backlog.disk_problem is not None:
            # Kafka can accept events that the disk refuses.
            return self._backlog.unwritten(after, max_events=_BATCH_EVENTS)
        return batch

    def _await_outcome(self) -> list[FailedEvent] | None:
        """Wait for the publisher and return the failed events; None if the relay stops first."""
        failed: list[FailedEvent] = []
        while not self._stopping.is_set():
            try:
                report = self._publisher.flush(_POLL_SECONDS)
            except CredentialsRefusedError as refusal:
                self._complain(str(refusal))
                self._stopping.wait(_POLL_SECONDS)
                continue
            failed.extend(report.failed)
            if not report.outstanding:
                self._refused = None
                return failed
        return None

    def _complain(self, refusal: str) -> None:
        if refusal != self._refused:
            self._refused = refusal
            logger.error("Lineage events stay in the outbox until Kafka accepts the credentials: %s", refusal)

    def _progress_of(self, store: Store) -> _Progress:
        return self._progress.setdefault(store, _Progress())
