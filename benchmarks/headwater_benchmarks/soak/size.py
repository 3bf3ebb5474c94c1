"""Size: how large a soak's world is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Size of a world.

    Attributes:
        rate: of events, per second.
        consumers: how many members the group has.
        partitions: of the topic; as many as there may ever be consumers at once, so that each has one.
        brief: whether faults are held no longer than they need, where how long is left to chance.
        settle_seconds: how long to wait for a recovery.
    """

    rate: float
    consumers: int = 2
    partitions: int = 4
    brief: bool = False
    settle_seconds: float = 240.0
