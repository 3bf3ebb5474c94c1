"""Faults of what is on the topic. A few bad records, and clocks up to a day off, are in the feed all the time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_benchmarks.soak.faults.fault import Fault
from headwater_benchmarks.workload.company import EPOCH, PRODUCER, table
from headwater_schemas.events import DatasetEvent
from headwater_schemas.events.build import lineage_event

if TYPE_CHECKING:
    import random

    from headwater_benchmarks.soak.world import World

_LARGE = 900_000
"""Bytes; the topic takes a MiB."""


def poisoned(world: World, dice: random.Random) -> None:
    """Hundreds of records that can't be applied, in one go."""
    with world.feed.held():
        world.feed.put_bad(dice.randrange(100, 400))


def oversize(world: World, dice: random.Random) -> None:
    """Events nearly as large as the topic takes."""
    with world.feed.held():
        for _ in range(3):
            body = DatasetEvent(dataset=table(dice.randrange(100)), description=f"{dice.random()} " * (_LARGE // 20))
            world.feed.put(lineage_event(body, producer=PRODUCER, event_time=EPOCH))


FAULTS = (
    Fault("poison", poisoned, flows=True),
    Fault("events of nearly the largest size", oversize, flows=True),
)
