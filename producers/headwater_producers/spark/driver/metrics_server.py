"""Export of this process's metrics: served over HTTP for Prometheus, and pushed to a Pushgateway at the end."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, push_to_gateway, start_http_server

from headwater_producers.outbox.metrics import shared_metrics as outbox_metrics
from headwater_producers.spark.common.metrics import shared_metrics as capture_metrics
from headwater_producers.spark.common.within import within
from headwater_producers.spark.streaming.query_metrics import shared_metrics as query_metrics
from headwater_schemas.redaction import redact

logger = logging.getLogger(__name__)

PUSH_SECONDS: Final = 3.0
"""Maximum time of a push to a Pushgateway: the end of the application waits for the push."""
PUSHED: Final = "headwater-jobs"
"""Label `job` of pushed metrics."""


@dataclass(frozen=True, slots=True)
class RunningServer:
    """Metrics server that runs until the process ends."""

    host: str
    port: int


_lock = threading.Lock()
_served: dict[tuple[str, int], RunningServer] = {}


def serve(host: str, port: int, *, registry: CollectorRegistry = REGISTRY) -> RunningServer | None:
    """Serve `/metrics` on a separate thread; an existing server of this process is returned.

    The server runs until the process ends, so that an application's metrics can be scraped after its end, too. If the
    port can't be bound, this is logged, and the job goes on without metrics.

    Args:
        port: port to bind; 0: any free port.

    Returns:
        The server; None if the port can't be bound.
    """
    with _lock:
        if (running := _served.get((host, port))) is not None:
            return running
        # Every series exists from the first scrape on, at 0.
        capture_metrics()
        outbox_metrics()
        query_metrics()
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
        served = RunningServer(host, int(server.server_port))
        _served[host, port] = served
    logger.info("lineage capture: metrics are served on http://%s:%d/metrics", served.host, served.port)
    return served


def push(gateway: str, application: str) -> bool:
    """Replace an application's metrics in the gateway with this process's metrics. A failure is only logged.

    Args:
        gateway: `host:port`, or a URL.
        application: name of the application: runs of one job replace each other.

    Returns:
        True if the gateway took the metrics.
    """
    capture_metrics()
    outbox_metrics()
    try:
        within(
            PUSH_SECONDS,
            lambda: push_to_gateway(
                gateway, PUSHED, REGISTRY, grouping_key={"application": application}, timeout=PUSH_SECONDS
            ),
            "headwater-push",
        )
    except Exception as error:
        # An invalid address, an unreachable or refusing gateway: urllib's errors, http.client's and ValueErrors.
        logger.warning(
            "lineage capture: the Pushgateway %s doesn't take the metrics (%s); the job's end isn't affected. "
            "Its counts are in its log and in capture.status()",
            redact(gateway),
            type(error).__name__,
        )
        return False
    return True
