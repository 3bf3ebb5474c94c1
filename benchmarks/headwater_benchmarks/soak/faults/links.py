"""Faults of either server's link, and of a server that stands still: for the broker and the database alike."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from headwater_benchmarks.soak.faults.fault import Fault
from headwater_benchmarks.soak.servers import standing_still

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from headwater.stack.process import GuardedProcess
    from headwater_benchmarks.soak.links import Link
    from headwater_benchmarks.soak.servers import Servers
    from headwater_benchmarks.soak.world import World


def paused(process: Callable[[Servers], GuardedProcess], world: World, dice: random.Random) -> None:
    """It stands still: connected, and silent."""
    with standing_still(process(world.servers).pid):
        world.hold(dice, 3, 12)


def cut(link: Callable[[Servers], Link], world: World, dice: random.Random) -> None:
    """Every connection is reset, again and again."""
    for _ in range(3):
        link(world.servers).cut()
        world.hold(dice, 0.5, 3)
        link(world.servers).mend()
        world.hold(dice, 0, 1)


def lost(link: Callable[[Servers], Link], world: World, dice: random.Random) -> None:
    """Every packet is lost for a while."""
    link(world.servers).freeze()
    world.hold(dice, 3, 12)
    link(world.servers).mend()


def slow(link: Callable[[Servers], Link], world: World, dice: random.Random) -> None:
    """Every packet takes its time."""
    link(world.servers).slow_down(dice.uniform(0.02, 0.2))
    world.hold(dice, 3, 8)
    link(world.servers).mend()


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
