"""Reporting of one consumer: log lines on faults, totals of the run, metrics and health.

A fault is logged at once, then once a minute, and at its end (`Notices`).
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater_consumers.kafka.notices import EVERY_SECONDS, Notices, RetryCause
from headwater_consumers.kafka.records import Decoded, Partition
from headwater_consumers.kafka.source import RecordSource
from headwater_consumers.materializer.checkpoint import BatchCheckpoint
from headwater_consumers.materializer.dead_letters.letter import DeadLetter
from headwater_consumers.materializer.errors import DeadLetterReason
from headwater_consumers.materializer.health import Health
from headwater_consumers.materializer.in_flight import InFlight
from headwater_consumers.materializer.metrics import Dependency, Metrics, Rebalance, retry_cause
from headwater_graph.write.transaction import WriteCounters
from headwater_schemas.errors import LineageError, TransientError

_SHOW_SECONDS = 0.5
_MOST_LETTERS = 10
_LONGEST_MESSAGE = 300

log = logging.getLogger("headwater.consume")


@dataclass(slots=True)
class ConsumerTotals:
    """Counts since the start of this process. The group's totals are in `accounting`.

    After `Loop.run` has returned, consumed = applied + dead_lettered + released.

    Attributes:
        consumed: records read from the topic; a record that was released and read again counts twice.
        applied: records whose effect is in the graph, including effects that were already there.
        dead_lettered: records that the dead-letter topic has acknowledged, by reason.
        released: records dropped before they were applied or dead-lettered, because their partition went to another
            consumer or this consumer stopped. Their offsets aren't committed, so they are read again.
        committed: the last committed offset of each partition.
        openlineage: counts of an OpenLineage topic's bridge, by name; empty without a bridge.
    """

    consumed: int = 0
    applied: int = 0
    released: int = 0
    transactions: int = 0
    retries: int = 0
    dead_lettered: Counter[DeadLetterReason] = field(default_factory=Counter)
    committed: dict[Partition, int] = field(default_factory=dict)
    openlineage: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def document(self) -> dict[str, Any]:
        """Return the totals as `headwater consume --json` prints them."""
        return {
            "consumed": self.consumed,
            "applied": self.applied,
            "dead_lettered": self.dead_lettered.total(),
            "dead_lettered_by_reason": {reason.value: n for reason, n in sorted(self.dead_lettered.items())},
            "released": self.released,
            "transactions": self.transactions,
            "retries": self.retries,
            "committed": {str(partition): offset for partition, offset in sorted(self.committed.items())},
            "seconds": round(self.seconds, 3),
            **({"openlineage": dict(self.openlineage)} if self.openlineage else {}),
        }


class DeadLetterLog:
    """Log of dead letters: the first ten of each minute. The next line has the number of letters left out."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since = -EVERY_SECONDS
        self._lines = 0
        self._left_out = 0

    def add(self, letters: Iterable[DeadLetter]) -> None:
        """Log letters that are on the dead-letter topic."""
        if self._clock() - self._since >= EVERY_SECONDS:
            self._since, self._lines = self._clock(), 0
        for letter in letters:
            if self._lines >= _MOST_LETTERS:
                self._left_out += 1
                continue
            more = f" ({self._left_out:,} earlier dead letters weren't logged.)" if self._left_out else ""
            self._lines, self._left_out = self._lines + 1, 0
            record = letter.record
            location = f"{record.partition}@{record.offset}"
            log.warning(
                "Dead letter: %s, event %s, %s: %s%s",
                location,
                letter.event_id or "unknown",
                letter.reason.value,
                letter.message[:_LONGEST_MESSAGE],
                more,
                extra={"fields": {"event_id": letter.event_id, "record": location}},
            )


