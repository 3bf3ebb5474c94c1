"""KafkaSink: the publisher as an EventSink; and the sink for given settings."""

from __future__ import annotations

import logging
from typing import Any

from pydantic import ValidationError

from headwater_producers.publisher import FlushReport, Publisher, PublisherSettings
from headwater_producers.spark.common.errors import CaptureSettingsError
from headwater_producers.spark.common.outbox_folder import outbox_folder
from headwater_producers.spark.common.settings import CaptureSettings, EmissionPolicy
from headwater_producers.spark.common.sink import DurableSink
from headwater_schemas.errors import CredentialsRefusedError, LineageError
from headwater_schemas.events import LineageEvent
from headwater_schemas.registry import RegistrySettings
from headwater_schemas.topics import TopicNames

logger = logging.getLogger(__name__)


class KafkaSink:
    """Event sink of Kafka. It waits for an unreachable broker; permanent failures are logged by event id."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    def publish(self, event: LineageEvent) -> None:
        """Accept an event; doesn't wait for the broker.

        Raises:
            LineageError: the event wasn't accepted.
        """
        self._publisher.publish(event)

    def flush(self, timeout_seconds: float) -> int:
        """Wait for delivery."""
        try:
            report = self._publisher.flush(timeout_seconds=timeout_seconds)
        except CredentialsRefusedError as refusal:
            outstanding = self._publisher.await_settled(0)
            logger.error("lineage capture: %d events are not delivered: %s", outstanding, refusal)  # noqa: TRY400
            return outstanding
        return _undelivered(report)

    def close(self) -> None:
        """Free the producer. Events in flight are lost, and were reported by `flush`."""
        self._publisher.close(timeout_seconds=0)

    @property
    def lost(self) -> int:
        """Number of events that have failed for good."""
        return self._publisher.failed

    @property
    def outbox(self) -> None:
        """None: this sink has no outbox."""
        return

    def max_event_bytes(self, timeout_seconds: float) -> int:
        """Return the maximum size of an event in Kafka; see `SizedSink`."""
        return self._publisher.max_event_bytes(timeout_seconds)

    def await_durable(self, timeout_seconds: float) -> int:
        """Wait until Kafka has all events; see `DurableSink`."""
        return self._publisher.await_settled(timeout_seconds)


def kafka_sink(settings: CaptureSettings) -> DurableSink:
    """Build the sink for these settings: an outbox before Kafka, or only Kafka.

    Raises:
        CaptureSettingsError: no brokers are set, librdkafka refuses a setting, or the outbox can't be created at
            `outbox_path`. If no path is set, the sink goes without an outbox, with a warning.
    """
    publisher = _publisher(publisher_settings(settings), TopicNames(settings.topic_prefix))
    wanted = settings.emission_policy is not EmissionPolicy.WARN or settings.outbox_path is not None
    if not settings.outbox_enabled or not wanted:
        return KafkaSink(publisher)
    try:
        # An interpreter without SQLite can still capture.
        from headwater_producers.outbox import Outbox, OutboxLimits, OutboxUnusableError, WhenFull
    except ImportError as error:
        return _without_outbox(settings, publisher, error)
    limits = OutboxLimits(max_bytes=settings.outbox_max_bytes, when_full=WhenFull(settings.outbox_when_full))
    try:
        return Outbox(outbox_folder(settings), publisher, limits)
    except (OutboxUnusableError, RuntimeError) as error:
        return _without_outbox(settings, publisher, error)


def _without_outbox(settings: CaptureSettings, publisher: Publisher, why: Exception) -> KafkaSink:
    if settings.outbox_path is not None:
        publisher.close(timeout_seconds=0)
        raise CaptureSettingsError(f"outbox_path: {why}; set another path, or outbox_enabled=false") from why
    logger.warning(
        "lineage capture: events wait for Kafka in memory only, and are lost with the process: %s "
        "(set outbox_path, or outbox_enabled=false)",
        why,
    )
    return KafkaSink(publisher)


def publisher_settings(settings: CaptureSettings) -> PublisherSettings:
    """Build the publisher's settings from capture's settings.

    Raises:
        CaptureSettingsError: no brokers are set, or a value is out of the publisher's range.
    """
    connection = _section(settings, "kafka_") | {"bootstrap_servers": settings.require_bootstrap_servers()}
    try:
        return PublisherSettings(
            client_id="headwater-capture",
            max_message_bytes=settings.topic_max_message_bytes,
            topic_partitions=settings.topic_partitions,
            topic_replication_factor=settings.topic_replication_factor,
            registry=RegistrySettings(**_section(settings, "registry_")) if settings.registry_url else None,
            **connection,
        )
    except ValidationError as error:
        raise CaptureSettingsError(f"the publisher doesn't take the kafka_… settings: {error}") from error


def _section(settings: CaptureSettings, prefix: str) -> dict[str, Any]:
    """Strip a prefix off settings: `kafka_security_protocol` ⇒ `security_protocol`; without unset settings."""
    return {
        name.removeprefix(prefix): value
        for name in type(settings).model_fields
        if name.startswith(prefix) and (value := getattr(settings, name)) is not None
    }


def _publisher(settings: PublisherSettings, topics: TopicNames) -> Publisher:
    try:
        return Publisher(settings, topics)
    except LineageError as error:
        raise CaptureSettingsError(f"the publisher can't be made: {error}") from error


def _undelivered(report: FlushReport) -> int:
    failed = len(report.failed) + report.failures_not_listed
    if report.failed:
        first = report.failed[0]
        logger.error("lineage capture: %d events failed, the first (%s): %s", failed, first.event_id, first.reason)
    if report.outstanding:
        logger.warning(
            "lineage capture: %d events are not delivered yet: %s",
            report.outstanding,
            report.problem or "timed out",
        )
    return failed + report.outstanding
