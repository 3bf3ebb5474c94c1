"""Totals of one run of the consumer, for its summary."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headwater_consumers.materializer.reasons import DeadLetterReason
from headwater_consumers.materializer.records import Partition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater_consumers.materializer.dead_letter import DeadLetter
    from headwater_consumers.materializer.graph import WriteSummary
    from headwater_consumers.materializer.metrics import Metrics
    from headwater_consumers.materializer.records import Decoded
    from headwater_schemas.errors import LineageError


@dataclass(slots=True)
class Totals:
    """Counts since the start of this process. What the group has done altogether is `accounting`'s to report.

    Once `Loop.run` has returned, consumed = applied + dead_lettered + released: each record that was read is in one.

    Attributes:
        consumed: records read from the topic; one that was released and read again counts twice.
        applied: records whose effect is in the graph, whether it was there already or not.
        dead_lettered: records that the dead-letter topic has acknowledged, by reason.
        released: records let go of before they were through, because their partition went to another consumer or this
            one stopped; no offset of theirs is committed, so they are read again.
        committed: the last offset committed in each partition.
        behind: offsets between the last commits and the end offsets, over the partitions of this consumer; None before
            anything is known of them.
    """

    consumed: int = 0
    applied: int = 0
    released: int = 0
    transactions: int = 0
    retries: int = 0
    dead_lettered: Counter[DeadLetterReason] = field(default_factory=Counter)
    committed: dict[Partition, int] = field(default_factory=dict)
    behind: int | None = None
    seconds: float = 0.0

    def document(self) -> dict[str, Any]:
        """As `headwater consume --json` prints them."""
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
        }


class Tally:
    """Observer of checkpoints (`checkpoint.Observer`) and of the loop, which keeps totals and metrics."""

    def __init__(self, totals: Totals, metrics: Metrics) -> None:
        self._totals = totals
        self._metrics = metrics

    def wrote(self, events: Sequence[Decoded], seconds: float, summary: WriteSummary) -> None:
        """A transaction with these events was committed."""
        self._totals.transactions += 1
        self._metrics.wrote(events, seconds, summary)

    def split(self, events: int, error: LineageError) -> None:
        """So many events are halved, for this error."""
        self._metrics.split(events, error)

    def acknowledged(self, letters: Sequence[DeadLetter], seconds: float) -> None:
        """These dead letters are acknowledged."""
        self._metrics.acknowledged(letters, seconds)

    def committed(self, offsets: Mapping[Partition, int], seconds: float) -> None:
        """These offsets are committed."""
        self._totals.committed.update(offsets)
        self._metrics.committed(offsets, seconds)
