"""`/livez`, `/readyz` and `/metrics` on one port.

- `/livez` is 200 while the loop makes progress, also during a database outage: restarting the consumer wouldn't help.
- `/readyz` is 200 while partitions are assigned and both Kafka and Neo4j can be reached; else 503, with the reason.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any, Protocol
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from prometheus_client import CollectorRegistry, make_wsgi_app

from headwater_consumers.materializer.metrics import Dependency, Metrics

# Longer than all normal delays of the loop: a drain on revocation (20 s) and three requests to Kafka (5 s each).
ALIVE_SECONDS = 60.0


class Probed(Protocol):
    """Source of the answers to `/livez` and `/readyz`."""

    def document(self) -> dict[str, Any]:
        """Return the answer of both paths.

        `alive`: the process needn't be restarted; `ready`: new events are applied soon.
        """


class Companion(Protocol):
    """Another service of the process, which must be ready, too."""

    name: str

    @property
    def ready(self) -> bool:
        """True if the service works."""

    def document(self) -> dict[str, Any]:
        """Return the service's part of the answers to `/livez` and `/readyz`, which has the key `name`."""


class Health:
    """Health of the consumer's loop. Written by the loop's thread, read by the server's.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, metrics: Metrics, clock: Callable[[], float], companion: Companion | None = None) -> None:
        self._companion = companion
        self._metrics = metrics
        self._clock = clock
        self._moved = clock()
        self._assigned = 0
        self._up = dict.fromkeys(Dependency, False)

    def moved(self) -> None:
        """Record that the loop completed a round."""
        self._moved = self._clock()

    def assigned(self, partitions: int) -> None:
        """Record the number of assigned partitions."""
        self._assigned = partitions

    def up(self, dependency: Dependency, *, up: bool) -> None:
        """Record whether a dependency can be reached."""
        self._up[dependency] = up
        self._metrics.up(dependency, up=up)

    @property
    def alive(self) -> bool:
        """True if the loop completed a round within `ALIVE_SECONDS`."""
        return self._clock() - self._moved < ALIVE_SECONDS

    @property
    def ready(self) -> bool:
        """True if events that are published now will be applied soon."""
        companion = self._companion is None or self._companion.ready
        return self._assigned > 0 and all(self._up.values()) and companion

    def document(self) -> dict[str, Any]:
        """Return the answer to `/livez` and `/readyz`."""
        return {
            "alive": self.alive,
            "ready": self.ready,
            "partitions_assigned": self._assigned,
            **{f"{dependency.value}_reachable": up for dependency, up in self._up.items()},
            "seconds_since_moved": round(self._clock() - self._moved, 3),
            **({} if self._companion is None else {self._companion.name: self._companion.document()}),
        }


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Log nothing: probes come every few seconds."""


class HealthServer:
    """Server of `/livez`, `/readyz` and `/metrics`, on a separate thread.

    Args:
        port: port to listen on; 0: a free one.

    Raises:
        OSError: the port is taken.
    """

    def __init__(self, health: Probed, registry: CollectorRegistry, *, port: int, host: str) -> None:
        self._server = make_server(host, port, application(health, registry), _Server, _Quiet)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="health", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Port of the server."""
        return self._server.server_port

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)


def application(health: Probed, registry: CollectorRegistry) -> WSGIApplication:
    """Make the WSGI application with the three paths."""
    exposition = make_wsgi_app(registry)

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        match environ.get("PATH_INFO"):
            case "/metrics":
                exposed: Iterable[bytes] = exposition(environ, start_response)
                return exposed
            case "/livez":
                probe = "alive"
            case "/readyz":
                probe = "ready"
            case _:
                start_response("404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
                return [b"/livez, /readyz and /metrics are here.\n"]
        document = health.document()
        status = "200 OK" if document[probe] else "503 Service Unavailable"
        start_response(status, [("Content-Type", "application/json"), ("Cache-Control", "no-store")])
        return [json.dumps(document).encode() + b"\n"]

    return answer
