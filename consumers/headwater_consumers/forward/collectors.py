"""Destinations of OpenLineage documents. A document is delivered once `deliver` and then `flush` have returned."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from headwater_schemas.errors import BrokerUnavailableError, FatalError, TransientError
from headwater_schemas.kafka.client import quiet
from headwater_schemas.kafka.errors import kafka_failure
from headwater_schemas.kafka.producer import AcknowledgedProducer, ProducerRecord, Undelivered

_DELIVERY_SECONDS = 30.0
_ROOM_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class OutgoingDocument:
    """A document in flight.

    Attributes:
        data: JSON in UTF-8, on one line.
        key: Kafka key that documents of one job share, as in OpenLineage's Kafka transport.
    """

    data: bytes
    key: str


class CollectorUnavailableError(TransientError):
    """The collector doesn't accept documents now.

    Attributes:
        after_seconds: pause that the collector requests, if any.
    """

    def __init__(self, message: str, *, after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.after_seconds = after_seconds


class CollectorUnusableError(FatalError):
    """The collector refuses all documents until a setting is changed."""


class DocumentRefusedError(Exception):
    """The collector refuses this document for good.

    Attributes:
        status: HTTP status of the collector's answer, or name of Kafka's error.
    """

    def __init__(self, status: str, answer: str = "") -> None:
        super().__init__(status)
        self.status = status
        self.answer = answer


class Collector(Protocol):
    """Destination of documents."""

    def deliver(self, document: OutgoingDocument, refused: Callable[[DocumentRefusedError], None]) -> None:
        """Deliver a document; documents stay in order.

        Args:
            refused: called for a document that is refused for good, at the latest within `flush`.

        Raises:
            CollectorUnavailableError: the collector is unavailable; try again.
            FatalError: a person has to change a setting.
        """

    def flush(self) -> None:
        """Return once the collector has all delivered documents.

        Raises:
            CollectorUnavailableError: documents are missing; deliver everything since the last flush again.
            FatalError: a person has to change a setting.
        """

    def close(self) -> None:
        """Close the connections. Never raises."""


class FileCollector:
    """Appends documents to a file, one per line.

    Args:
        path: path of the file, which is created if missing.

    Raises:
        CollectorUnusableError: the file can't be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines: list[bytes] = []
        try:
            with path.open("ab"):
                pass
        except OSError as error:
            raise CollectorUnusableError(f"File {path} can't be written: {error.strerror}", setting="--to") from error

    def deliver(self, document: OutgoingDocument, refused: Callable[[DocumentRefusedError], None]) -> None:  # noqa: ARG002
        """Keep the document for `flush`."""
        self._lines.append(document.data + b"\n")

    def flush(self) -> None:
        """Return once all documents are on disk; on failure, the file is unchanged.

        Raises:
            CollectorUnavailableError: the file can't be written now.
        """
        lines, self._lines = self._lines, []
        _append(self._path, b"".join(lines))

    def close(self) -> None:
        """Do nothing: no file is open."""


