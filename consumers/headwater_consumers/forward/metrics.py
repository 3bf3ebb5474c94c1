"""All metrics of the forwarder except its lag. No metric has labels."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

_PREFIX = "headwater_forward"


class ForwardMetrics:
    """The metrics of one forwarder, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

        def counter(name: str, text: str) -> Counter:
            return Counter(f"{_PREFIX}_{name}", text, registry=self.registry)

        self.consumed = counter("records_consumed", "Records read from the events topic.")
        self.skipped = counter("records_skipped", "Records that aren't events, or are of another tenant.")
        self.delivered = counter("documents_delivered", "Documents that the collector has accepted.")
        self.refused = counter("documents_refused", "Documents that the collector refuses for good.")
        self.retries = counter("retries", "Attempts to deliver that failed for a temporary reason.")
        self.unknown_plans = counter(
            "unknown_plans", "Citations of a column lineage that isn't in the cache: the document is sent without it."
        )
        self.collector_up = Gauge(
            f"{_PREFIX}_collector_up", "1 if the collector accepted the last document, else 0.", registry=self.registry
        )
