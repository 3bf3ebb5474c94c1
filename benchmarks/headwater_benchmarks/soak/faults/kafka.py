"""Faults of the broker and its topics."""

from __future__ import annotations

import random
import time

from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from headwater_benchmarks.soak.faults.fault import Fault, require
from headwater_benchmarks.soak.servers import kill
from headwater_benchmarks.soak.world import World

_LARGEST = "max.message.bytes"
# Headers alone are more.
_SMALLER_THAN_A_LETTER = "100"
_PROBE = b"x" * 1_000
_PROBE_SECONDS = 30.0


def killed(world: World, dice: random.Random) -> str:
    """SIGKILL, and started again after a while."""
    shown = kill(world.servers.kafka)
    world.hold(dice, 0, 5)
    world.servers.restart(world.servers.kafka)
    return shown


def dead_letters_unwritable(world: World, dice: random.Random) -> str:
    """The dead-letter topic takes no record that is as large as a letter, while there are dead letters to write.

    Asking for more replicas than there are would be no fault: brokers ask for no more than a topic has.
    """
    usual = _largest(world)
    _take_at_most(world, _SMALLER_THAN_A_LETTER)
    try:
        refused = _refused(world)
        bad = world.feed.bad
        with world.feed.held():
            world.feed.put_bad(5)
            world.feed.flush()
        require(world.feed.bad >= bad + 5, "the bad records weren't acknowledged")
        letters = world.group.letters()
        world.hold(dice, 4, 10)
        require(world.group.letters() == letters, "dead letters were written all the same")
    finally:
        _take_at_most(world, usual)
    return f"a producer was refused with {refused}, and no dead letter was written while 5 or more were to be"


def recreated(world: World, dice: random.Random) -> str:
    """The topic is deleted and created again: offsets start over.

    And leader epochs do, which the restart before has raised: a client that remembers them would fetch nothing.
    """
    killed(world, dice)
    world.recover()
    before = world.group.topic_ids()
    world.recreate_topic()
    after = world.group.topic_ids()
    require(before and after and before.isdisjoint(after), f"the topic's id was {before} and is {after}")
    return f"the topic's id was {', '.join(before)} and is {', '.join(after)}"


def _refused(world: World) -> str:
    """The broker's error for a dead letter that it doesn't take, once the setting has reached it.

    What is taken until then is no letter: it has none of a letter's headers, and no accounting counts it.
    """
    producer = Producer({**world.client, "log_level": 0})
    deadline = time.monotonic() + _PROBE_SECONDS
    answers: list[KafkaError | None] = [None]
    while answers[-1] is None:
        require(time.monotonic() < deadline, "the dead-letter topic takes records")
        producer.produce(world.topics.dead_letters, _PROBE, on_delivery=lambda error, _: answers.append(error))
        producer.flush(_PROBE_SECONDS)
    error = answers[-1]
    require(error.code() == KafkaError.MSG_SIZE_TOO_LARGE, f"the dead-letter topic refuses with {error}")
    return error.name()


def _largest(world: World) -> str:
    resource = _dead_letter_topic(world)
    admin = AdminClient(world.client)  # answers come as long as it is there
    configs = admin.describe_configs([resource])[resource].result(timeout=20)
    return str(configs[_LARGEST].value)


def _take_at_most(world: World, size: str) -> None:
    entry = ConfigEntry(_LARGEST, size, incremental_operation=AlterConfigOpType.SET)
    resource = _dead_letter_topic(world, entry)
    admin = AdminClient(world.client)
    admin.incremental_alter_configs([resource])[resource].result(timeout=20)


def _dead_letter_topic(world: World, *entries: ConfigEntry) -> ConfigResource:
    return ConfigResource(ResourceType.TOPIC, world.topics.dead_letters, incremental_configs=list(entries))


FAULTS = (
    Fault("broker killed", killed),
    Fault("dead-letter topic unwritable", dead_letters_unwritable),
    Fault("topic deleted and created again", recreated, destroys=True),
)
