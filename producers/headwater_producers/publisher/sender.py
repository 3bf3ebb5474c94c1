"""Sender: the producer and the thread that serves it.

Events go to librdkafka straight from the caller's thread while the gate, a flag, is open. The gate is closed until the
preparation is done, and while the thread handles a problem; events accepted meanwhile wait in the backlog.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer

from headwater_producers.publisher.ledger import Ledger, Outgoing
from headwater_producers.publisher.metrics import FailureKind, PublisherMetrics
from headwater_producers.publisher.preparation import PublisherPreparation
from headwater_producers.publisher.settings import PublisherSettings
from headwater_schemas.kafka.errors import credentials_refused, kafka_error, refusal_text, refuses_credentials
from headwater_schemas.kafka.producer import AcknowledgedProducer, ProducerRecord, Undelivered
from headwater_schemas.topics import TopicNames

logger = logging.getLogger(__name__)

COMPLAINT_AFTER_SECONDS = 10.0
COMPLAINT_EVERY_SECONDS = 60.0
_POLL_SECONDS = 0.1
_RETRY_SECONDS = 1.0

_KINDS = {
    KafkaError.MSG_SIZE_TOO_LARGE: FailureKind.TOO_LARGE,
    KafkaError.TOPIC_AUTHORIZATION_FAILED: FailureKind.NOT_AUTHORIZED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: FailureKind.NOT_AUTHORIZED,
    KafkaError._MSG_TIMED_OUT: FailureKind.TIMED_OUT,  # noqa: SLF001
}


class Sender:
    """Sender of events until each is acknowledged or has failed, which it reports to the ledger.

    Args:
        make_producer: `confluent_kafka.Producer`, or a substitute.
        clock: monotonic seconds.

    Raises:
        SettingsRefusedError: no producer accepts the settings.
    """

    def __init__(
        self,
        settings: PublisherSettings,
        topics: TopicNames,
        ledger: Ledger,
        metrics: PublisherMetrics,
        *,
        make_producer: Callable[[dict[str, Any]], Producer] = Producer,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._topics = topics
        self._ledger = ledger
        self._metrics = metrics
        self._make_producer = make_producer
        self._clock = clock
        self._lock = threading.Lock()
        self._gate_open = False  # guarded by the lock, as are `_broken`, `_backlog` and `_too_large`
        self._broken = False
        self._backlog: deque[Outgoing] = deque()
        self._too_large: deque[Outgoing] = deque()
        self._sent_alone: set[int] = set()
        # Filled by delivery reports: in the sender's thread, or, after its end, in `stop`.
        self._acknowledged: list[Outgoing] = []
        self._prepared = False
        self._last_complaint = -COMPLAINT_EVERY_SECONDS
        self._outage_since: float | None = None
        self._last_unexpected: str | None = None
        self._stopping = threading.Event()
        self._preparation = PublisherPreparation(
            settings, topics, ledger=ledger, on_error=self._on_error, poll=self._poll, stopping=self._stopping
        )
        self._producer = self._new_producer()
        self._thread = threading.Thread(target=self._run, name="headwater-publisher", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def send(self, events: Iterable[Outgoing]) -> None:
        """Send events. Never waits for the broker."""
        with self._lock:
            for outgoing in events:
                if self._gate_open:
                    self._produce(outgoing)
                else:
                    self._backlog.append(outgoing)

    def max_event_bytes(self, timeout_seconds: float) -> int:
        """Return the maximum size of an event on the topic, if known in time, else the settings' limit."""
        self._preparation.has_asked.wait(timeout_seconds)
        return min(self._settings.max_message_bytes, self._preparation.topic_bytes or self._settings.max_message_bytes)

    def stop(self) -> None:
        """End the thread and drop undelivered events."""
        self._stopping.set()
        self._thread.join()
        self._producer.discard(0)
        self._report_acknowledged()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._run_once()
            except Exception as error:
                # A dead thread would strand every event silently; the same line each second would bury the job's log.
                if repr(error) != self._last_unexpected:
                    self._last_unexpected = repr(error)
                    logger.exception("Unexpected error in the publisher; retrying")
                self._stopping.wait(_RETRY_SECONDS)

    def _run_once(self) -> None:
        if self._broken:
            self._rebuild()
        if not self._prepared:
            self._prepared = self._preparation.done(self._producer)
            if not self._prepared:
                self._stopping.wait(_RETRY_SECONDS)
                return
        if self._too_large:
            self._send_alone()
        if not self._gate_open:
            self._open_gate()
        self._poll()

    def _poll(self) -> None:
        """Serve delivery reports for a moment; log a warning if they don't come."""
        self._producer.poll(_POLL_SECONDS)
        self._report_acknowledged()
        self._complain()

    def _complain(self) -> None:
        now, since = self._clock(), self._ledger.waiting_since()
        if since is None or now - since < COMPLAINT_AFTER_SECONDS:
            if self._outage_since is not None:
                logger.info(
                    "Kafka at %s acknowledges lineage events again, after %d s",
                    self._settings.require_servers(),
                    now - self._outage_since,
                )
                self._outage_since = None
            return
        self._outage_since = since if self._outage_since is None else self._outage_since
        if now - self._last_complaint >= COMPLAINT_EVERY_SECONDS:
            self._last_complaint = now
            logger.warning(
                "Kafka at %s unreachable: %d lineage events are buffered, the oldest for %d s, and will be sent when "
                "it is back. %s.",
                self._settings.require_servers(),
                self._ledger.outstanding(),
                now - since,
                self._ledger.problem or "No error was reported",
            )

    # Sending

    def _open_gate(self) -> None:
        with self._lock:
            self._gate_open = True
            while self._backlog and self._gate_open:
                self._produce(self._backlog.popleft())

    def _produce(self, outgoing: Outgoing) -> None:
        """Give an event to librdkafka. Requires the lock."""
        try:
            self._producer.send(
                ProducerRecord(
                    self._topics.events,
                    outgoing.record.key,
                    self._preparation.framed(outgoing.record.value),
                    outgoing.record.headers,
                ),
                partial(self._settled, outgoing),
            )
        except BufferError:
            # librdkafka's queue is full; the thread opens the gate again when there is room.
            self._backlog.appendleft(outgoing)
            self._gate_open = False
        except KafkaException as failure:
            self._not_delivered(outgoing, Undelivered(kafka_error(failure)), refused_alone=True)

    def _settled(self, outgoing: Outgoing, failure: Undelivered | None) -> None:
        """Handle an event's delivery report, called from `poll`, `flush` and `discard`."""
        if failure is None:
            self._acknowledged.append(outgoing)
            return
        with self._lock:
            self._not_delivered(outgoing, failure, refused_alone=outgoing.sequence in self._sent_alone)

    def _report_acknowledged(self) -> None:
        """Report the events acknowledged in one call of librdkafka together, which is cheaper for the ledger."""
        if self._acknowledged:
            acknowledged, self._acknowledged = self._acknowledged, []
            self._ledger.acknowledge(acknowledged)

    def _not_delivered(self, outgoing: Outgoing, failure: Undelivered, *, refused_alone: bool) -> None:
        """Decide on an undelivered event: retry, retry alone, or fail. Requires the lock."""
        if failure.producer_lost:
            self._backlog.append(outgoing)
            self._gate_open, self._broken = False, True
            return
        if failure.too_large and not refused_alone:
            # The broker refuses whole batches for their size.
            self._too_large.append(outgoing)
            self._gate_open = False
            return
        self._sent_alone.discard(outgoing.sequence)
        error = failure.error
        reason = f"{error.name()}: {_too_large(outgoing)}" if failure.too_large else refusal_text(error)
        self._ledger.fail(outgoing, reason, _KINDS.get(error.code(), FailureKind.OTHER))

    def _send_alone(self) -> None:
        """Send the events of too large batches individually, so that only the large ones fail."""
        self._drain()
        while self._too_large and not self._broken and not self._stopping.is_set():
            with self._lock:
                outgoing = self._too_large.popleft()
                self._sent_alone.add(outgoing.sequence)
                self._produce(outgoing)
            self._drain()
            self._sent_alone.discard(outgoing.sequence)

    def _drain(self) -> None:
        """Wait until librdkafka holds no message. The gate is closed, so no new messages come in."""
        while len(self._producer) and not self._broken and not self._stopping.is_set():
            self._producer.flush(_POLL_SECONDS)  # unlike `poll`, it ends the linger time of batches
            self._report_acknowledged()
            self._complain()

    # The producer

    def _new_producer(self) -> AcknowledgedProducer:
        return AcknowledgedProducer(
            self._settings.producer_config(), on_error=self._on_error, make_producer=self._make_producer
        )

    def _on_error(self, error: KafkaError) -> None:
        """Handle librdkafka's errors of the connection as a whole, called from `poll`."""
        servers = self._settings.require_servers()
        if error.fatal():
            logger.warning("Kafka producer failed: %s. A new one sends what was not acknowledged again", error.str())
            with self._lock:
                self._gate_open, self._broken = False, True
        elif refuses_credentials(error):
            refusal = credentials_refused(error, servers=servers)
            self._ledger.note(str(refusal), refusal=refusal)
        else:
            self._ledger.note(f"Kafka at {servers}: {error.str()}")

    def _rebuild(self) -> None:
        """Replace a producer after a fatal error; its undelivered events are in the backlog afterwards."""
        self._producer.discard(_RETRY_SECONDS)
        self._report_acknowledged()
        self._producer = self._new_producer()
        self._metrics.rebuilt.inc()
        with self._lock:
            self._broken = False
            self._prepared = False
            self._backlog.extend(self._too_large)
            self._too_large.clear()
            self._sent_alone.clear()


def _too_large(outgoing: Outgoing) -> str:
    """Describe the event that Kafka refuses for its size, and the settings that would let it through."""
    record = outgoing.record
    subject = "dataset" if record.kind == "DATASET" else "job"
    return (
        f"the {record.kind} event of {subject} {_name(record.key)}, of {len(record.value)} bytes, is more than Kafka "
        "takes: raise topic_max_message_bytes, and the events topic's max.message.bytes"
    )


def _name(key: bytes) -> str:
    """Return the last part of a record's key: tenant, namespace, name."""
    try:
        return str(json.loads(key)[-1])
    except (ValueError, LookupError, TypeError):
        return key.decode(errors="replace")
