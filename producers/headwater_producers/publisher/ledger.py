"""Ledger: counts of events accepted, in flight, acknowledged and failed. The one place where events are counted."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence

import msgspec

from headwater_producers.publisher.errors import BufferFullError
from headwater_producers.publisher.metrics import FailureKind, PublisherMetrics
from headwater_producers.publisher.report import FailedEvent, FlushReport
from headwater_schemas.errors import CredentialsRefusedError
from headwater_schemas.record import Record

# Maximum number of ids and reasons kept for the next report: 2 MB, if no report is ever requested.
MAX_LISTED_FAILURES = 10_000


Settled = Callable[[FailedEvent | None], None]
"""Callback for an event's outcome: called with None once the event is acknowledged, or with its failure. For a group of
events it is called once per event."""


class Outgoing(msgspec.Struct, frozen=True):
    """Event in flight.

    Attributes:
        sequence: number among the accepted events, from 1.
        taken_at: time of acceptance, by the monotonic clock, in seconds.
        settled: called once, with the reason why the event won't be delivered, or with None once all in-sync replicas
            have it.
    """

    sequence: int
    record: Record
    taken_at: float
    settled: Settled | None = None


class Ledger:
    """Thread-safe delivery accounts. At any time, taken = acknowledged + failed + outstanding.

    Args:
        max_bytes: bound of the total size of the outstanding events' values.
        clock: monotonic seconds.
    """

    def __init__(
        self, *, max_events: int, max_bytes: int, metrics: PublisherMetrics, clock: Callable[[], float]
    ) -> None:
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._metrics = metrics
        self._clock = clock
        self._changed = threading.Condition()
        self._outstanding: dict[int, Outgoing] = {}  # in order of acceptance
        self._bytes = 0
        self._taken = 0
        self._failed = 0
        self._acknowledged = 0  # since the last report, as are the failures
        self._failures: deque[FailedEvent] = deque()
        self._unlisted = 0
        self._problem: str | None = None
        self._refusal: CredentialsRefusedError | None = None

    def take(self, records: Sequence[Record], settled: Settled | None = None) -> list[Outgoing]:
        """Accept events that belong together: all or none.

        Raises:
            BufferFullError: too many events or bytes are outstanding; nothing was accepted.
        """
        added = sum(len(record.value) for record in records)
        with self._changed:
            count, size = len(self._outstanding), self._bytes
            # An event larger than the whole buffer is accepted if nothing else is outstanding.
            if count and (count + len(records) > self._max_events or size + added > self._max_bytes):
                self._metrics.refused.inc(len(records))
                raise BufferFullError(
                    f"there is no room for {len(records)} more: {count} events of {size} bytes are waiting for Kafka "
                    f"(max_buffered_events={self._max_events}, max_buffered_bytes={self._max_bytes})"
                    + (f": {self._problem}" if self._problem else "")
                )
            now = self._clock()
            taken = [
                Outgoing(sequence, record, now, settled) for sequence, record in enumerate(records, self._taken + 1)
            ]
            self._taken += len(taken)
            self._outstanding.update((outgoing.sequence, outgoing) for outgoing in taken)
            self._bytes += added
        self._metrics.accepted.inc(len(taken))
        self._metrics.value_bytes.inc(added)
        self._metrics.outstanding.inc(len(taken))
        return taken

    def acknowledge(self, acknowledged: Sequence[Outgoing]) -> None:
        """Record that the broker has these events. An acknowledgement clears any problem."""
        with self._changed:
            new = [outgoing for outgoing in acknowledged if self._settle(outgoing)]
            if not new:
                return
            self._acknowledged += len(new)
            self._problem, self._refusal = None, None
            self._changed.notify_all()
            now = self._clock()
        self._metrics.outstanding.dec(len(new))
        self._metrics.acknowledged.inc(len(new))
        for outgoing in new:
            self._metrics.delivery_seconds.observe(now - outgoing.taken_at)
            if outgoing.settled is not None:
                outgoing.settled(None)

    def fail(self, outgoing: Outgoing, reason: str, kind: FailureKind) -> None:
        """Record that an event won't be delivered."""
        failure = FailedEvent(outgoing.record.event_id, reason, kind)
        with self._changed:
            if not self._settle(outgoing):
                return
            self._failed += 1
            self._metrics.outstanding.dec()
            if len(self._failures) < MAX_LISTED_FAILURES:
                self._failures.append(failure)
            else:
                self._unlisted += 1
            self._changed.notify_all()
        self._metrics.failed[kind].inc()
        if outgoing.settled is not None:
            outgoing.settled(failure)

    def _settle(self, outgoing: Outgoing) -> bool:
        if self._outstanding.pop(outgoing.sequence, None) is None:
            return False  # settled before: a replacement producer sent it again
        self._bytes -= len(outgoing.record.value)
        return True

    def note(self, problem: str, *, refusal: CredentialsRefusedError | None = None) -> None:
        """Record the reason why nothing is delivered; it holds until an event is delivered.

        A refusal of the credentials ends `wait`; delivery is still retried.
        """
        with self._changed:
            if self._refusal is not None and refusal is None:
                return  # the broker closes the connection after a refusal: an error about that adds nothing
            self._problem, self._refusal = problem, refusal
            if refusal is not None:
                self._changed.notify_all()

    @property
    def problem(self) -> str | None:
        """Reason why no event is delivered; None while no problem is known."""
        with self._changed:
            return self._problem

    @property
    def refusal(self) -> CredentialsRefusedError | None:
        """The brokers' refusal of the credentials; None if an event has been acknowledged since."""
        with self._changed:
            return self._refusal

    @property
    def failed(self) -> int:
        """Number of events that have failed so far."""
        return self._failed

    def waiting_since(self) -> float | None:
        """Return when the oldest outstanding event was accepted, in monotonic seconds; None: nothing is outstanding."""
        with self._changed:
            return next(iter(self._outstanding.values())).taken_at if self._outstanding else None

    def outstanding(self) -> int:
        """Return the number of events that are still being delivered."""
        with self._changed:
            return len(self._outstanding)

    def wait(self, timeout_seconds: float) -> int:
        """Wait until every event taken so far is settled, the time is over, or the credentials are refused.

        Returns:
            Number of unsettled events.
        """
        with self._changed:
            last = self._taken
            self._changed.wait_for(
                lambda: self._refusal is not None or not self._outstanding or next(iter(self._outstanding)) > last,
                timeout=max(0.0, timeout_seconds),
            )
            return sum(sequence <= last for sequence in self._outstanding)

    def report(self) -> FlushReport:
        """Return the outcomes since the last report."""
        with self._changed:
            report = FlushReport(
                acknowledged=self._acknowledged,
                failed=tuple(self._failures),
                outstanding=len(self._outstanding),
                problem=self._problem if self._outstanding else None,
                failures_not_listed=self._unlisted,
            )
            self._acknowledged, self._unlisted = 0, 0
            self._failures.clear()
        return report
