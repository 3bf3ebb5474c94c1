"""Metrics of the outbox. All exist from the start, at 0; labels come from closed enums."""

from __future__ import annotations

import weakref
from enum import StrEnum
from functools import cache
from typing import Protocol

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram


class DropReason(StrEnum):
    """Reason for which an event was dropped: label `reason` of the dropped counter."""

    FULL = "full"
    TOO_LARGE = "too_large"


class Holder(Protocol):
    """Holder of events whose number and size are exported as gauges."""

    @property
    def events(self) -> int:
        """Number of events held."""

    @property
    def bytes(self) -> int:
        """Size of the events held."""


class OutboxMetrics:
    """Metrics of the outbox on one registry. Outboxes of one process share them.

    Args:
        registry: registry without another instance of this class.
    """

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self.events = Gauge("headwater_outbox_events", "Events held, on disk or on their way to it.", registry=registry)
        self.bytes = Gauge("headwater_outbox_bytes", "Bytes of the events held.", registry=registry)
        self._holders: weakref.WeakSet[Holder] = weakref.WeakSet()
        # Computed when they are scraped: a running count could drift.
        self.events.set_function(lambda: sum(holder.events for holder in list(self._holders)))
        self.bytes.set_function(lambda: sum(holder.bytes for holder in list(self._holders)))
        self.taken = Counter("headwater_outbox_taken_total", "Events taken.", registry=registry)
        self.relayed = Counter(
            "headwater_outbox_relayed_total",
            "Events that Kafka has acknowledged and that were removed.",
            registry=registry,
        )
        self._dropped = Counter(
            "headwater_outbox_dropped_total", "Events given up: they won't be delivered.", ["reason"], registry=registry
        )
        self.dropped = {reason: self._dropped.labels(reason.value) for reason in DropReason}
        self.adopted = Counter(
            "headwater_outbox_adopted_total",
            "Events taken over from outboxes whose process is dead.",
            registry=registry,
        )
        self.disk_errors = Counter(
            "headwater_outbox_disk_errors_total", "Failures to write to, or read from, the disk.", registry=registry
        )
        self.commit_seconds = Histogram(
            "headwater_outbox_commit_seconds",
            "Writing one group of events, synced.",
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30),
            registry=registry,
        )

    def watch(self, holder: Holder) -> None:
        """Include a holder's events in the gauges while the holder exists."""
        self._holders.add(holder)

    def forget(self, holder: Holder) -> None:
        """Exclude a holder that has become empty for good."""
        self._holders.discard(holder)


@cache
def shared_metrics() -> OutboxMetrics:
    """Return the process's metrics, on prometheus_client's own registry."""
    # Made on first use, so that importing the package registers nothing.
    return OutboxMetrics()
