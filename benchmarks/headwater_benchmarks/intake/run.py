"""Wiring, and the report."""

from __future__ import annotations

import contextlib
import os
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from headwater.console import console
from headwater.stack import java_runtime
from headwater.stack.embedded import locked_version
from headwater_benchmarks.estate.store import server_up
from headwater_benchmarks.ingest.headwater import warm_up as warm_up_database
from headwater_benchmarks.ingest.servers import Database, Databases, EmbeddedServers, Servers
from headwater_benchmarks.intake.documents import Material, material
from headwater_benchmarks.intake.figures import (
    BATCHES,
    KAFKA,
    ONE,
    OWN,
    RENTGEN,
    compared,
    goals,
    latency,
    measured,
)
from headwater_benchmarks.intake.options import Options
from headwater_benchmarks.intake.rentgen import Peer, Rentgen, installed, rentgen_up
from headwater_benchmarks.intake.ways import Turn, Ways
from headwater_benchmarks.intervals.disk import disk_of
from headwater_benchmarks.report import report
from headwater_benchmarks.workload.mixture import Mixture
from headwater_consumers.graph.schema import ensure_schema
from headwater_consumers.materializer.graph import writing_driver

_WARM_UP_EVENTS = 500
_NOTHING = Material((), ())


def run(options: Options, servers: Servers | None = None) -> dict[str, Any]:
    """Start the servers, measure, and report.

    Args:
        options: what to measure.
        servers: where they come from, by default embedded ones.

    Raises:
        HeadwaterError: a server or a process failed.
    """
    own = servers is None
    servers = servers or EmbeddedServers(heap_mb=options.heap_mb, page_cache_mb=options.page_cache_mb)
    peer = installed(options.rentgen)
    load = os.getloadavg()[0]
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(console.progress(lines=True))
        broker = stack.enter_context(servers.kafka())
        rentgen = stack.enter_context(rentgen_up(peer)) if isinstance(peer, Peer) else None
        task = progress.add_task("rounds", total=None)
        bench = _Bench(options, servers, broker, rentgen, lambda what: progress.update(task, description=what))
        bench.run()
        if own:
            bench.size()
    measurements = [*bench.measurements(), _beside(bench, peer), *bench.late]
    return report(
        "intake",
        options={**asdict(options), "rentgen": None if options.rentgen is None else str(options.rentgen)},
        environment={
            "kafka": locked_version("kafka", "kafka_2.13"),
            "neo4j": locked_version("neo4j", "neo4j"),
            "java": java_runtime().version,
            "load_average_before": round(load, 1),
            "document_bytes": bench.document_bytes,
            "events_per_document": bench.events_per_document,
        },
        measurements=measurements,
        goals=goals(measurements),
    )


def _beside(bench: _Bench, peer: Peer | str) -> dict[str, Any]:
    """The peer's figures, or why there are none."""
    if isinstance(peer, str):
        return {"name": RENTGEN, "absent": peer}
    found = measured(RENTGEN, bench.turns[RENTGEN], {})
    sizes = [turn.bytes / turn.events for turn in bench.turns[RENTGEN] if turn.bytes is not None]
    return {
        **found,
        "version": peer.version,
        "bytes_per_event": round(statistics.median(sizes)),
        "times_headwater": compared(bench.turns[KAFKA], bench.turns[RENTGEN]),
    }


