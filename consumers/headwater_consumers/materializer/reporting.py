"""What the loop lets others know: metrics, health, totals and the lines for whoever watches, from one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.materializer.errors import RetryCause
from headwater_consumers.materializer.metrics import End, Rebalance

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater_consumers.materializer.errors import TransientError
    from headwater_consumers.materializer.hand import Hand
    from headwater_consumers.materializer.parts import Parts

_SHOW_SECONDS = 0.5


class Reporting:
    """Tells of what happened. Decides nothing.

    Args:
        parts: where to tell it.
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
        self._parts.notices.trouble(error.cause, str(error))
        if error.cause is RetryCause.GRAPH:
            self._parts.health.up(End.NEO4J, up=False)

    def commit_failed(self, error: TransientError) -> None:
        """The brokers didn't confirm offsets."""
        self._parts.metrics.commit_failed()
        self.trouble(error)

    def silent(self, seconds: float) -> None:
        """The database hasn't answered for so long."""
        self._parts.health.up(End.NEO4J, up=False)
        self._parts.notices.trouble(RetryCause.GRAPH, f"Neo4j hasn't answered a write for {seconds:.0f} s.")

    def over(self, *causes: RetryCause) -> None:
        """These troubles are not, or not any more."""
        self._parts.notices.over(*causes)
        if RetryCause.GRAPH in causes:
            self._parts.health.up(End.NEO4J, up=True)

    def consumed(self, records: int) -> None:
        """So many records were read."""
        self._parts.totals.consumed += records
        self._parts.metrics.consumed(records)

    def rebalanced(self, kind: Rebalance, assigned: int) -> None:
        """Partitions came or went; so many are ours now."""
        self._parts.metrics.rebalanced(kind, assigned)
        self._parts.health.assigned(assigned)

    def show(self, hand: Hand, *, paused: bool, committing: bool) -> None:
        """How things stand after a round.

        Args:
            hand: records read and not yet through steps 1 and 2.
            paused: whether fetching is paused.
            committing: whether offsets are committed without trouble.
        """
        parts = self._parts
        reachable = parts.source.reachable
        parts.health.up(End.KAFKA, up=reachable)
        parts.metrics.holding(hand.records, paused=paused)
        if reachable and committing:
            self.over(RetryCause.BROKER)
        if self._clock() < self._next:
            return
        self._next = self._clock() + _SHOW_SECONDS
        lag = parts.source.lag()
        parts.metrics.lag(lag)
        parts.metrics.oldest(hand.oldest)
        parts.totals.behind = sum(lag.values()) if lag else None
        parts.watch()
