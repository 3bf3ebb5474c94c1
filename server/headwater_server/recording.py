"""Records of the reach of incidents after actions over HTTP, like those of `headwater incident` after its actions."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from headwater_analysis.incidents.actions import Prepared
from headwater_analysis.incidents.questions import incident
from headwater_analysis.incidents.recording import is_changed, reach_record, with_action
from headwater_openlineage.intake.sink import IntakeSink, Undeliverable
from headwater_schemas.visible import visible
from headwater_server.asking import Graph
from headwater_server.identity import SERVER

_log = logging.getLogger(__name__)
_PAUSE_SECONDS: Final = 1.0
_SECONDS: Final = 300.0
"""Time within which the graph has to get an action."""
_TRIES: Final = 3
_BY: Final = "headwater serve"


@dataclass(slots=True)
class _Waiting:
    prepared: Prepared
    until: float
    tries: int = 0


class ReachRecorder:
    """Records the reach of incidents in a separate thread, from `start` to `stop`, once the graph has the actions.

    Of several actions on an incident that wait, the latest counts. A reach that can't be recorded is logged;
    `headwater incident refresh` records it, and those that still wait when the server stops.

    Args:
        clock: seconds, never decreasing.
    """

    def __init__(self, graph: Graph, clock: Callable[[], float] = time.monotonic) -> None:
        self._graph = graph
        self._clock = clock
        self._waiting: dict[tuple[str, str], _Waiting] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def start(self) -> None:
        """Start, if the server accepts actions."""
        if self._graph.sink is not None and self._graph.serve.declare:
            threading.Thread(target=self._run, args=(self._graph.sink,), daemon=True, name="headwater-reach").start()

    def stop(self) -> None:
        """Stop after the current record; doesn't wait for it."""
        self._stopped.set()

    def record(self, prepared: Prepared) -> None:
        """Have the reach that an action changes recorded once the graph has the action; doesn't wait."""
        if prepared.reached is None:
            return
        with self._lock:
            waiting = _Waiting(prepared, self._clock() + _SECONDS)
            self._waiting[prepared.event.tenant, prepared.reached] = waiting

    def once(self, sink: IntakeSink) -> None:
        """Record the reach of each waiting incident whose action is in the graph."""
        with self._lock:
            waiting = list(self._waiting.items())
        for key, each in waiting:
            if self._stopped.is_set():
                return
            if self._is_done(*key, each, sink):
                with self._lock:
                    # Another action may have followed.
                    if self._waiting[key] is each:
                        del self._waiting[key]

    def _is_done(self, tenant: str, name: str, waiting: _Waiting, sink: IntakeSink) -> bool:
        reader = self._graph.reader(replace(SERVER, tenant=tenant))
        try:
            if any(with_action(reader, event) is None for event in waiting.prepared.events):
                if self._clock() < waiting.until:
                    return False
                _unrecorded(name, f"the graph didn't get the action within {_SECONDS:g} s")
                return True
            found = incident(reader, name, with_owners=False, detailed=False, arrivals=self._graph.arrivals)
            if is_changed(found):
                sink.send([reach_record(reader, found, by=_BY)], partial(_settled, name))
        except Exception as error:  # noqa: BLE001 - whatever it is, other incidents are to be recorded
            waiting.tries += 1
            if waiting.tries < _TRIES:
                return False
            _unrecorded(name, f"{type(error).__name__}: {error}")
        return True

    def _run(self, sink: IntakeSink) -> None:
        while not self._stopped.wait(_PAUSE_SECONDS):
            self.once(sink)


def _settled(name: str, failures: Sequence[Undeliverable]) -> None:
    for failure in failures:
        _unrecorded(name, failure.reason)


def _unrecorded(name: str, reason: str) -> None:
    _log.warning("The reach of %s wasn't recorded: %s. `headwater incident refresh` does it.", name, visible(reason))
