"""Faults of the broker, the link to it and its topics."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from headwater.soak.faults.fault import Fault
from headwater.soak.servers import kill, standing_still

if TYPE_CHECKING:
    import random

    from headwater.soak.world import World


def killed(world: World, dice: random.Random) -> None:
    """SIGKILL, and started again after a while."""
    kill(world.servers.kafka.process)
    time.sleep(dice.uniform(0, 5))
    world.servers.restart(world.servers.kafka)


def paused(world: World, dice: random.Random) -> None:
    """It stands still: connected, and silent."""
    with standing_still(world.servers.kafka.process.pid):
        time.sleep(dice.uniform(3, 12))


def cut(world: World, dice: random.Random) -> None:
    """The link resets every connection, again and again."""
    for _ in range(3):
        world.servers.kafka_link.cut()
        time.sleep(dice.uniform(0.5, 3))
        world.servers.kafka_link.mend()
        time.sleep(dice.uniform(0, 1))


def lost(world: World, dice: random.Random) -> None:
    """Every packet is lost for a while."""
    world.servers.kafka_link.freeze()
    time.sleep(dice.uniform(3, 12))
    world.servers.kafka_link.mend()


def slow(world: World, dice: random.Random) -> None:
    """The link is slow."""
    world.servers.kafka_link.slow_down(dice.uniform(0.05, 0.3))
    time.sleep(dice.uniform(3, 8))
    world.servers.kafka_link.mend()


def dead_letters_unwritable(world: World, dice: random.Random) -> None:
    """The dead-letter topic asks for more replicas than there are, while there are dead letters to write."""
    _replicas_wanted(world, 2)
    try:
        world.feed.pause()
        world.feed.put_bad(5)
        world.feed.flush()
        world.feed.resume()
        time.sleep(dice.uniform(4, 10))
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
    Fault("broker paused", paused),
    Fault("link to the broker cut", cut),
    Fault("link to the broker loses everything", lost),
    Fault("link to the broker slow", slow),
    Fault("dead-letter topic unwritable", dead_letters_unwritable),
    Fault("topic deleted and created again", recreated, destroys=True),
)
