"""The metrics of this process over HTTP, for a Prometheus that scrapes drivers."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

from prometheus_client import REGISTRY, CollectorRegistry, start_http_server

from headwater_producers.outbox.metrics import shared_metrics as outbox_metrics
from headwater_producers.spark.common.metrics import shared_metrics as capture_metrics

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Served:
    """Metrics that are served until the process ends.

    Attributes:
        host: as it was given.
        port: that was bound.
    """

    host: str
    port: int


_lock = threading.Lock()
_served: dict[tuple[str, int], Served] = {}


def serve(host: str, port: int, *, registry: CollectorRegistry = REGISTRY) -> Served | None:
    """Serves `/metrics` on a thread of its own; where this process does so already, that is what is returned.

    It goes on until the process ends: what an application counted is scraped after its end, too. A port that can't be
    bound is logged, and costs the metrics, never the job.

    Args:
        host: to listen on.
        port: 0: any that is free.
        registry: whose metrics.

    Returns:
        Where; None where the port can't be bound.
    """
    with _lock:
        if (running := _served.get((host, port))) is not None:
            return running
        # Every series is there from the first scrape on, at 0.
        capture_metrics()
        outbox_metrics()
        try:
            server, _ = start_http_server(port, host, registry)
        except OSError as error:
            logger.warning(
                "lineage capture: metrics can't be served on %s:%d (%s); the job goes on without. Set metrics_port to "
                "a free port, or to 0 for any",
                host,
                port,
                error.strerror or error,
            )
            return None
        served = Served(host, int(server.server_port))
        _served[host, port] = served
    logger.info("lineage capture: metrics are served on http://%s:%d/metrics", served.host, served.port)
    return served
