"""Every metric of capture. All are there from the first `attach`, at 0."""

from __future__ import annotations

import weakref
from enum import StrEnum
from typing import Protocol

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge


class Queue(Protocol):
    """What callbacks wait in."""

    @property
    def waiting(self) -> int:
        """How many."""

    @property
    def bytes(self) -> int:
        """What they weigh."""


class Told(StrEnum):
    """Whether micro-batches that no checkpoint has any more were told in time: `told` of the gaps' counter."""

    NEVER = "never"
    UNKNOWN = "unknown"


class CaptureMetrics:
    """Capture's metrics on one registry. Captures of one process share them.

    Args:
        registry: each registry takes only one instance.
    """

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self._queues: weakref.WeakSet[Queue] = weakref.WeakSet()
        self.queued = Gauge("headwater_capture_queued", "Callbacks of Spark that wait for capture.", registry=registry)
        # Asked for when it is scraped: nothing is counted on the query's thread.
        self.queued.set_function(lambda: sum(queue.waiting for queue in list(self._queues)))
        self.queued_bytes = Gauge(
            "headwater_capture_queued_bytes",
            "Memory of the JVM that waiting callbacks keep from being freed, by an estimate.",
            registry=registry,
        )
        self.queued_bytes.set_function(lambda: sum(queue.bytes for queue in list(self._queues)))
        self.dropped = Counter(
            "headwater_capture_dropped_total", "Callbacks turned away: too many waited.", registry=registry
        )
        self.published = Counter(
            "headwater_capture_published_total", "Events handed to the sink, which took them.", registry=registry
        )
        self.refused = Counter("headwater_capture_refused_total", "Events that the sink refused.", registry=registry)
        self.reconciled = Counter(
            "headwater_capture_reconciled_total",
            "Micro-batches told from a checkpoint, since they weren't when they ran.",
            registry=registry,
        )
        gaps = Counter(
            "headwater_capture_gap_batches_total",
            "Micro-batches that no checkpoint has any more, and that were never told, or not to anybody's knowledge.",
            ["told"],
            registry=registry,
        )
        self.gaps = {told: gaps.labels(told.value) for told in Told}
        self.overruns = Counter(
            "headwater_capture_overruns_total",
            "Streaming queries stopped, since the lineage of what they had committed wasn't durable.",
            registry=registry,
        )

    def watch(self, queue: Queue) -> None:
        """Counts a queue among those that callbacks wait in, for as long as it lives."""
        self._queues.add(queue)


_shared: CaptureMetrics | None = None


def shared_metrics() -> CaptureMetrics:
    """The process's metrics, on prometheus_client's own registry."""
    global _shared  # noqa: PLW0603 - made on first use, so that importing the package registers nothing
    if _shared is None:
        _shared = CaptureMetrics()
    return _shared
