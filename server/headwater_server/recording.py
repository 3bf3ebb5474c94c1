"""Records of the reach of incidents after actions over HTTP, like those of `headwater incident` after its actions."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from headwater_analysis.errors import AnalysisError
from headwater_analysis.incidents.recording import record_after
from headwater_openlineage.intake.sink import Undeliverable
from headwater_schemas.errors import LineageError
from headwater_schemas.events import LineageEvent
from headwater_schemas.visible import visible
from headwater_server.asking import Graph
from headwater_server.identity import SERVER

_log = logging.getLogger(__name__)
_PAUSE_SECONDS: Final = 1.0
_SECONDS: Final = 300.0
"""Time within which the graph has to get an action."""
_BY: Final = "headwater serve"


class ReachRecorder:
    """Records the reach of incidents in a separate thread, from `start` to `stop`, once the graph has the actions.

    Of several actions on an incident that wait, the latest counts. Records that still wait when the server stops are
    lost; `headwater incident refresh` makes them.

    Args:
        clock: seconds, never decreasing.
    """

    def __init__(self, graph: Graph, clock: Callable[[], float] = time.monotonic) -> None:
        self._graph = graph
        self._clock = clock
        self._waiting: dict[tuple[str, str], tuple[LineageEvent, float]] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def start(self) -> None:
        """Start, if the server accepts actions."""
        if self._graph.sink is not None and self._graph.serve.declare:
            threading.Thread(target=self._run, daemon=True, name="headwater-reach").start()

    def stop(self) -> None:
        """Stop after the current record; doesn't wait for it."""
        self._stopped.set()

    def record(self, incident: str, event: LineageEvent) -> None:
        """Have the reach of an incident recorded once the graph has an action on it; doesn't wait.

        Args:
            incident: complete id of the incident.
            event: event of the action.
        """
        with self._lock:
            self._waiting[event.tenant, incident] = (event, self._clock() + _SECONDS)

    def once(self) -> None:
        """Record the reach of each waiting incident whose action is in the graph."""
        with self._lock:
            waiting = list(self._waiting.items())
        for (tenant, incident), (event, until) in waiting:
            if self._stopped.is_set():
                return
            if not self._is_recorded(tenant, incident, event) and self._clock() < until:
                continue
            with self._lock:
                # Another action may have followed.
                if self._waiting[tenant, incident][0] is event:
                    del self._waiting[tenant, incident]

    def _is_recorded(self, tenant: str, incident: str, event: LineageEvent) -> bool:
        sink = self._graph.sink
        if sink is None:
            raise RuntimeError("a server without a sink accepts no actions")
        reader = self._graph.reader(replace(SERVER, tenant=tenant))
        try:
            record = record_after(reader, incident, event, by=_BY, arrivals=self._graph.arrivals)
            if record is None:
                return False
            sink.send([record], _logged)
        except (AnalysisError, LineageError) as error:
            _log.warning("The reach of %s wasn't recorded: %s", visible(incident), visible(str(error)))
            return False
        return True

    def _run(self) -> None:
        while not self._stopped.wait(_PAUSE_SECONDS):
            self.once()


def _logged(failures: Sequence[Undeliverable]) -> None:
    for failure in failures:
        _log.warning("A record of an incident's reach isn't on the topic: %s", visible(failure.reason))
