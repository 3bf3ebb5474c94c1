"""Periodic check of the rules and count of the incidents in the background, for the metrics."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from headwater_analysis.checks import check
from headwater_analysis.errors import AnalysisError
from headwater_analysis.incidents.figures import incident_figures
from headwater_server.asking import Graph
from headwater_server.identity import SERVER
from headwater_server.metrics import ServeMetrics

_log = logging.getLogger(__name__)


class BackgroundChecks:
    """Checks the rules and counts the incidents periodically, in a separate thread, from `start` to `stop`.

    Args:
        graph: graph to check, with its exemptions.
        clock: seconds since 1970.
    """

    def __init__(self, graph: Graph, metrics: ServeMetrics, clock: Callable[[], float] = time.time) -> None:
        self._graph = graph
        self._metrics = metrics
        self._clock = clock
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start, if enabled in the settings."""
        self._metrics.checks.interval.set(self._every)
        if self._graph.serve.check_every_seconds > 0:
            self._thread = threading.Thread(target=self._run, daemon=True, name="headwater-checks")
            self._thread.start()

    def stop(self) -> None:
        """Stop after the current rule; doesn't wait for it."""
        self._stopped.set()

    def once(self) -> bool:
        """Count the incidents, then check all rules.

        Returns:
            False if the graph couldn't be queried, or a rule took too long. This is logged; metrics of unchecked rules
            keep their values.
        """
        now = self._clock()
        try:
            reader = self._graph.reader(SERVER)
            self._metrics.incidents.counted(incident_figures(reader).severities)
            found = check(reader, datetime.fromtimestamp(now, UTC), exemptions=self._graph.exemptions, limit=1)
        except AnalysisError as error:
            _log.warning("The rules weren't checked: %s Trying again in %g s.", error, self._every)
            return False
        self._metrics.checks.checked({rule.rule: (rule.total, rule.exempted) for rule in found.rules})
        for rule in found.unchecked:
            _log.warning("The rule %s wasn't checked: %s Trying again in %g s.", rule.rule, rule.reason, self._every)
        if found.unchecked:
            return False
        self._metrics.checks.last_success.set(now)
        return True

    @property
    def _every(self) -> float:
        return self._graph.serve.check_every_seconds

    def _run(self) -> None:
        while True:
            self.once()
            if self._stopped.wait(self._every):
                return
