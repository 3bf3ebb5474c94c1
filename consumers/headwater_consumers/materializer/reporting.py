"""Reporting of the loop: metrics, health, totals and log lines, from one place."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from headwater_consumers.materializer.errors import RetryCause, retry_cause
from headwater_consumers.materializer.metrics import Dependency, Rebalance

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from headwater_consumers.materializer.checkpoint import Checkpoint
    from headwater_consumers.materializer.in_flight import InFlight
    from headwater_consumers.materializer.parts import Parts
    from headwater_consumers.materializer.records import Partition
    from headwater_schemas.errors import TransientError

_SHOW_SECONDS = 0.5

log = logging.getLogger("headwater.consume")


class Reporting:
    """Reports what happened. Decides nothing.

    Args:
        parts: metrics, health, totals and notices.
        clock: monotonic seconds.
    """

    def __init__(self, parts: Parts, clock: Callable[[], float]) -> None:
        self._parts = parts
        self._clock = clock
        self._next = 0.0

    def moved(self) -> None:
        """The loop went round."""
        self._parts.health.moved()

    def trouble(self, error: TransientError) -> None:
        """An attempt failed for a passing reason."""
        self._parts.totals.retries += 1
        self._parts.metrics.retried(error)
        cause = retry_cause(error)
        self._parts.notices.trouble(cause, str(error))
        if cause is RetryCause.GRAPH:
            self._parts.health.up(Dependency.NEO4J, up=False)

    def commit_failed(self, error: TransientError) -> None:
        """The brokers didn't confirm offsets."""
        self._parts.metrics.commit_failed()
        self.trouble(error)

    def silent(self, seconds: float) -> None:
        """The database hasn't answered for so long."""
        self._parts.health.up(Dependency.NEO4J, up=False)
        self._parts.notices.trouble(RetryCause.GRAPH, f"Neo4j hasn't answered a write for {seconds:.0f} s.")

    def over(self, *causes: RetryCause) -> None:
        """These troubles are not, or not any more."""
        self._parts.notices.over(*causes)
        if RetryCause.GRAPH in causes:
            self._parts.health.up(Dependency.NEO4J, up=True)

    def consumed(self, records: int) -> None:
        """So many records were read."""
        self._parts.totals.consumed += records
        self._parts.metrics.consumed(records)

    def through(self, batch: Checkpoint) -> None:
        """A batch is through steps 1 and 2."""
        self._parts.totals.applied += batch.size - batch.letters
        self._parts.totals.dead_lettered.update(batch.reasons)

    def released(self, records: int) -> None:
        """So many records were read and let go of: whoever has their partitions next reads them again."""
        self._parts.totals.released += records

    def rebalanced(self, kind: Rebalance, moved: Collection[Partition], assigned: int) -> None:
        """These partitions came or went; so many are ours now."""
        self._parts.metrics.rebalanced(kind, assigned)
        self._parts.health.assigned(assigned)
        names = ", ".join(str(partition) for partition in sorted(moved)) or "none"
        log.info("Partitions %s: %s; %d are held now.", kind.value, names, assigned)

    def show(self, in_flight: InFlight, *, paused: bool, committing: bool) -> None:
        """How things stand after a round.

        Args:
            in_flight: records read and not yet through steps 1 and 2.
            paused: whether fetching is paused.
            committing: whether offsets are committed without trouble.
        """
        parts = self._parts
        reachable = parts.source.reachable
        parts.health.up(Dependency.KAFKA, up=reachable)
        parts.metrics.holding(in_flight.records, paused=paused)
        if reachable and committing:
            self.over(RetryCause.BROKER)
        if self._clock() < self._next:
            return
        self._next = self._clock() + _SHOW_SECONDS
        lag = parts.source.lag()
        parts.metrics.lag(lag)
        parts.metrics.oldest(in_flight.oldest)
        parts.totals.behind = sum(lag.values()) if lag else None
        parts.watch()
