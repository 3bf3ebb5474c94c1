"""Classes of faults. Each has a function that starts, holds and ends a fault in a world (servers, feed, consumers).

The function returns observed evidence that the fault happened. The feed always contains a few bad records, and events
with clocks up to a day off.
"""

from __future__ import annotations

import contextlib
import random
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
from neo4j.exceptions import DriverError, Neo4jError, TransientError

from headwater.errors import CheckFailedError
from headwater.stack.kafka import KafkaBroker
from headwater.stack.neo4j import Neo4jServer
from headwater_benchmarks.processes import ConsumerProcess
from headwater_benchmarks.soak.doctored import STATUS, STEPS
from headwater_benchmarks.soak.links import FaultyLink
from headwater_benchmarks.soak.servers import BreakableServers, kill, standing_still, stands_still
from headwater_benchmarks.soak.world import World
from headwater_benchmarks.workload import EPOCH, PRODUCER, table
from headwater_schemas.codec import encode
from headwater_schemas.events import DatasetEvent, LineageEvent
from headwater_schemas.events.build import lineage_event

if TYPE_CHECKING:
    from neo4j import Driver, Session, Transaction

T = TypeVar("T")
ServerOf = Callable[[BreakableServers], KafkaBroker | Neo4jServer]
LinkOf = Callable[[BreakableServers], FaultyLink]

# Longer than the session timeout and the poll interval of the group (see `world`).
_PAST_POLL_INTERVAL_SECONDS = 12.0
# Long, for slow machines: a consumer has to get partitions, and to reach the step at which it crashes.
_CRASH_SECONDS = 240.0
# Time for the group to notice a member's fault.
_NOTICE_SECONDS = 60.0
_REBALANCE_SECONDS = 10.0

_LARGEST = "max.message.bytes"
# Bytes; the headers of a letter are larger than this.
_SMALLER_THAN_A_LETTER = "100"
_PROBE = b"x" * 1_000
_ANSWER_SECONDS = 60.0
_LARGE, _TOO_LARGE = 900_000, 1_200_000
"""Sizes of events in bytes; the topic accepts 1 MiB."""

_READ_ONLY = "server.databases.read_only"
# Takes write locks; nothing is written, because the transaction is rolled back.
_LOCK = "MATCH (d:HwDataset) WHERE d.key = $key SET d._soak = 1"
_KEYS = "MATCH (d:HwDataset) RETURN d.key AS key"
# Counts writes that wait for a lock: their status in `SHOW TRANSACTIONS` is `Blocked by: [transactions]`.
_BLOCKED = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN count(*) AS count"
_DEADLOCK = "Neo.TransientError.Transaction.DeadlockDetected"
# Maximum time until a consumer waits for a lock of the fault's own transaction.
_MEET_SECONDS = 60.0

_CUTS = 3
# Time limit for traffic on a link with few events: clients still exchange requests all the time.
_TRAFFIC_SECONDS = 20.0
_POLL_SECONDS = 0.1


class NotPossibleError(Exception):
    """This fault isn't possible on this machine; the message has the reason."""


class NoTraceError(CheckFailedError):
    """A fault left no evidence: it may not have happened."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A class of faults.

    Attributes:
        happen: function that makes the fault happen, and returns the evidence. Raises NoTraceError if there is no
            evidence of the fault, and NotPossibleError if this machine can't have the fault.
        flows: whether events still reach the graph during the fault. Such faults can happen at the same time: none of
            them hides another.
        destroys: whether the fault deletes the topic, and so needs a world without pending records.
    """

    name: str
    happen: Callable[[World, random.Random], str]
    flows: bool = False
    destroys: bool = False


def _awaited(look: Callable[[], T], seconds: float) -> T:
    """Call `look` until its answer is true or the time is over; return the last answer."""
    deadline = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return found


def require(shown: object, what: str) -> None:
    """Fail if there is no evidence of the fault, because the checks after the fault would then test nothing.

    Args:
        shown: evidence of the fault; false if there is none.
        what: observation for the message, such as "the consumer ended with 0".

    Raises:
        NoTraceError: the fault left no evidence.
    """
    if not shown:
        raise NoTraceError(f"The fault didn't happen: {what}.")


