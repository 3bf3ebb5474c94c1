"""Faults of either server's link, and of a server that stands still: for the broker and the database alike."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial

from headwater.stack.process import GuardedProcess
from headwater_benchmarks.soak.faults.fault import Fault, require
from headwater_benchmarks.soak.links import Link
from headwater_benchmarks.soak.servers import Servers, standing_still, stands_still
from headwater_benchmarks.soak.world import World

_CUTS = 3
# For something to be on a link, where events are few: clients ask and answer all the time.
_TRAFFIC_SECONDS = 20.0
_LOOK_SECONDS = 0.1


def paused(process: Callable[[Servers], GuardedProcess], world: World, dice: random.Random) -> str:
    """It stands still: connected, and silent."""
    pid = process(world.servers).pid
    began = time.monotonic()
    with standing_still(pid):
        world.hold(dice, 3, 12)
        require(stands_still(pid), f"process {pid} ran on")
    return f"process {pid} stood still for {time.monotonic() - began:.1f} s"


def cut(link: Callable[[Servers], Link], world: World, dice: random.Random) -> str:
    """Every connection is reset, again and again."""
    reset = []
    for _ in range(_CUTS):
        reset.append(link(world.servers).cut())
        world.hold(dice, 0.5, 3)
        link(world.servers).mend()
        world.hold(dice, 0, 1)
    require(reset[0], "there was no connection to cut")
    return f"{', '.join(map(str, reset))} connections reset"


def lost(link: Callable[[Servers], Link], world: World, dice: random.Random) -> str:
    """Every packet is lost for a while."""
    found = link(world.servers)
    before = found.held_back
    found.freeze()
    try:
        world.hold(dice, 3, 12)
        more = _until_more(lambda: found.held_back - before)
    finally:
        found.mend()
    require(more, "nothing was sent over the link")
    return f"{more} chunks held back"


def slow(link: Callable[[Servers], Link], world: World, dice: random.Random) -> str:
    """Every packet takes its time."""
    found = link(world.servers)
    before, seconds = found.delayed, dice.uniform(0.02, 0.2)
    found.slow_down(seconds)
    try:
        world.hold(dice, 3, 8)
        more = _until_more(lambda: found.delayed - before)
    finally:
        found.mend()
    require(more, "nothing was sent over the link")
    return f"{more} chunks took {seconds * 1_000:.0f} ms more"


def _until_more(count: Callable[[], int]) -> int:
    deadline = time.monotonic() + _TRAFFIC_SECONDS
    while not count() and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)
    return count()


def _faults(
    name: str,
    process: Callable[[Servers], GuardedProcess],
    link: Callable[[Servers], Link],
    *,
    slow_flows: bool,
) -> tuple[Fault, ...]:
    return (
        Fault(f"{name} paused", partial(paused, process)),
        Fault(f"link to the {name} cut", partial(cut, link)),
        Fault(f"link to the {name} loses everything", partial(lost, link)),
        Fault(f"link to the {name} slow", partial(slow, link), flows=slow_flows),
    )


FAULTS = (
    *_faults("broker", lambda servers: servers.kafka.process, lambda servers: servers.kafka_link, slow_flows=True),
    # A write is a dozen round trips: with a slow link events hardly flow.
    *_faults("database", lambda servers: servers.neo4j.process, lambda servers: servers.neo4j_link, slow_flows=False),
)