class ConsumerTally:
    """Observer of checkpoints (`checkpoint.Observer`) and of the loop, which keeps totals and metrics."""

    def __init__(self, totals: ConsumerTotals, metrics: Metrics, letters: DeadLetterLog) -> None:
        self._totals = totals
        self._metrics = metrics
        self._letters = letters

    def wrote(self, events: Sequence[Decoded], seconds: float, summary: WriteCounters) -> None:
        """Report a committed transaction with these events."""
        self._totals.transactions += 1
        self._metrics.wrote(events, seconds, summary)

    def split(self, events: int, error: LineageError) -> None:
        """Report the split of a batch of `events` events because of this error."""
        self._metrics.split(events, error)

    def acknowledged(self, letters: Sequence[DeadLetter], seconds: float) -> None:
        """Report acknowledged dead letters."""
        self._metrics.acknowledged(letters, seconds)
        self._letters.add(letters)

    def committed(self, offsets: Mapping[Partition, int], seconds: float) -> None:
        """Report committed offsets."""
        self._totals.committed.update(offsets)
        self._metrics.committed(offsets, seconds)


class Reporting:
    """Reporter of the consumer's state to logs, metrics and health. It makes no decisions.

    Args:
        source: source of the records, which shows whether a broker is connected.
        health, metrics, notices, totals: receivers of each report.
        watch: called twice a second, to show progress.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        *,
        source: RecordSource,
        health: Health,
        metrics: Metrics,
        notices: Notices,
        totals: ConsumerTotals,
        watch: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self._source = source
        self._health = health
        self._metrics = metrics
        self._notices = notices
        self._totals = totals
        self._watch = watch
        self._clock = clock
        self._next = 0.0

    def moved(self) -> None:
        """Report that the loop completed a round."""
        self._health.moved()

    def trouble(self, error: TransientError) -> None:
        """Report an attempt that failed for a temporary reason."""
        self._totals.retries += 1
        self._metrics.retried(error)
        cause = retry_cause(error)
        self._notices.trouble(cause, str(error))
        if cause is RetryCause.GRAPH:
            self._health.up(Dependency.NEO4J, up=False)

    def commit_failed(self, error: TransientError) -> None:
        """Report a commit of offsets that the brokers didn't confirm."""
        self._metrics.commit_failed()
        self.trouble(error)

    def silent(self, seconds: float, cause: RetryCause) -> None:
        """Report that the database or the dead-letter topic hasn't answered a write for `seconds` seconds."""
        if cause is RetryCause.GRAPH:
            self._health.up(Dependency.NEO4J, up=False)
        self._notices.trouble(cause, f"{cause.label} hasn't answered a write for {seconds:.0f} s.")

    def over(self, *causes: RetryCause) -> None:
        """Report that these faults are over, if they had occurred."""
        self._notices.over(*causes)
        if RetryCause.GRAPH in causes:
            self._health.up(Dependency.NEO4J, up=True)

    def consumed(self, records: int) -> None:
        """Report the number of records read."""
        self._totals.consumed += records
        self._metrics.consumed(records)

    def through(self, batch: BatchCheckpoint) -> None:
        """Report a batch that is written and whose dead letters are acknowledged."""
        self._totals.applied += batch.size - batch.letters
        self._totals.dead_lettered.update(batch.reasons)

    def released(self, records: int) -> None:
        """Report dropped records, which the next owner of their partitions reads again."""
        self._totals.released += records

    def rebalanced(self, kind: Rebalance, moved: Collection[Partition], assigned: int) -> None:
        """Report a rebalance: newly assigned or revoked partitions, and the number of assigned ones."""
        self._metrics.rebalanced(kind, assigned)
        self._health.assigned(assigned)
        names = ", ".join(str(partition) for partition in sorted(moved)) or "none"
        log.info("Partitions %s: %s; %d are assigned now.", kind.value, names, assigned)

    def show(self, in_flight: InFlight, *, paused: bool, committing: bool) -> None:
        """Update health and metrics after a round of the loop.

        Args:
            paused: whether fetching is paused.
            committing: whether commits of offsets succeed.
        """
        reachable = self._source.reachable
        self._health.up(Dependency.KAFKA, up=reachable)
        self._metrics.holding(in_flight.records, paused=paused)
        if reachable and committing:
            self.over(RetryCause.BROKER)
        if self._clock() < self._next:
            return
        self._next = self._clock() + _SHOW_SECONDS
        self._watch()