def consumer_killed(world: World, dice: random.Random) -> str:
    """Kill a member by SIGKILL; another one replaces it."""
    with world.lent(dice) as gone:
        # During a rebalance a member has no partitions; if others have joined, it possibly gets none afterwards.
        partitions = _awaited(lambda: world.group_members().get(gone.name, 0), _REBALANCE_SECONDS)
        gone.kill()
        status = gone.process.returncode
        require(status == -signal.SIGKILL, f"the consumer ended with {status}")
        world.replace(gone)
    return f"ended by signal {signal.SIGKILL} while it had {partitions} partitions"


def consumer_stopped(world: World, dice: random.Random) -> str:
    """Suspend a member longer than `max.poll.interval.ms`, then resume it as a zombie."""
    with world.lent(dice) as member, standing_still(member.process.pid):
        return _suspended_too_long(world, member)


def two_zombies(world: World, dice: random.Random) -> str:
    """Suspend two generations: a member, and then the member that took over; then resume both."""
    with world.lent(dice) as first, standing_still(first.process.pid):
        earlier = _suspended_too_long(world, first)
        second = world.join()
        world.await_ready(second)
        with standing_still(second.process.pid):
            later = _suspended_too_long(world, second)
    world.await_ready(second)
    second.stop()
    return f"{earlier}; then {later}"


def _suspended_too_long(world: World, member: ConsumerProcess) -> str:
    """Wait longer than the poll interval, and until the suspended member has left the group; return the evidence."""
    began = time.monotonic()
    time.sleep(_PAST_POLL_INTERVAL_SECONDS)
    gone = _awaited(lambda: member.name not in world.group_members(), _NOTICE_SECONDS)
    require(gone, f"the group kept {member.name} for {_NOTICE_SECONDS:.0f} s")
    return f"{member.name} was suspended for {time.monotonic() - began:.0f} s, and the group removed it"


def rebalance_storm(world: World, dice: random.Random) -> str:
    """Let members join and leave as fast as they start."""
    watched = world.consumers[0]
    before = watched.metric("rebalances_total")
    passing = [world.join() for _ in range(3)]
    for consumer in passing:
        consumer.until(lambda: consumer.port > 0, "port")  # noqa: B023 - called only within this iteration
        time.sleep(dice.uniform(0, 1.5))
        consumer.kill() if dice.random() < 0.5 else consumer.stop()
    more = _awaited(lambda: watched.metric("rebalances_total") - before, _NOTICE_SECONDS)
    require(more, "no rebalance was counted by a member that stayed")
    return f"a member that stayed counted {more:.0f} rebalances"


def consumer_crashed(step: str, world: World, dice: random.Random) -> str:  # noqa: ARG001 - as every fault
    """Let a further member end between two steps of a checkpoint, as if by SIGKILL; the others take over."""
    doomed = world.join(program=("-m", "headwater_benchmarks.soak.doctored", step), materializer_batch_max_records="20")
    deadline = time.monotonic() + _CRASH_SECONDS
    while doomed.runs and time.monotonic() < deadline:
        if step.startswith("2"):  # this step needs dead letters to send
            with world.feed.held():
                world.feed.put_bad(10)
        time.sleep(1)
    status = doomed.process.poll()
    doomed.end()
    if status != STATUS:
        raise CheckFailedError(
            f"A consumer that should crash at {step} ended with {status}. Its stderr: {doomed.stderr}"
        )
    return f"ended with {STATUS} at step {step}"


def server_killed(server: ServerOf, world: World, dice: random.Random) -> str:
    """Kill a server by SIGKILL, and restart it after a while."""
    shown = kill(server(world.servers))
    world.hold(dice, 0, 5)
    world.servers.restart(server(world.servers))
    return shown


