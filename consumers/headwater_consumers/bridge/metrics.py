"""All metrics of the bridge except its lag. Labels come from closed lists."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

from headwater_consumers.materializer.errors import DeadLetterReason

_PREFIX = "headwater_bridge"
REASONS = (
    DeadLetterReason.EMPTY,
    DeadLetterReason.NOT_AN_EVENT,
    DeadLetterReason.INVALID_EVENT,
    DeadLetterReason.TOO_LARGE,
)
"""Dead-letter reasons of OpenLineage documents."""


class BridgeMetrics:
    """The metrics of one bridge."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.consumed = Counter(
            f"{_PREFIX}_records_consumed", "Records read from the OpenLineage topic.", registry=registry
        )
        self.published = Counter(
            f"{_PREFIX}_events_published",
            "Events made from these records and acknowledged by the events topic.",
            registry=registry,
        )
        self._dead = Counter(
            f"{_PREFIX}_dead_letters", "Records acknowledged by the dead-letter topic.", ["reason"], registry=registry
        )
        for reason in REASONS:
            self._dead.labels(reason.value)
        self.retries = Counter(
            f"{_PREFIX}_retries", "Attempts to publish, dead-letter or commit that failed.", registry=registry
        )
        self.up = Gauge(f"{_PREFIX}_kafka_up", "1 while a broker is connected.", registry=registry)

    def dead_letter(self, reason: DeadLetterReason) -> None:
        """Count a letter on the dead-letter topic."""
        self._dead.labels(reason.value).inc()
