"""KafkaSink: the publisher as an EventSink."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from headwater_producers.publisher import Publisher, PublisherError, PublisherSettings
from headwater_producers.spark.errors import CaptureSettingsError
from headwater_schemas.topics import TopicNames

if TYPE_CHECKING:
    from headwater_producers.publisher import FlushReport
    from headwater_producers.spark.settings import CaptureSettings
    from headwater_schemas.events import LineageEvent

logger = logging.getLogger(__name__)


class KafkaSink:
    """Publishes to Kafka. A broker that can't be reached is waited for; what fails for good is logged by event id."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    def publish(self, event: LineageEvent) -> None:
        """Takes an event; doesn't wait for the broker.

        Raises:
            PublisherError, ContractError: it wasn't taken.
        """
        self._publisher.publish(event)

    def flush(self, timeout_seconds: float) -> int:
        """Waits for delivery."""
        report = self._publisher.flush(timeout_seconds=timeout_seconds)
        return _undelivered(report)

    def close(self) -> None:
        """Frees the producer. What is still on its way is lost, and was reported by `flush`."""
        self._publisher.close(timeout_seconds=0)


def kafka_sink(settings: CaptureSettings) -> KafkaSink:
    """The sink that the settings describe.

    Raises:
        CaptureSettingsError: no brokers are set, or librdkafka doesn't take a setting.
    """
    connection: dict[str, Any] = {
        name.removeprefix("kafka_"): value
        for name in type(settings).model_fields
        if name.startswith("kafka_") and (value := getattr(settings, name)) is not None
    }
    connection["bootstrap_servers"] = settings.require_bootstrap_servers()
    try:
        publisher = Publisher(
            PublisherSettings(client_id="headwater-capture", **connection), TopicNames(settings.topic_prefix)
        )
    except (ValidationError, PublisherError) as error:
        raise CaptureSettingsError(f"the publisher doesn't take the kafka_… settings: {error}") from error
    return KafkaSink(publisher)


def _undelivered(report: FlushReport) -> int:
    failed = len(report.failed) + report.failures_not_listed
    if report.failed:
        first = report.failed[0]
        logger.error("lineage capture: %d events failed, the first (%s): %s", failed, first.event_id, first.reason)
    if report.outstanding:
        logger.warning(
            "lineage capture: %d events are not delivered yet: %s",
            report.outstanding,
            report.problem or "the time was over",
        )
    return failed + report.outstanding