class KafkaCollector:
    """Produces documents to a topic, as OpenLineage's Kafka transport does.

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.
        make_producer: function that makes the producer from its settings.
    """

    def __init__(
        self,
        client: Mapping[str, Any],
        topic: str,
        make_producer: Callable[[dict[str, Any]], AcknowledgedProducer] = AcknowledgedProducer,
    ) -> None:
        self._topic = topic
        self._config = {
            **quiet(client),
            "client.id": "headwater-forward",
            "compression.type": "zstd",
            "linger.ms": 5,
            "delivery.timeout.ms": round(_DELIVERY_SECONDS * 1000),
            "queue.buffering.max.kbytes": 65_536,
        }
        self._servers = str(client.get("bootstrap.servers", ""))
        self._make_producer = make_producer
        self._producer = make_producer(self._config)
        self._failure: Undelivered | None = None

    def deliver(
        self,
        document: OutgoingDocument,
        refused: Callable[[DocumentRefusedError], None],
        headers: tuple[tuple[str, bytes], ...] = (),
    ) -> None:
        """Put a document into the producer's queue, once there is room. `flush` raises an error if delivery fails."""
        record = ProducerRecord(self._topic, document.key.encode(), document.data, headers)

        def settled(failure: Undelivered | None) -> None:
            if failure is not None and failure.too_large:
                refused(DocumentRefusedError(failure.error.name(), f"{len(document.data):,} bytes are too large"))
            elif failure is not None:
                self._failure = failure

        while True:
            try:
                self._producer.send(record, settled)
            except BufferError:
                self._producer.poll(_ROOM_SECONDS)
            else:
                break
        self._producer.poll(0)

    def flush(self) -> None:
        """Return once all in-sync replicas have all documents."""
        left = self._producer.flush(_DELIVERY_SECONDS + 5)
        self._raise_failure()
        if left:
            raise CollectorUnavailableError(
                f"Topic {self._topic} at {self._servers} didn't acknowledge {left} documents"
            )

    def close(self) -> None:
        """Drop unacknowledged documents."""
        self._producer.discard(0)

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is None:
            return
        if failure.producer_lost:
            self._producer.discard(0)
            self._producer = self._make_producer(self._config)
        error = kafka_failure(failure.error, servers=self._servers, doing=f"writing to {self._topic}")
        if isinstance(error, BrokerUnavailableError):
            raise CollectorUnavailableError(str(error))
        raise error


class RefusedDocuments(Protocol):
    """Destination of documents that the collector refuses for good."""

    def add(self, document: OutgoingDocument, error: DocumentRefusedError, *, source: str, event_id: str) -> None:
        """Store a document durably before returning.

        Args:
            source: topic, partition and offset of the event's record.

        Raises:
            CollectorUnavailableError: the destination is unavailable; try again.
            FatalError: a person has to change a setting.
        """

    def close(self) -> None:
        """Close the connections. Never raises."""


class RefusedTopic:
    """Topic of documents that the collector refuses for good, unchanged, with the reason in the headers.

    Args:
        topic: collector of the topic, which must exist.
    """

    def __init__(self, topic: KafkaCollector) -> None:
        self._topic = topic

    def add(self, document: OutgoingDocument, error: DocumentRefusedError, *, source: str, event_id: str) -> None:
        """Produce a document; all in-sync replicas have it when this returns.

        Raises:
            CollectorUnavailableError: the topic doesn't accept the document now.
            FatalError: the topic doesn't exist, or the document is too large for it.
        """
        given = {"source": source, "event.id": event_id, "status": error.status, "answer": error.answer}
        headers = tuple((f"headwater.{name}", text.encode("utf-8", "replace")) for name, text in given.items())
        refused: list[DocumentRefusedError] = []
        self._topic.deliver(document, refused.append, headers)
        self._topic.flush()
        if refused:
            raise CollectorUnusableError(
                f"The topic of refused documents rejects the document of event {event_id} (record {source}): "
                f"{refused[0].answer}. Raise max.message.bytes of this topic",
                setting="--refused",
            )

    def close(self) -> None:
        """Drop unacknowledged documents."""
        self._topic.close()


class RefusedFile:
    """File of documents that the collector refuses for good, one per line with the reason.

    Args:
        path: path of the file, which is created with the first document.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def add(self, document: OutgoingDocument, error: DocumentRefusedError, *, source: str, event_id: str) -> None:
        """Append a document; the document is on disk when this returns.

        Raises:
            CollectorUnavailableError: the file can't be written now.
        """
        line = {
            "source": source,
            "event_id": event_id,
            "status": error.status,
            "answer": error.answer,
            "document": json.loads(document.data),
        }
        _append(self._path, json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def close(self) -> None:
        """Do nothing: no file is open."""


def _append(path: Path, data: bytes) -> None:
    """Append to a file, and return once the data is on disk.

    Raises:
        CollectorUnavailableError: the file can't be written now, and is unchanged.
    """
    try:
        with path.open("ab", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            try:
                left = memoryview(data)
                while left:
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise
    except OSError as failure:
        raise CollectorUnavailableError(f"File {path} can't be written: {failure.strerror}") from failure