def dead_letters_unwritable(world: World, dice: random.Random) -> str:
    """Lower the maximum record size of the dead-letter topic below a letter's size, while there are letters to write.

    A larger number of required in-sync replicas would have no effect: brokers never require more than a topic has.
    """
    usual = _max_message_bytes(world)
    _set_max_message_bytes(world, _SMALLER_THAN_A_LETTER)
    try:
        refused = _refused(world)
        bad = world.feed.bad
        with world.feed.held():
            world.feed.put_bad(5)
            world.feed.flush()
        require(world.feed.bad >= bad + 5, "the bad records weren't acknowledged")
        letters = world.letters()
        world.hold(dice, 4, 10)
        require(world.letters() == letters, "dead letters were written nevertheless")
    finally:
        _set_max_message_bytes(world, usual)
    return f"a record was refused with {refused}, and no dead letter was written, although 5 or more were due"


def topic_recreated(world: World, dice: random.Random) -> str:
    """Restart the broker, then delete the topic and create it again: offsets and leader epochs start over.

    The restart raises the leader epochs: a client that remembered these for the new topic would fetch nothing.
    """
    server_killed(lambda servers: servers.kafka, world, dice)
    world.recover()
    before = world.topic_ids()
    world.recreate_topic()
    after = world.topic_ids()
    require(before and after and before.isdisjoint(after), f"the topic's id was {before} and is {after}")
    return f"the topic's id was {', '.join(before)} and is {', '.join(after)}"


def _refused(world: World) -> str:
    """Return the broker's error for a record on the dead-letter topic, once the setting has reached the broker.

    Records that are accepted until then don't have the headers of a letter, so no accounting counts them.
    """
    error = _awaited(lambda: _produced(world, world.topics.dead_letters, _PROBE), _ANSWER_SECONDS)
    answer = f"refused the record with {error}, not MSG_SIZE_TOO_LARGE" if error else "accepted the record"
    require(error == "MSG_SIZE_TOO_LARGE", f"the dead-letter topic {answer}")
    return error


def _produced(world: World, topic: str, value: bytes) -> str:
    """Produce a record that is small enough for the client; return the broker's error, empty if it has accepted it."""
    answers: list[KafkaError | None] = []
    producer = Producer({**world.client, "message.max.bytes": 4 * _TOO_LARGE, "log_level": 0})
    producer.produce(topic, value, on_delivery=lambda error, _: answers.append(error))
    producer.flush(_ANSWER_SECONDS)
    require(answers, "the broker didn't answer")
    return "" if answers[0] is None else answers[0].name()


def _max_message_bytes(world: World) -> str:
    resource = _dead_letter_topic(world)
    admin = AdminClient(world.client)  # referenced until the answer has arrived: deleting the client loses it
    configs = admin.describe_configs([resource])[resource].result(timeout=20)
    return str(configs[_LARGEST].value)


def _set_max_message_bytes(world: World, size: str) -> None:
    entry = ConfigEntry(_LARGEST, size, incremental_operation=AlterConfigOpType.SET)
    resource = _dead_letter_topic(world, entry)
    admin = AdminClient(world.client)
    admin.incremental_alter_configs([resource])[resource].result(timeout=20)


def _dead_letter_topic(world: World, *entries: ConfigEntry) -> ConfigResource:
    return ConfigResource(ResourceType.TOPIC, world.topics.dead_letters, incremental_configs=list(entries))


def restarted_within_a_write(world: World, dice: random.Random) -> str:  # noqa: ARG001 - as every fault
    """Stop the database by SIGTERM while consumers wait for an open transaction, then restart the database."""
    ended = ""
    with world.driver.session() as session:
        transaction = _locked(session, _dataset_keys(world.driver)[:50])
        waiting = _awaited(lambda: _blocked(world.driver), _MEET_SECONDS)
        world.servers.neo4j.process.stop()
        try:
            transaction.run("RETURN 1").consume()
        except (DriverError, Neo4jError) as error:
            ended = _code(error)
        with contextlib.suppress(DriverError, Neo4jError):
            transaction.rollback()
    world.servers.restart(world.servers.neo4j)
    require(waiting, "nobody waited for the open transaction's locks")
    require(ended, "the open transaction went on")
    return f"{waiting} writes waited for the open transaction, which ended with {ended}"


