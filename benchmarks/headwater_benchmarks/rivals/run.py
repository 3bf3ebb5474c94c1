"""Several consumers of one group on one topic, in which nothing keeps a job's events in one partition.

First they share a full topic: their rate together, and what an event takes of the processor. Then events go on coming
for some minutes, as fast as the consumers take them, and the database's deadlocks are counted. Records are spread over
partitions at random, so every consumer writes every job, query and table. There are few of each, so all are hot.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headwater.console import console
from headwater_benchmarks.ingest.headwater import Place, warm_up
from headwater_benchmarks.ingest.servers import Database, EmbeddedServers, Servers, empty
from headwater_benchmarks.ingest.topic import Topics
from headwater_benchmarks.ingest.turn import server_seconds, since
from headwater_benchmarks.memory import processor_seconds_of
from headwater_benchmarks.report import Goal, report
from headwater_benchmarks.soak.consumer import ConsumerProcess
from headwater_benchmarks.workload.mixture import Mixture, Proportions
from headwater_consumers.materializer.neo4j_errors import Neo4jRetry
from headwater_schemas.codec import encode

_HOT = Proportions(queries=10, jobs=40, tables=50)
_SETTLE_SECONDS = 600.0
_LOOK_SECONDS = 0.1
_AT_ONCE, _AHEAD = 500, 4_000
_WARM_UP = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to run.

    Attributes:
        consumers: how many.
        events: on the topic before they begin.
        minutes: how long events come after that.
        rate: of these, events/s; 0: as many as the consumers take.
        pin: the database has the first core to itself, and the consumers have the others.
        partitions: of the topic.
        seed: decides the events.
        heap_mb, page_cache_mb: of Neo4j.
        prefix: of the topics' names.
    """

    consumers: int = 2
    events: int = 20_000
    minutes: float = 1.0
    rate: float = 0.0
    pin: bool = False
    partitions: int = 8
    seed: int = 1
    heap_mb: int = 1_024
    page_cache_mb: int = 1_024
    prefix: str = "rivals"


def run(options: Options, servers: Servers | None = None) -> dict[str, Any]:
    """Start the servers and the consumers, and count.

    Args:
        options: what to run.
        servers: where they come from, by default embedded ones.

    Raises:
        HeadwaterError: a server or a consumer failed, or events didn't arrive.
    """
    servers = servers or EmbeddedServers(heap_mb=options.heap_mb, page_cache_mb=options.page_cache_mb)
    with console.progress(lines=True) as progress, servers.kafka() as broker, servers.neo4j() as database:
        load = os.getloadavg()[0]
        feed = _Feed(broker, options)
        task = progress.add_task("events", total=None)
        warm_up(database, list(Mixture(options.seed + 1, _HOT).take(_WARM_UP)))
        empty(database)
        feed.put(options.events)
        if options.pin and database.pid is not None:
            _pin(database.pid, [0])
        place = Place(broker, options.prefix, options.prefix, database)
        with _consumers(place, options) as consumers:
            progress.update(task, description="backlog")
            backlog = _drained(consumers, database, feed.sent)
            progress.update(task, description=f"{options.minutes:g} minutes of events")
            live = _live(consumers, feed, options)
    return report(
        "rivals",
        options=asdict(options),
        environment={"load_average_before": round(load, 1)},
        measurements=[{"name": "backlog", **backlog}, {"name": "live", **live}],
        goals=[Goal("deadlocks", backlog["retries"]["DEADLOCK"] + live["retries"]["DEADLOCK"], 0.0)],
    )


class _Feed:
    """Puts events on the topic, each into a partition that is drawn."""

    def __init__(self, broker: str, options: Options) -> None:
        topics = Topics(broker, options.partitions)
        self._topic, self._producer = topics.create(options.prefix), topics.producer()
        self._dice = random.Random(options.seed)  # noqa: S311  no secret
        self._events = iter(Mixture(options.seed, _HOT))
        self._partitions = options.partitions
        self.sent = 0

    def put(self, count: int) -> None:
        """So many events more, acknowledged."""
        for event in itertools.islice(self._events, count):
            self._producer.produce(self._topic, encode(event), partition=self._dice.randrange(self._partitions))
            self._producer.poll(0)
        self._producer.flush(_SETTLE_SECONDS)
        self.sent += count


@contextlib.contextmanager
def _consumers(place: Place, options: Options) -> Iterator[list[ConsumerProcess]]:
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as folder, contextlib.ExitStack() as stack:
        started = []
        for number in range(options.consumers):
            own = Path(folder) / f"{number}"
            own.mkdir()
            consumer = ConsumerProcess(place.variables(), own)
            stack.callback(consumer.end)
            if options.pin:
                _pin(consumer.process.pid, list(range(1, os.cpu_count() or 1)))
            started.append(consumer)
        for consumer in started:
            consumer.until(consumer.ready, "readiness", seconds=_SETTLE_SECONDS)
        yield started


def _pin(pid: int, cores: Sequence[int]) -> None:
    """Let all threads of a process run on these cores only."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread.name), cores)


def _drained(consumers: Sequence[ConsumerProcess], database: Database, events: int) -> dict[str, Any]:
    """Wait for all events of the topic. Consumers are ready, and have applied some already: the rate is of the rest."""
    begun, before, server = time.monotonic(), _applied(consumers), server_seconds(database)
    used = _processor(consumers)
    _await(consumers, events)
    seconds, applied = time.monotonic() - begun, max(1, events - before)
    by_server = since(database, server)
    by_consumers = _processor(consumers) - used
    return {
        "events": applied,
        "seconds": round(seconds, 1),
        "events_per_second": round(applied / seconds, 1),
        "processor_us_per_event": {
            "consumers": round(by_consumers / applied * 1e6, 1),
            "neo4j": None if by_server is None else round(by_server / applied * 1e6, 1),
        },
        "retries": _retries(consumers),
    }


def _live(consumers: Sequence[ConsumerProcess], feed: _Feed, options: Options) -> dict[str, Any]:
    before, begun, first = _retries(consumers), time.monotonic(), feed.sent
    until = begun + 60 * options.minutes
    while time.monotonic() < until:
        feed.put(round(options.rate) or _AT_ONCE)
        if options.rate:
            time.sleep(max(0.0, begun + (feed.sent - first) / options.rate - time.monotonic()))
        while feed.sent - _applied(consumers) > _AHEAD and time.monotonic() < until:
            time.sleep(_LOOK_SECONDS)
    _await(consumers, feed.sent)
    seconds = time.monotonic() - begun
    return {
        "events": feed.sent - first,
        "minutes": round(seconds / 60, 1),
        "events_per_second": round((feed.sent - first) / seconds, 1),
        "retries": {kind: count - before[kind] for kind, count in _retries(consumers).items()},
    }


def _await(consumers: Sequence[ConsumerProcess], events: int) -> None:
    for consumer in consumers:
        consumer.until(lambda: _applied(consumers) >= events, "end of events", seconds=_SETTLE_SECONDS)


def _applied(consumers: Sequence[ConsumerProcess]) -> int:
    return round(sum(consumer.metric("events_applied_total") for consumer in consumers))


def _processor(consumers: Sequence[ConsumerProcess]) -> float:
    return sum(processor_seconds_of(consumer.process.pid) for consumer in consumers)


def _retries(consumers: Sequence[ConsumerProcess]) -> dict[str, int]:
    """How often the database ended a transaction, by its own error."""
    return {
        kind.value: round(sum(consumer.metrics("neo4j_retries_total", kind=kind.value) for consumer in consumers))
        for kind in Neo4jRetry
    }
