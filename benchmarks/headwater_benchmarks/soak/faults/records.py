"""Faults of what is on the topic. A few bad records, and clocks up to a day off, are in the feed all the time."""

from __future__ import annotations

import random

from confluent_kafka import KafkaError, Producer

from headwater_benchmarks.soak.faults.fault import Fault, require
from headwater_benchmarks.soak.world import World
from headwater_benchmarks.workload.company import EPOCH, PRODUCER, table
from headwater_schemas.codec import encode
from headwater_schemas.events import DatasetEvent, LineageEvent
from headwater_schemas.events.build import lineage_event

_LARGE, _TOO_LARGE = 900_000, 1_200_000
"""Bytes; the topic takes a MiB."""
_ANSWER_SECONDS = 60.0


def poisoned(world: World, dice: random.Random) -> str:
    """Hundreds of records that can't be applied, in one go."""
    count = dice.randrange(100, 400)
    with world.feed.held():
        before = world.feed.bad
        world.feed.put_bad(count)
        world.feed.flush()
        taken = world.feed.bad - before
    require(taken == count, f"{taken} of {count} bad records were acknowledged")
    return f"{count} bad records acknowledged"


def oversize(world: World, dice: random.Random) -> str:
    """Events nearly as large as the topic takes; and one that is larger, which the broker has to refuse."""
    with world.feed.held():
        before, sizes = world.feed.acknowledged, []
        for _ in range(3):
            event = _described(dice, _LARGE)
            sizes.append(len(encode(event)))
            world.feed.put(event)
        world.feed.flush()
        taken = world.feed.acknowledged - before
    require(taken == len(sizes), f"{taken} of {len(sizes)} events were acknowledged")
    refused = _refused(world, encode(_described(dice, _TOO_LARGE)))
    require(refused == "MSG_SIZE_TOO_LARGE", f"an event of {_TOO_LARGE} bytes ended with {refused or 'success'}")
    return f"{taken} of at least {min(sizes):,} bytes acknowledged, one of {_TOO_LARGE:,} refused with {refused}"


def _described(dice: random.Random, size: int) -> LineageEvent:
    body = DatasetEvent(dataset=table(dice.randrange(100)), description=f"{dice.random()} " * (size // 20))
    return lineage_event(body, producer=PRODUCER, event_time=EPOCH)


def _refused(world: World, value: bytes) -> str:
    """With which word the broker refuses a record that the client lets through."""
    answers: list[KafkaError | None] = []
    producer = Producer({**world.client, "message.max.bytes": 4 * _TOO_LARGE, "log_level": 0})
    producer.produce(world.topics.events, value, on_delivery=lambda error, _: answers.append(error))
    producer.flush(_ANSWER_SECONDS)
    require(answers, "the broker didn't answer")
    error = answers[0]
    return error.name() if error is not None else ""


FAULTS = (
    Fault("poison", poisoned, flows=True),
    Fault("events of nearly the largest size", oversize, flows=True),
)