def deadlocked(world: World, dice: random.Random) -> str:
    """Let a rival transaction repeatedly lock nodes that consumers write, in random order, without writing."""
    keys = _dataset_keys(world.driver)
    watched = world.consumers[0]
    before = watched.metric("neo4j_retries_total", kind="DEADLOCK")
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
            # A deadlock that the rival loses counts, too.
            lost += _code(error) == _DEADLOCK
        won = int(watched.metric("neo4j_retries_total", kind="DEADLOCK") - before)
    if not lost + won:
        # Perhaps no consumer ran into a deadlock with the rival; two rivals always run into one.
        lost += _cross(world.driver, *dice.sample(keys, 2)) == _DEADLOCK
    require(lost + won, "no deadlock, neither with a consumer nor between two rivals")
    return f"{_DEADLOCK}: {lost} for a rival, {won} for the watched consumer"


def _cross(driver: Driver, one: str, other: str) -> str:
    """Let two transactions lock the same two nodes in opposite order; return the error code that ends one."""
    errors: list[str] = []

    def take(transaction: Transaction, key: str) -> None:
        try:
            transaction.run(_LOCK, key=key).consume()
        except (DriverError, Neo4jError) as error:
            errors.append(_code(error))
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
    return errors[0] if errors else ""


def database_read_only(world: World, dice: random.Random) -> str:
    """Restart the database as read-only; later restart it normally."""
    server = world.servers.neo4j
    server.settings[_READ_ONLY] = "neo4j"
    world.servers.restart(server)
    refused = _write_refused(world.driver)
    world.hold(dice, 1, 5)
    del server.settings[_READ_ONLY]
    world.servers.restart(server)
    require("ReadOnly" in refused, f"a write ended with {refused or 'success'}")
    return f"a write was refused with {refused}"


def disk_full(world: World, dice: random.Random) -> str:
    """Fill the disk of transaction logs, and free it later. Restart the database afterwards: it may have panicked."""
    disk = world.servers.disk
    if disk is None:
        raise NotPossibleError("only root can mount a small file system, and only on Linux")
    if not disk.fill():
        raise NotPossibleError("the small file system can't be filled")
    refused = disk.refusal()
    world.hold(dice, 4, 8)
    disk.empty()
    world.servers.restart(world.servers.neo4j)
    require(refused, "the disk still had room for a file")
    return f"writing a file on the disk of the transaction logs failed with {refused}"


def _dataset_keys(driver: Driver) -> list[str]:
    """Keys of the stored datasets."""
    with driver.session() as session:
        return [record["key"] for record in session.run(_KEYS)]


def _locked(session: Session, keys: list[str]) -> Transaction:
    """Begin a transaction that holds the locks of these datasets; after a deadlock with a consumer, begin again."""
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


def _blocked(driver: Driver) -> int:
    """Number of writes that wait for locks."""
    with driver.session() as session:
        return int(session.run(_BLOCKED).single(strict=True)["count"])


def _write_refused(driver: Driver) -> str:
    """Try a write; return its error code, empty if the write is accepted."""
    key = _dataset_keys(driver)[0]
    try:
        with driver.session() as session, session.begin_transaction() as transaction:
            transaction.run(_LOCK, key=key).consume()
            transaction.rollback()
    except (DriverError, Neo4jError) as error:
        return _code(error)
    return ""


def _code(error: Exception) -> str:
    return (error.code if isinstance(error, Neo4jError) else None) or type(error).__name__


def server_paused(server: ServerOf, world: World, dice: random.Random) -> str:
    """Suspend a server for a while: its connections stay open, but it doesn't answer."""
    pid = server(world.servers).process.pid
    began = time.monotonic()
    with standing_still(pid):
        world.hold(dice, 3, 12)
        require(stands_still(pid), f"process {pid} went on")
    return f"process {pid} was suspended for {time.monotonic() - began:.1f} s"


def link_cut(link: LinkOf, world: World, dice: random.Random) -> str:
    """Reset all connections of a link, repeatedly."""
    reset = []
    for _ in range(_CUTS):
        reset.append(link(world.servers).cut())
        world.hold(dice, 0.5, 3)
        link(world.servers).mend()
        world.hold(dice, 0, 1)
    require(reset[0], "there was no connection to cut")
    return f"{', '.join(map(str, reset))} connections reset"


