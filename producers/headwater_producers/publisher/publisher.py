"""Publisher of events: encodes them, counts them and sends them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Self

from confluent_kafka import Producer

from headwater_producers.publisher.errors import PublisherClosedError
from headwater_producers.publisher.ledger import Ledger, Settled
from headwater_producers.publisher.metrics import PublisherMetrics, shared_metrics
from headwater_producers.publisher.report import FlushReport
from headwater_producers.publisher.sender import Sender
from headwater_producers.publisher.settings import PublisherSettings
from headwater_schemas.events import LineageEvent
from headwater_schemas.record import Record, record_of
from headwater_schemas.topics import TopicNames


class Publisher:
    """Publisher of events to the topic. Safe to use from many threads.

    The record: key `identity.record_key(event)`; value `codec.encode(event)`; headers `headwater.event.id`,
    `headwater.kind` and `content-type`; timestamp: time of publishing, not the event's time (which is in the event),
    because Kafka rejects timestamps more than an hour ahead of the broker's clock, and retention by time would
    delete late facts.

    Args:
        metrics: metrics to update; None: the process's metrics.
        make_producer: `confluent_kafka.Producer`, or a substitute.
        clock: monotonic seconds.

    Raises:
        SettingsRefusedError: no producer accepts the settings. An unreachable broker raises nothing.
    """

    def __init__(
        self,
        settings: PublisherSettings,
        topics: TopicNames | None = None,
        *,
        metrics: PublisherMetrics | None = None,
        make_producer: Callable[[dict[str, Any]], Producer] = Producer,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        metrics = metrics or shared_metrics()
        self._ledger = Ledger(
            max_events=settings.max_buffered_events,
            max_bytes=settings.max_buffered_bytes,
            metrics=metrics,
            clock=clock,
        )
        self._sender = Sender(
            settings, topics or TopicNames(), self._ledger, metrics, make_producer=make_producer, clock=clock
        )
        self._closed = False
        self._sender.start()

    def publish(self, event: LineageEvent, settled: Settled | None = None) -> None:
        """Accept an event for delivery. Never waits for Kafka; the caller only encodes it (0.1 ms for an interval).

        Args:
            settled: called once for this event: with None when all in-sync replicas have it, or with the reason of its
                failure. It is called on the publisher's thread, or within this call; it must not wait and must not
                publish. It is never called for an event that is outstanding at `close`.

        Raises:
            EncodeError: the event breaks the contract.
            BufferFullError: too many events wait already. The event was not accepted; the caller decides.
            PublisherClosedError: after `close`.
        """
        self.publish_record(record_of(event), settled)

    def publish_record(self, record: Record, settled: Settled | None = None) -> None:
        """Accept an encoded event; for `settled` see `publish`.

        Raises:
            BufferFullError: too many events wait already. The event was not accepted; the caller decides.
            PublisherClosedError: after `close`.
        """
        self.publish_records([record], settled)

    def publish_records(self, records: Sequence[Record], settled: Settled | None = None) -> None:
        """Accept encoded events that belong together: all or none.

        Args:
            settled: see `publish`; called for each event.

        Raises:
            BufferFullError: too many events wait already. No event was accepted; the caller decides.
            PublisherClosedError: after `close`.
        """
        if self._closed:
            raise PublisherClosedError("the publisher is closed")
        self._sender.send(self._ledger.take(records, settled))

    def await_settled(self, timeout_seconds: float) -> int:
        """Wait like `flush`, but create no report and raise nothing.

        Returns:
            Number of events so far that are neither acknowledged nor failed.
        """
        return self._ledger.wait(timeout_seconds)

    def max_event_bytes(self, timeout_seconds: float) -> int:
        """Return the maximum size of an event, uncompressed, that the settings and the topic allow.

        Args:
            timeout_seconds: longest time to wait for the brokers' limit of the topic. Afterwards only the settings'
                limit counts.
        """
        return self._sender.max_event_bytes(timeout_seconds)

    @property
    def failed(self) -> int:
        """Number of events that have failed so far."""
        return self._ledger.failed

    @property
    def problem(self) -> str | None:
        """Reason why no event is delivered; None while no problem is known."""
        return self._ledger.problem

    def flush(self, timeout_seconds: float) -> FlushReport:
        """Wait until all accepted events are acknowledged or have failed, or until the time is over.

        Returns:
            Outcomes since the last report. Outstanding events are in a later report.

        Raises:
            CredentialsRefusedError: the brokers refuse the credentials. Outcomes so far are kept for the next report.
        """
        self._ledger.wait(timeout_seconds)
        if (refusal := self._ledger.refusal) is not None and self._ledger.outstanding():
            raise refusal
        return self._ledger.report()

    def close(self, timeout_seconds: float = 30.0) -> FlushReport:
        """Flush, stop, and report; outstanding events of that report won't be delivered. Idempotent."""
        if not self._closed:
            self._closed = True
            self._ledger.wait(timeout_seconds)
            self._sender.stop()
        return self._ledger.report()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
