"""Faults of the database, its disk and its locks."""

from __future__ import annotations

import contextlib
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from neo4j.exceptions import DriverError, Neo4jError, TransientError

from headwater_benchmarks.soak.faults.fault import Fault, NotPossibleError, require
from headwater_benchmarks.soak.servers import kill
from headwater_benchmarks.soak.world import World

if TYPE_CHECKING:
    from neo4j import Driver, Session, Transaction


_READ_ONLY = "server.databases.read_only"
# Write locks that nothing is written under: the transaction is rolled back.
_LOCK = "MATCH (d:HwDataset) WHERE d.key = $key SET d._soak = 1"
_PROBE = "RETURN 1 AS one"
_KEYS = "MATCH (d:HwDataset) RETURN d.key AS key"
# Writes that wait for a lock: `SHOW TRANSACTIONS` has `Blocked by: [transactions]` as their status.
_BLOCKED = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*) AS count"
_DEADLOCK = "Neo.TransientError.Transaction.DeadlockDetected"
# How long a rival may take to be met.
_MEET_SECONDS = 60.0


def killed(world: World, dice: random.Random) -> str:
    """SIGKILL, and started again after a while."""
    shown = kill(world.servers.neo4j)
    world.hold(dice, 0, 5)
    world.servers.restart(world.servers.neo4j)
    return shown


def restarted_within_a_write(world: World, dice: random.Random) -> str:  # noqa: ARG001 - as every fault
    """SIGTERM while a transaction is open that consumers wait for, and started again."""
    ended = ""
    with world.driver.session() as session:
        transaction = _locked(session, session_keys(world.driver)[:50])
        waiting = _until_blocked(world.driver)
        world.servers.neo4j.process.stop()
        try:
            transaction.run(_PROBE).consume()
        except (DriverError, Neo4jError) as error:
            ended = _code(error)
        with contextlib.suppress(DriverError, Neo4jError):
            transaction.rollback()
    world.servers.restart(world.servers.neo4j)
    require(waiting, "nobody waited for the open transaction's locks")
    require(ended, "the open transaction went on")
    return f"{waiting} writes waited for the open transaction, which ended with {ended}"


def deadlocked(world: World, dice: random.Random) -> str:
    """A rival takes locks on the same nodes in another order, again and again, and writes nothing."""
    keys = session_keys(world.driver)
    watched = world.consumers[0]
    before = watched.metrics("neo4j_retries_total", kind="DEADLOCK")
    ends = time.monotonic() + dice.uniform(4, 8)
    lost = won = 0
    while time.monotonic() < ends:
        try:
            with world.driver.session() as session, session.begin_transaction() as transaction:
                for key in dice.sample(keys, min(6, len(keys))):
                    transaction.run(_LOCK, key=key).consume()
                    time.sleep(0.05)
                transaction.rollback()
        except (DriverError, Neo4jError) as error:
            # A deadlock that the rival loses is as good.
            lost += _code(error) == _DEADLOCK
        won = int(watched.metrics("neo4j_retries_total", kind="DEADLOCK") - before)
    if not lost + won:
        # Whether the consumers met it is chance; two rivals do.
        lost += _cross(world.driver, *dice.sample(keys, 2)) == _DEADLOCK
    require(lost + won, "no deadlock, neither with a consumer nor between two rivals")
    return f"{_DEADLOCK}: {lost} for a rival, {won} for the consumer that is watched"


def _cross(driver: Driver, one: str, other: str) -> str:
    """Two transactions lock the same two nodes in opposite order; the code that one of them is ended with."""
    met: list[str] = []

    def take(transaction: Transaction, key: str) -> None:
        try:
            transaction.run(_LOCK, key=key).consume()
        except (DriverError, Neo4jError) as error:
            met.append(_code(error))
        finally:
            transaction.close()

    with driver.session() as first, driver.session() as second:
        mine, theirs = first.begin_transaction(), second.begin_transaction()
        mine.run(_LOCK, key=one).consume()
        theirs.run(_LOCK, key=other).consume()
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(take, theirs, one)
            take(mine, other)
            waiting.result(_MEET_SECONDS)
    return met[0] if met else ""


def read_only(world: World, dice: random.Random) -> str:
    """Started again as a database that takes no writes; later as it was."""
    server = world.servers.neo4j
    server.settings[_READ_ONLY] = "neo4j"
    world.servers.restart(server)
    refused = _refused(world.driver)
    world.hold(dice, 1, 5)
    del server.settings[_READ_ONLY]
    world.servers.restart(server)
    require("ReadOnly" in refused, f"a write ended with {refused or 'success'}")
    return f"a write was refused with {refused}"


def disk_full(world: World, dice: random.Random) -> str:
    """No room for a transaction log; later there is again. A database that panicked is started again."""
    disk = world.servers.disk
    if disk is None:
        raise NotPossibleError("a small file system can be mounted by root, on Linux")
    if not disk.fill():
        raise NotPossibleError("the small file system can't be made to be full")
    refused = disk.refusal()
    world.hold(dice, 4, 8)
    disk.empty()
    world.servers.restart(world.servers.neo4j)
    require(refused, "a file still had room")
    return f"a file was refused with {refused} beside the transaction logs"


def session_keys(driver: Driver) -> list[str]:
    """Keys of the datasets that are there."""
    with driver.session() as session:
        return [record["key"] for record in session.run(_KEYS)]


def _locked(session: Session, keys: list[str]) -> Transaction:
    """A transaction that holds the locks of these datasets; one that a consumer's deadlock ended is begun again."""
    deadline = time.monotonic() + _MEET_SECONDS
    while True:
        transaction = session.begin_transaction()
        try:
            for key in keys:
                transaction.run(_LOCK, key=key).consume()
        except TransientError:
            transaction.close()
            if time.monotonic() > deadline:
                raise
        else:
            return transaction


def _until_blocked(driver: Driver) -> int:
    """Wait until writes wait for locks; how many."""
    deadline = time.monotonic() + _MEET_SECONDS
    with driver.session() as session:
        while True:
            record = session.run(_BLOCKED).single(strict=True)
            if record["count"] or time.monotonic() > deadline:
                return int(record["count"])
            time.sleep(0.1)


def _refused(driver: Driver) -> str:
    """With which code a write is refused; empty where it isn't."""
    key = session_keys(driver)[0]
    try:
        with driver.session() as session, session.begin_transaction() as transaction:
            transaction.run(_LOCK, key=key).consume()
            transaction.rollback()
    except (DriverError, Neo4jError) as error:
        return _code(error)
    return ""


def _code(error: Exception) -> str:
    return (error.code if isinstance(error, Neo4jError) else None) or type(error).__name__


FAULTS = (
    Fault("database killed", killed),
    Fault("database restarted in mid-transaction", restarted_within_a_write),
    Fault("deadlocks with a rival", deadlocked, flows=True),
    Fault("database read-only", read_only),
    Fault("database's disk full", disk_full),
)
