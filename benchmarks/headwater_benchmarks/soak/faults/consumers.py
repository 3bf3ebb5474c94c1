"""Faults of the consumers themselves."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from headwater.errors import CheckFailedError
from headwater_benchmarks.soak.crashing import STATUS, STEPS
from headwater_benchmarks.soak.faults.fault import Fault
from headwater_benchmarks.soak.servers import standing_still

if TYPE_CHECKING:
    import random

    from headwater_benchmarks.soak.world import World

# The group's session and poll interval end within this (see `world`).
_PAST_POLL_INTERVAL_SECONDS = 12.0
# Patience for slow machines: a doomed consumer waits for its partitions and for what it is to crash at.
_CRASH_SECONDS = 240.0


def killed(world: World, dice: random.Random) -> None:
    """SIGKILL, and another takes its place."""
    with world.lent(dice) as gone:
        gone.kill()
        world.replace(gone)


def stopped(world: World, dice: random.Random) -> None:
    """SIGSTOP past `max.poll.interval.ms`, then SIGCONT: it wakes as a zombie."""
    with world.lent(dice) as still, standing_still(still.process.pid):
        time.sleep(_PAST_POLL_INTERVAL_SECONDS)


def zombies(world: World, dice: random.Random) -> None:
    """Two generations: one stands still, the next takes over and stands still too, then both wake."""
    with world.lent(dice) as first, standing_still(first.process.pid):
        time.sleep(_PAST_POLL_INTERVAL_SECONDS)
        second = world.join()
        world.await_ready(second)
        with standing_still(second.process.pid):
            time.sleep(_PAST_POLL_INTERVAL_SECONDS)
    world.await_ready(second)
    second.stop()


def rebalance_storm(world: World, dice: random.Random) -> None:
    """Members come and go as fast as they start."""
    passing = [world.join() for _ in range(3)]
    for consumer in passing:
        consumer.until(lambda: consumer.port > 0, "a port")  # noqa: B023 - within the turn
        time.sleep(dice.uniform(0, 1.5))
        consumer.kill() if dice.random() < 0.5 else consumer.stop()


def crashed(step: str, world: World, dice: random.Random) -> None:  # noqa: ARG001 - as every fault
    """A further member ends between two steps of a checkpoint, as if by SIGKILL; the others take over."""
    doomed = world.join(program=("-m", "headwater_benchmarks.soak.crashing", step), materializer_batch_max_records="20")
    deadline = time.monotonic() + _CRASH_SECONDS
    while doomed.runs and time.monotonic() < deadline:
        if step.startswith("2"):  # it needs dead letters to send
            with world.feed.held():
                world.feed.put_bad(10)
        time.sleep(1)
    status = doomed.process.poll()
    doomed.end()
    if status != STATUS:
        raise CheckFailedError(f"A consumer that was to crash at {step} ended with {status}. It said: {doomed.said}")


FAULTS = (
    Fault("consumer killed", killed, flows=True),
    Fault("consumer stopped past max.poll.interval.ms", stopped, flows=True),
    Fault("two generations of zombies", zombies, flows=True),
    Fault("rebalance storm", rebalance_storm, flows=True),
    *(Fault(f"consumer crashes at step {step}", partial(crashed, step), flows=True) for step in STEPS),
)
