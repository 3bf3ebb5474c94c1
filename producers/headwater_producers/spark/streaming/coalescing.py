"""Coalescing: when completed micro-batches are sent, alone or several in one IntervalEvent.

    batch 7 8 9 10│11 12│13 …        a new plan in 11, a stop after 12
    event └──────┘ └───┘

What waits is sent when it is many or old enough, when the stream stops or is flushed, and before a micro-batch that
isn't the next one. A change, of the plan or of a quality assertion's result, doesn't wait: what came before it is sent,
and so is the micro-batch that brought it, under the change's name.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater_schemas.events import EmissionReason, IntervalEntry


@dataclass(frozen=True, slots=True)
class Coalescing:
    """How long micro-batches may wait for one another.

    Attributes:
        max_batches: in one event; 1: none waits.
        max_seconds: from when the first one was added.
    """

    max_batches: int = 1
    max_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Due:
    """Consecutive micro-batches to be sent as one event.

    Attributes:
        entries: at least one.
        reason: why now.
        at: when the last one had ended.
    """

    entries: tuple[IntervalEntry, ...]
    reason: EmissionReason
    at: datetime


class Waiting:
    """The buffered micro-batches of one run that aren't sent yet.

    Args:
        coalescing: how long they may wait.
    """

    def __init__(self, coalescing: Coalescing) -> None:
        self._coalescing = coalescing
        self._entries: list[IntervalEntry] = []
        self._at: datetime | None = None
        self._since = 0.0

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, entry: IntervalEntry, at: datetime, change: EmissionReason | None, now: float) -> list[Due]:
        """Buffers a micro-batch.

        Args:
            entry: the micro-batch.
            at: when it had ended.
            change: what it changes; None: nothing.
            now: monotonic seconds.

        Returns:
            What is to be sent, in order.
        """
        out = []
        if self._entries and (change is not None or entry.batch_id != self._entries[-1].batch_id + 1):
            out += self.take(EmissionReason.CHECKPOINT)
        if not self._entries:
            self._since = now
        self._entries.append(entry)
        self._at = at
        if change is not None:
            out += self.take(change)
        elif len(self._entries) >= self._coalescing.max_batches:
            out += self.take(EmissionReason.CHECKPOINT)
        return out

    def replace(self, entry: IntervalEntry) -> bool:
        """More has become known of a micro-batch; False where it was sent already."""
        for index, waiting in enumerate(self._entries):
            if waiting.batch_id == entry.batch_id:
                self._entries[index] = entry
                return True
        return False

    def overdue(self, now: float) -> list[Due]:
        """What has waited long enough."""
        if self._entries and now - self._since >= self._coalescing.max_seconds:
            return self.take(EmissionReason.CHECKPOINT)
        return []

    def take(self, reason: EmissionReason) -> list[Due]:
        """All that waits."""
        if not self._entries or self._at is None:
            return []
        due = Due(tuple(self._entries), reason, self._at)
        self._entries = []
        return [due]
