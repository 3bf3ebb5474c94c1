"""Metrics that the code declares, with their labels: those that rules and dashboards may use."""

from __future__ import annotations

import re

from prometheus_client import CollectorRegistry
from prometheus_client.metrics import MetricWrapperBase

from headwater_consumers.bridge.metrics import BridgeMetrics
from headwater_consumers.forward.metrics import ForwardMetrics
from headwater_consumers.kafka.lag import LagMetrics
from headwater_consumers.materializer.metrics import Metrics
from headwater_producers.outbox.metrics import OutboxMetrics
from headwater_producers.publisher.metrics import PublisherMetrics
from headwater_producers.spark.common.metrics import CaptureMetrics
from headwater_producers.spark.streaming.query_metrics import LABELS, QueryMetrics
from headwater_server.metrics import ServeMetrics

SCRAPED = {"job", "instance", "application", "collector"}  # labels that Prometheus adds, and a Pushgateway

NAME = re.compile(r"\bheadwater_\w+")
# By Prometheus itself, and by prometheus_client's process collector on Linux.
FOREIGN = {"up", "process_start_time_seconds", "process_resident_memory_bytes"}

STARTS_AT_1 = {
    "headwater_materializer_build_info",
    "headwater_materializer_schema_info",
    "headwater_serve_build_info",
}
"""Series that don't start at 0, the only ones: their labels hold their information."""


def registries() -> list[CollectorRegistry]:
    """A fresh registry of each service."""
    publisher = CollectorRegistry()
    PublisherMetrics(publisher)
    capture = CollectorRegistry()
    OutboxMetrics(capture)
    CaptureMetrics(capture)
    QueryMetrics(capture)
    bridge = CollectorRegistry()
    BridgeMetrics(bridge)
    serve = ServeMetrics()
    serve.declare(["/livez"])
    materializer, forward = Metrics().registry, ForwardMetrics().registry
    watched = ((materializer, "materializer"), (materializer, "dead_letters"), (bridge, "bridge"), (forward, "forward"))
    for registry, prefix in watched:
        LagMetrics(registry, f"headwater_{prefix}", "group")
    return [materializer, publisher, capture, bridge, forward, serve.registry]


def declared() -> dict[str, set[str]]:
    """Each series' name, as it stands in an exposition, and its labels."""
    series: dict[str, set[str]] = {}
    for registry in registries():
        for collector in list(registry._collector_to_names):
            if not isinstance(collector, MetricWrapperBase | QueryMetrics):
                continue
            labels = set(LABELS if isinstance(collector, QueryMetrics) else collector._labelnames)
            for family in collector.describe():
                if family.type == "counter":
                    series[f"{family.name}_total"] = labels
                elif family.type == "histogram":
                    series |= {f"{family.name}_bucket": labels | {"le"}}
                    series |= dict.fromkeys((f"{family.name}_sum", f"{family.name}_count"), labels)
                else:
                    series[family.name] = labels
    return series
