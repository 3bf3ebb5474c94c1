"""Options, wiring, and the report."""

from __future__ import annotations

import contextlib
import os
import statistics
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headwater.console import console
from headwater.stack import java_runtime
from headwater.stack.embedded import locked_version
from headwater_benchmarks.figures import ROUNDS
from headwater_benchmarks.ingest.headwater import warm_up
from headwater_benchmarks.ingest.servers import Databases, EmbeddedServers, Servers
from headwater_benchmarks.intake.documents import documents, total
from headwater_benchmarks.intake.figures import HTTP, KAFKA, RENTGEN, compared, goals, measured
from headwater_benchmarks.intake.rentgen import Peer, Rentgen, installed, rentgen_up
from headwater_benchmarks.intake.turns import Turn, Turns
from headwater_benchmarks.report import report
from headwater_benchmarks.workload.mixture import Mixture

QUICK, FULL = 1_000, 10_000
"""Events in each turn."""
_WARM_UP_EVENTS = 500
"""Events of Headwater's own, with which a new database compiles and plans the consumer's statements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of the intake benchmark.

    Attributes:
        events: OpenLineage events in each turn.
        rounds: rounds that count.
        warm_up: events of each turn before those that are measured, of the same jobs.
        batch: events in a request over HTTP; 1: one by one.
        rentgen: Python of an environment with Data.Rentgen; None: where the docs install it.
        partitions: of each topic.
        prefix: of the topics' names and of the consumer groups.
        seed: decides the events.
        heap_mb, page_cache_mb: Neo4j's heap and page cache.
    """

    events: int = QUICK
    rounds: int = ROUNDS
    warm_up: int = 500
    batch: int = 1
    rentgen: Path | None = None
    partitions: int = 4
    prefix: str = "bench"
    seed: int = 1
    heap_mb: int = 1_024
    page_cache_mb: int = 512


def run(options: Options, servers: Servers | None = None) -> dict[str, Any]:
    """Start the servers, measure, and report.

    Args:
        options: what to measure.
        servers: where they come from, by default embedded ones.

    Raises:
        HeadwaterError: a server or a process failed.
    """
    servers = servers or EmbeddedServers(heap_mb=options.heap_mb, page_cache_mb=options.page_cache_mb)
    peer = installed(options.rentgen)
    load = os.getloadavg()[0]
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(servers.kafka())
        rentgen = stack.enter_context(rentgen_up(peer)) if isinstance(peer, Peer) else None
        turns = _rounds(options, servers, broker, rentgen)
    measurements = [measured(name, of) for name, of in turns.items()]
    if isinstance(peer, Peer):
        measurements[-1] |= {
            "version": peer.version,
            "times_headwater": compared(turns[KAFKA], turns[RENTGEN]),
        }
    else:
        measurements.append({"name": RENTGEN, "absent": peer})
    first = documents(options.events, seed=options.seed, after=options.warm_up)
    return report(
        "intake",
        options={**asdict(options), "rentgen": None if options.rentgen is None else str(options.rentgen)},
        environment={
            "kafka": locked_version("kafka", "kafka_2.13"),
            "neo4j": locked_version("neo4j", "neo4j"),
            "java": java_runtime().version,
            "load_average_before": round(load, 1),
            "document_bytes": round(statistics.mean(len(each.data) for each in first)),
            "events_per_document": round(total(first) / len(first), 2),
        },
        measurements=measurements,
        goals=goals(measurements, batch=options.batch),
    )


def _rounds(options: Options, servers: Servers, broker: str, rentgen: Rentgen | None) -> dict[str, list[Turn]]:
    """By way, a turn for each round, each in an empty database; every round begins with another way."""
    ways = [HTTP, KAFKA, *([RENTGEN] if rentgen else [])]
    turns: dict[str, list[Turn]] = {way: [] for way in ways}
    with console.progress(lines=True) as progress, Databases(servers, fresh=False) as databases:
        task = progress.add_task("rounds", total=options.rounds * len(ways))
        for number in range(options.rounds):
            seed = options.seed + number
            before = documents(options.warm_up, seed=seed)
            wanted = documents(options.events, seed=seed, after=options.warm_up)
            for offset in range(len(ways)):
                way = ways[(number + offset) % len(ways)]
                progress.update(task, description=f"round {number + 1} of {options.rounds}: {way}")
                name = f"{options.prefix}.{way.replace(' ', '-')}-{number}"
                with databases.empty() as (database, new):
                    if new:
                        warm_up(database, list(Mixture(options.seed).take(_WARM_UP_EVENTS)))
                    turn = Turns(broker, database, options.partitions, before, wanted)
                    if way == HTTP:
                        took = turn.http(name, batch=options.batch)
                    elif way == RENTGEN and rentgen is not None:
                        took = turn.rentgen(name, rentgen)
                    else:
                        took = turn.topic(name)
                turns[way].append(took)
                progress.advance(task)
    return turns