@dataclass(slots=True)
class _Bench:
    """Runs the rounds: a turn of each way, each in an empty database.

    Attributes:
        options: what to measure.
        servers: where databases come from.
        broker: bootstrap servers.
        rentgen: the peer; None where it isn't installed.
        say: called with what is being done.
        turns: by way, one for each round.
        late: of each way over HTTP, latencies at a steady rate.
        document_bytes: of a document, on average.
        events_per_document: Headwater's events that a document becomes, on average.
        bytes_per_event: on disk; None where that isn't measured.
    """

    options: Options
    servers: Servers
    broker: str
    rentgen: Rentgen | None
    say: Callable[[str], None]
    turns: dict[str, list[Turn]] = field(default_factory=dict)
    late: list[dict[str, Any]] = field(default_factory=list)
    document_bytes: int = 0
    events_per_document: float = 0.0
    bytes_per_event: float | None = None
    _made: tuple[int, tuple[Material, Material]] | None = None

    def run(self) -> None:
        """All rounds, then latency."""
        _, first = self._material(0)
        self.document_bytes = round(statistics.mean(len(each.data) for each in first.documents))
        self.events_per_document = round(first.events / len(first.documents), 2)
        ways = [ONE, BATCHES, OWN, KAFKA, *([RENTGEN] if self.rentgen else [])]
        with Databases(self.servers, fresh=False) as databases:
            for number in range(self.options.rounds):
                for offset in range(len(ways)):
                    way = ways[(number + offset) % len(ways)]
                    self.say(f"round {number + 1} of {self.options.rounds}: {way}")
                    with databases.empty() as (database, new):
                        if new:
                            warm_up_database(database, list(Mixture(self.options.seed).take(_WARM_UP_EVENTS)))
                        turn = self._turn(way, self._ways(database), f"{self._name(way)}-{number}", number)
                    self.turns.setdefault(way, []).append(turn)
            if self.options.latency_seconds:
                with databases.empty() as (database, _):
                    self._latency(self._ways(database))

    def size(self) -> None:
        """The size on disk, in a database of its own: a server that stops writes everything into the store's files."""
        self.say("size on disk")
        memory = {"heap_mb": self.options.heap_mb, "page_cache_mb": self.options.page_cache_mb}
        with tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            with server_up(folder, **memory) as (_, target), writing_driver(target) as driver:
                ensure_schema(driver, target.database)
            empty = disk_of(folder / "neo4j", target.database)
            _, wanted = self._material(0)
            with server_up(folder, **memory) as (server, target), writing_driver(target) as driver:
                database = Database(target, driver, server.process.pid)
                self._ways(database).bridged(f"{self._name(KAFKA)}-size", _NOTHING, wanted)
            store = disk_of(folder / "neo4j", target.database).store
        self.bytes_per_event = (store - empty.store) / len(wanted.documents)

    def measurements(self) -> list[dict[str, Any]]:
        """Of Headwater's ways."""
        own = {"headwater": self.turns[OWN]}
        found = [measured(name, self.turns[name], own) for name in (ONE, BATCHES)]
        kafka = measured(KAFKA, self.turns[KAFKA], own)
        kafka["bytes_per_event"] = None if self.bytes_per_event is None else round(self.bytes_per_event)
        return [*found, measured(OWN, self.turns[OWN], {}), kafka]

    def _turn(self, way: str, ways: Ways, name: str, number: int) -> Turn:
        before, wanted = self._material(number)
        if way == OWN:
            return ways.own(name, before, wanted)
        if way == KAFKA:
            return ways.bridged(name, before, wanted)
        if way == RENTGEN and self.rentgen is not None:
            return ways.rentgen(name, self.rentgen, before, wanted)
        return ways.posted(name, before, wanted, batch=self.options.batch if way == BATCHES else 1)

    def _latency(self, ways: Ways) -> None:
        for way, batch in ((ONE, 1), (BATCHES, self.options.batch)):
            rate = statistics.median(turn.events / turn.seconds for turn in self.turns[way]) / 2
            self.say(f"latency at {rate:,.0f} events/s, {way}")
            before, wanted = self._material(1_000 + batch, count=round(rate * self.options.latency_seconds))
            turn = ways.posted(f"{self._name(way)}-late", before, wanted, batch=batch, rate=rate)
            self.late.append(latency(way, rate, turn))

    def _ways(self, database: Database) -> Ways:
        return Ways(self.broker, database, self.options.partitions)

    def _name(self, way: str) -> str:
        return f"{self.options.prefix}.{way.replace(' ', '-').replace(chr(39), '')}"

    def _material(self, number: int, *, count: int | None = None) -> tuple[Material, Material]:
        """What comes before what is measured, and that; the same for all ways of a round."""
        if self._made is None or self._made[0] != number:
            seed, before = self.options.seed + number, self.options.warm_up
            wanted = material(count or self.options.events, seed=seed, after=before)
            self._made = number, (material(before, seed=seed), wanted)
        return self._made[1]