def link_frozen(link: LinkOf, world: World, dice: random.Random) -> str:
    """Let no data through a link for a while."""
    found = link(world.servers)
    before = found.held_back
    found.freeze()
    try:
        world.hold(dice, 3, 12)
        chunks = _awaited(lambda: found.held_back - before, _TRAFFIC_SECONDS)
    finally:
        found.mend()
    require(chunks, "nothing was sent over the link")
    return f"{chunks} chunks held back"


def link_slow(link: LinkOf, world: World, dice: random.Random) -> str:
    """Delay all data on a link for a while."""
    found = link(world.servers)
    before, seconds = found.delayed, dice.uniform(0.02, 0.2)
    found.slow_down(seconds)
    try:
        world.hold(dice, 3, 8)
        chunks = _awaited(lambda: found.delayed - before, _TRAFFIC_SECONDS)
    finally:
        found.mend()
    require(chunks, "nothing was sent over the link")
    return f"{chunks} chunks were delayed by {seconds * 1_000:.0f} ms"


def _server_faults(name: str, server: ServerOf, link: LinkOf, *, slow_flows: bool) -> tuple[Fault, ...]:
    return (
        Fault(f"{name} killed", partial(server_killed, server)),
        Fault(f"{name} paused", partial(server_paused, server)),
        Fault(f"link to the {name} cut", partial(link_cut, link)),
        Fault(f"link to the {name} loses everything", partial(link_frozen, link)),
        Fault(f"link to the {name} slow", partial(link_slow, link), flows=slow_flows),
    )


def poisoned(world: World, dice: random.Random) -> str:
    """Send hundreds of records that can't be applied, at once."""
    count = dice.randrange(100, 400)
    with world.feed.held():
        before = world.feed.bad
        world.feed.put_bad(count)
        world.feed.flush()
        taken = world.feed.bad - before
    require(taken == count, f"{taken} of {count} bad records were acknowledged")
    return f"{count} bad records acknowledged"


def oversize(world: World, dice: random.Random) -> str:
    """Send events nearly as large as the topic accepts, and a larger one, which the broker has to refuse."""
    with world.feed.held():
        before, sizes = world.feed.acknowledged, []
        for _ in range(3):
            event = _described(dice, _LARGE)
            sizes.append(len(encode(event)))
            world.feed.put(event)
        world.feed.flush()
        taken = world.feed.acknowledged - before
    require(taken == len(sizes), f"{taken} of {len(sizes)} events were acknowledged")
    refused = _produced(world, world.topics.events, encode(_described(dice, _TOO_LARGE)))
    require(refused == "MSG_SIZE_TOO_LARGE", f"an event of {_TOO_LARGE} bytes ended with {refused or 'success'}")
    return f"{taken} events of {min(sizes):,} bytes or more acknowledged, one of {_TOO_LARGE:,} refused with {refused}"


def _described(dice: random.Random, size: int) -> LineageEvent:
    body = DatasetEvent(dataset=table(dice.randrange(100)), description=f"{dice.random()} " * (size // 20))
    return lineage_event(body, producer=PRODUCER, event_time=EPOCH)


FAULTS: tuple[Fault, ...] = (
    Fault("consumer killed", consumer_killed, flows=True),
    Fault("consumer stopped past max.poll.interval.ms", consumer_stopped, flows=True),
    Fault("two generations of zombies", two_zombies, flows=True),
    Fault("rebalance storm", rebalance_storm, flows=True),
    *(Fault(f"consumer crashes at step {step}", partial(consumer_crashed, step), flows=True) for step in STEPS),
    *_server_faults("broker", lambda servers: servers.kafka, lambda servers: servers.kafka_link, slow_flows=True),
    Fault("dead-letter topic unwritable", dead_letters_unwritable),
    Fault("topic deleted and created again", topic_recreated, destroys=True),
    # A write has a dozen round trips, so few events flow to the database over a slow link.
    *_server_faults("database", lambda servers: servers.neo4j, lambda servers: servers.neo4j_link, slow_flows=False),
    Fault("database restarted in mid-transaction", restarted_within_a_write),
    Fault("deadlocks with a rival", deadlocked, flows=True),
    Fault("database read-only", database_read_only),
    Fault("database's disk full", disk_full),
    Fault("poison", poisoned, flows=True),
    Fault("events of nearly the largest size", oversize, flows=True),
)
"""All faults."""
