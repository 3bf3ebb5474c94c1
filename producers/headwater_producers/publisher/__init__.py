"""Publisher of events to Kafka: each event's delivery is confirmed, or its failure is reported.

    with Publisher(PublisherSettings(bootstrap_servers="broker:9092")) as publisher:
        publisher.publish(event)
        report = publisher.flush(timeout_seconds=30)

`publish` never waits for the broker. `flush` reports what was acknowledged, what failed and why, and what is still
outstanding. The publisher waits for an unreachable broker; no event is given up unless the settings have a delivery
timeout.
"""

from headwater_producers.publisher.errors import BufferFullError, DeliveryError, PublisherClosedError, PublisherError
from headwater_producers.publisher.metrics import FailureKind
from headwater_producers.publisher.publisher import Publisher
from headwater_producers.publisher.report import FailedEvent, FlushReport
from headwater_producers.publisher.settings import PublisherSettings

__all__ = [
    "BufferFullError",
    "DeliveryError",
    "FailedEvent",
    "FailureKind",
    "FlushReport",
    "Publisher",
    "PublisherClosedError",
    "PublisherError",
    "PublisherSettings",
]
