"""Faults of the broker and its topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from headwater_benchmarks.soak.faults.fault import Fault
from headwater_benchmarks.soak.servers import kill

if TYPE_CHECKING:
    import random

    from headwater_benchmarks.soak.world import World


def killed(world: World, dice: random.Random) -> None:
    """SIGKILL, and started again after a while."""
    kill(world.servers.kafka.process)
    world.hold(dice, 0, 5)
    world.servers.restart(world.servers.kafka)


def dead_letters_unwritable(world: World, dice: random.Random) -> None:
    """The dead-letter topic asks for more replicas than there are, while there are dead letters to write."""
    _replicas_wanted(world, 2)
    try:
        with world.feed.held():
            world.feed.put_bad(5)
            world.feed.flush()
        world.hold(dice, 4, 10)
    finally:
        _replicas_wanted(world, 1)


def recreated(world: World, dice: random.Random) -> None:
    """The topic is deleted and created again: offsets start over.

    And leader epochs do, which the restart before has raised: a client that remembers them would fetch nothing.
    """
    killed(world, dice)
    world.recover()
    world.recreate_topic()


def _replicas_wanted(world: World, count: int) -> None:
    entry = ConfigEntry("min.insync.replicas", str(count), incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, world.topics.dead_letters, incremental_configs=[entry])
    admin = AdminClient(world.client)
    admin.incremental_alter_configs([resource])[resource].result(timeout=20)


FAULTS = (
    Fault("broker killed", killed),
    Fault("dead-letter topic unwritable", dead_letters_unwritable),
    Fault("topic deleted and created again", recreated, destroys=True),
)
