"""Faults of the consumers themselves."""

from __future__ import annotations

import random
import signal
import time
from functools import partial

from headwater.errors import CheckFailedError
from headwater_benchmarks.soak.consumer import ConsumerProcess
from headwater_benchmarks.soak.crashing import STATUS, STEPS
from headwater_benchmarks.soak.faults.fault import Fault, require
from headwater_benchmarks.soak.servers import standing_still
from headwater_benchmarks.soak.world import World

# The group's session and poll interval end within this (see `world`).
_PAST_POLL_INTERVAL_SECONDS = 12.0
# Patience for slow machines: a doomed consumer waits for its partitions and for what it is to crash at.
_CRASH_SECONDS = 240.0
# For the group to notice what happened to a member.
_NOTICE_SECONDS = 60.0
_REBALANCE_SECONDS = 10.0


def killed(world: World, dice: random.Random) -> str:
    """SIGKILL, and another takes its place."""
    with world.lent(dice) as gone:
        deadline = time.monotonic() + _REBALANCE_SECONDS
        # While the group rebalances, a member has no partitions; where others have joined, it may stay without.
        while not (partitions := world.group.members().get(gone.name, 0)) and time.monotonic() < deadline:
            time.sleep(0.5)
        gone.kill()
        status = gone.process.returncode
        require(status == -signal.SIGKILL, f"it ended with {status}")
        world.replace(gone)
    return f"ended by signal {signal.SIGKILL} while it had {partitions} partitions"


def stopped(world: World, dice: random.Random) -> str:
    """SIGSTOP past `max.poll.interval.ms`, then SIGCONT: it wakes as a zombie."""
    with world.lent(dice) as still, standing_still(still.process.pid):
        return _stood_still(world, still)


def zombies(world: World, dice: random.Random) -> str:
    """Two generations: one stands still, the next takes over and stands still too, then both wake."""
    with world.lent(dice) as first, standing_still(first.process.pid):
        earlier = _stood_still(world, first)
        second = world.join()
        world.await_ready(second)
        with standing_still(second.process.pid):
            later = _stood_still(world, second)
    world.await_ready(second)
    second.stop()
    return f"{earlier}; then {later}"


def _stood_still(world: World, still: ConsumerProcess) -> str:
    """Wait past the poll interval, and until the group has given the member's partitions away."""
    began = time.monotonic()
    time.sleep(_PAST_POLL_INTERVAL_SECONDS)
    deadline = began + _NOTICE_SECONDS
    while still.name in world.group.members():
        require(time.monotonic() < deadline, f"the group kept {still.name} for {_NOTICE_SECONDS:.0f} s")
        time.sleep(0.5)
    return f"{still.name} stood still for {time.monotonic() - began:.0f} s and lost its place in the group"


def rebalance_storm(world: World, dice: random.Random) -> str:
    """Members come and go as fast as they start."""
    watched = world.consumers[0]
    before = watched.metrics("rebalances_total")
    passing = [world.join() for _ in range(3)]
    for consumer in passing:
        consumer.until(lambda: consumer.port > 0, "a port")  # noqa: B023 - within the turn
        time.sleep(dice.uniform(0, 1.5))
        consumer.kill() if dice.random() < 0.5 else consumer.stop()
    deadline = time.monotonic() + _NOTICE_SECONDS
    while (more := watched.metrics("rebalances_total") - before) < 1:
        require(time.monotonic() < deadline, "no rebalance was counted by a member that stayed")
        time.sleep(0.5)
    return f"a member that stayed counted {more:.0f} rebalances"


def crashed(step: str, world: World, dice: random.Random) -> str:  # noqa: ARG001 - as every fault
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
        raise CheckFailedError(
            f"A consumer that was to crash at {step} ended with {status}. Its stderr: {doomed.stderr}"
        )
    return f"ended with {STATUS} at step {step}"


FAULTS = (
    Fault("consumer killed", killed, flows=True),
    Fault("consumer stopped past max.poll.interval.ms", stopped, flows=True),
    Fault("two generations of zombies", zombies, flows=True),
    Fault("rebalance storm", rebalance_storm, flows=True),
    *(Fault(f"consumer crashes at step {step}", partial(crashed, step), flows=True) for step in STEPS),
)
