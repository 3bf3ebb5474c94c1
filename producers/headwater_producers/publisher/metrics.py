"""Metrics of the publisher. All exist from the start, at 0; labels come from closed enums."""

from __future__ import annotations

from enum import StrEnum
from functools import cache

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram


class FailureKind(StrEnum):
    """Coarse class of a delivery failure: label `reason` of the failed counter."""

    TOO_LARGE = "too_large"
    NOT_AUTHORIZED = "not_authorized"
    TIMED_OUT = "timed_out"
    OTHER = "other"


class PublisherMetrics:
    """Metrics of the publisher on one registry. Publishers of one process share them.

    Args:
        registry: registry without another instance of this class.
    """

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self.accepted = Counter("headwater_publisher_accepted_total", "Events taken for delivery.", registry=registry)
        self.refused = Counter(
            "headwater_publisher_refused_total", "Events not taken: the local buffer was full.", registry=registry
        )
        self.acknowledged = Counter(
            "headwater_publisher_acknowledged_total", "Events that all in-sync replicas have.", registry=registry
        )
        self._failed = Counter(
            "headwater_publisher_failed_total", "Events that won't be delivered.", ["reason"], registry=registry
        )
        self.failed = {kind: self._failed.labels(kind.value) for kind in FailureKind}
        self.outstanding = Gauge(
            "headwater_publisher_outstanding", "Events taken and neither acknowledged nor failed.", registry=registry
        )
        self.value_bytes = Counter(
            "headwater_publisher_value_bytes_total", "Bytes of the taken events, uncompressed.", registry=registry
        )
        self.delivery_seconds = Histogram(
            "headwater_publisher_delivery_seconds",
            "From taking an event to its acknowledgement.",
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600),
            registry=registry,
        )
        self.rebuilt = Counter(
            "headwater_publisher_producer_rebuilt_total",
            "Times the producer was replaced after a fatal error; its unacknowledged events were sent again.",
            registry=registry,
        )


@cache
def shared_metrics() -> PublisherMetrics:
    """Return the process's metrics, on prometheus_client's own registry."""
    # Made on first use, so that importing the package registers nothing.
    return PublisherMetrics()
