"""Faults of the database, its disk and its locks."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from neo4j.exceptions import DriverError, Neo4jError

from headwater_benchmarks.soak.faults.fault import Fault, NotPossibleError
from headwater_benchmarks.soak.servers import kill

if TYPE_CHECKING:
    import random

    from neo4j import Driver

    from headwater_benchmarks.soak.world import World

_READ_ONLY = "server.databases.read_only"
# Write locks that nothing is written under: the transaction is rolled back.
_LOCK = "MATCH (d:Dataset) WHERE d.key = $key SET d._soak = 1"
_KEYS = "MATCH (d:Dataset) RETURN d.key AS key"


def killed(world: World, dice: random.Random) -> None:
    """SIGKILL, and started again after a while."""
    kill(world.servers.neo4j.process)
    world.hold(dice, 0, 5)
    world.servers.restart(world.servers.neo4j)


def restarted_within_a_write(world: World, dice: random.Random) -> None:  # noqa: ARG001 - as every fault
    """SIGTERM while a transaction is open, and started again."""
    with contextlib.suppress(DriverError, Neo4jError), world.driver.session() as session:
        transaction = session.begin_transaction()
        for record in list(session_keys(world.driver))[:50]:
            transaction.run(_LOCK, key=record)
        # Consumers wait for these locks by now.
        time.sleep(1)
        world.servers.neo4j.process.stop()
        transaction.rollback()
    world.servers.restart(world.servers.neo4j)


def deadlocked(world: World, dice: random.Random) -> None:
    """A rival takes locks on the same nodes in another order, again and again, and writes nothing."""
    keys = session_keys(world.driver)
    ends = time.monotonic() + dice.uniform(4, 8)
    while time.monotonic() < ends:
        # A deadlock that the rival loses is as good.
        with (
            contextlib.suppress(DriverError, Neo4jError),
            world.driver.session() as session,
            session.begin_transaction() as transaction,
        ):
            for key in dice.sample(keys, min(6, len(keys))):
                transaction.run(_LOCK, key=key).consume()
                time.sleep(0.05)
            transaction.rollback()


def read_only(world: World, dice: random.Random) -> None:
    """Started again as a database that takes no writes; later as it was."""
    server = world.servers.neo4j
    server.settings[_READ_ONLY] = "neo4j"
    world.servers.restart(server)
    world.hold(dice, 1, 5)
    del server.settings[_READ_ONLY]
    world.servers.restart(server)


def disk_full(world: World, dice: random.Random) -> None:
    """No room for a transaction log; later there is again. A database that panicked is started again."""
    disk = world.servers.disk
    if disk is None:
        raise NotPossibleError("a small file system can be mounted by root, on Linux")
    if not disk.fill():
        raise NotPossibleError("the small file system can't be made to be full")
    world.hold(dice, 4, 8)
    disk.empty()
    world.servers.restart(world.servers.neo4j)


def session_keys(driver: Driver) -> list[str]:
    """Keys of the datasets that are there."""
    with driver.session() as session:
        return [record["key"] for record in session.run(_KEYS)]


FAULTS = (
    Fault("database killed", killed),
    Fault("database restarted in mid-transaction", restarted_within_a_write),
    Fault("deadlocks with a rival", deadlocked, flows=True),
    Fault("database read-only", read_only),
    Fault("database's disk full", disk_full),
)
