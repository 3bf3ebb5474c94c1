"""Metrics of capture. All exist from the first `attach`, at 0."""

from __future__ import annotations

import weakref
from enum import StrEnum
from functools import cache
from typing import Protocol

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge


class Queue(Protocol):
    """Queue of callbacks whose length and size are exported as gauges."""

    @property
    def waiting(self) -> int:
        """Number of callbacks that wait."""

    @property
    def bytes(self) -> int:
        """Estimated size of the waiting callbacks."""


class EarlierEmission(StrEnum):
    """Certainty that purged micro-batches were never emitted: label `emitted` of the gaps' counter."""

    NEVER = "never"
    UNKNOWN = "unknown"


class GateOutcome(StrEnum):
    """Outcome of the check of one input before a write: label `outcome` of the gate's counter.

    Attributes:
        FREE: no open incident holds the input.
        HELD: an open incident holds the input; the write was refused.
        UNKNOWN: the graph has no such dataset.
        UNREAD: the input is a part of the plan whose datasets aren't known, such as rows that the program handed over.
        UNAVAILABLE: the server gave no answer, or the plan couldn't be read.
    """

    FREE = "free"
    HELD = "held"
    UNKNOWN = "unknown"
    UNREAD = "unread"
    UNAVAILABLE = "unavailable"


class CaptureMetrics:
    """Capture's metrics on one registry. Captures of one process share them.

    Args:
        registry: registry without another instance of this class.
    """

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self._queues: weakref.WeakSet[Queue] = weakref.WeakSet()
        self.queued = Gauge(
            "headwater_capture_queued", "Callbacks of Spark's listeners that wait for capture.", registry=registry
        )
        # Read at a scrape: nothing is counted on the query's thread.
        self.queued.set_function(lambda: sum(queue.waiting for queue in list(self._queues)))
        self.queued_bytes = Gauge(
            "headwater_capture_queued_bytes",
            "Memory of the JVM that waiting callbacks keep from being freed, by an estimate.",
            registry=registry,
        )
        self.queued_bytes.set_function(lambda: sum(queue.bytes for queue in list(self._queues)))
        self.dropped = Counter(
            "headwater_capture_dropped_total", "Callbacks dropped because the queue was full.", registry=registry
        )
        self.failed = Counter(
            "headwater_capture_failed_total",
            "Callbacks that couldn't be made into events, or not all of them.",
            registry=registry,
        )
        self.published = Counter(
            "headwater_capture_published_total", "Events accepted by the outbox or the publisher.", registry=registry
        )
        self.refused = Counter(
            "headwater_capture_refused_total", "Events refused by the outbox or the publisher.", registry=registry
        )
        self.observed = Counter(
            "headwater_capture_observed_total",
            "Micro-batches emitted as Spark reported them.",
            registry=registry,
        )
        self.reconciled = Counter(
            "headwater_capture_reconciled_total",
            "Micro-batches backfilled from a checkpoint.",
            registry=registry,
        )
        gaps = Counter(
            "headwater_capture_gap_batches_total",
            "Micro-batches purged from the checkpoint whose lineage was never emitted, or isn't known to have been.",
            ["emitted"],
            registry=registry,
        )
        self.gaps = {emitted: gaps.labels(emitted.value) for emitted in EarlierEmission}
        self.overruns = Counter(
            "headwater_capture_overruns_total",
            "Streaming queries stopped because lineage of committed micro-batches wasn't durable (fail_closed).",
            registry=registry,
        )

        checks = Counter(
            "headwater_capture_gate_checks_total",
            "Checks of the inputs of writes before they began (refuse_tainted_inputs).",
            ["outcome"],
            registry=registry,
        )
        self.gate_checks = {outcome: checks.labels(outcome.value) for outcome in GateOutcome}

    def watch(self, queue: Queue) -> None:
        """Include a queue in the gauges while the queue exists."""
        self._queues.add(queue)


@cache
def shared_metrics() -> CaptureMetrics:
    """Return the process's metrics, on prometheus_client's own registry."""
    # Made on first use, so that importing the package registers nothing.
    return CaptureMetrics()
