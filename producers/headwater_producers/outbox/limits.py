"""OutboxLimits: how much an outbox may hold, and what gives way when it is full."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

DEFAULT_MAX_BYTES: Final = 256 * 1024 * 1024
# Events that wait for the disk are in memory: while it hangs, no more than this.
MAX_UNWRITTEN_BYTES: Final = 64 * 1024 * 1024


class WhenFull(StrEnum):
    """What gives way when there is no room."""

    DROP_NEWEST = "drop_newest"
    DROP_OLDEST = "drop_oldest"


@dataclass(frozen=True, slots=True)
class OutboxLimits:
    """Bounds of an outbox.

    Attributes:
        max_bytes: of the events that it holds, those that it took over from dead outboxes included.
        when_full: what gives way.
    """

    max_bytes: int = DEFAULT_MAX_BYTES
    when_full: WhenFull = WhenFull.DROP_NEWEST
