"""`bench ingest`: contestants in turn, each with a fresh server, and the report.

The contestants are Headwater with single events (`headwater`) and with packs (events with 50 micro-batches each),
`floor`, `naive` and `sink`.

`naive` and `sink` use one statement that merges raw events in their order. `naive` commits each event, `sink` 1,000 at
a time. The statement is what somebody who knows Cypher would write for a sink connector: composite constraints give
every MERGE an index, and the last event wins. It doesn't store which event set a property last, so late and repeated
events can make the graph wrong. `naive` and `sink` get the same encoded records as Headwater, on an equally warmed up
server, with `replan=skip`.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.console import console
from headwater_benchmarks.draining import TopicContents, drain, empty, fill, steady, warm_up
from headwater_benchmarks.ingest.figures import (
    CONSUMER,
    FLOOR,
    LATENCIES,
    NAIVE,
    PACK,
    PACKS,
    SINK,
    goals,
    latency,
    measurements,
)
from headwater_benchmarks.ingest.floor import FinalGraph, FloorCommit, phases, write_floor
from headwater_benchmarks.measuring import in_turns
from headwater_benchmarks.report import ROUNDS, report
from headwater_benchmarks.servers import DATABASE, Database, broker_up, neo4j_up
from headwater_benchmarks.workload import Mixture, Proportions
from headwater_graph.schema import ensure_schema
from headwater_graph.statement_files import load, names
from headwater_graph.statements import statement
from headwater_schemas.codec import Decoder, encode

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

    from headwater_schemas.events import LineageEvent

SLOW = 100.0
"""One of the two rates at which latency is measured, in events per second; the other is half of the throughput."""
KEEP_PLAN = "CYPHER replan=skip\n"
"""Prefix of statements, equal to the prefix of Headwater's statements (`graph/write/transaction.py`)."""
_SINK_EVENTS = 1_000
_AWAIT_SECONDS = 300

Turn = Callable[[Database, int], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOptions:
    """Options of the ingestion benchmark.

    Attributes:
        events: number of records on the topic, including repeated records; also the number of micro-batches on the
            topic of packs.
        rounds: number of counted rounds.
        warm_up: number of records that each contestant writes into a new database before its turn, and then deletes.
        latency_seconds: duration of each of the two measurements of latencies (at half of the throughput, and at
            `SLOW`); 0: no latencies.
        by_hand: number of records for naive and sink; 0: all. With fewer than all, the ratios of naive and sink to
            Headwater compare different work.
        baselines: whether to include floor, naive and sink.
    """

    events: int = 10_000
    rounds: int = ROUNDS
    warm_up: int = 500
    latency_seconds: float = 10.0
    by_hand: int = 0
    baselines: bool = True
    seed: int = 1


def bench_ingest(options: IngestOptions) -> dict[str, Any]:
    """Start the servers, measure, and report.

    Raises:
        HeadwaterError: a server or the consumer failed.
    """
    load_average = os.getloadavg()[0]
    before = list(Mixture(options.seed + 1).take(options.warm_up))
    with console.progress(lines=True) as progress, broker_up() as broker:
        task = progress.add_task("events", total=options.events)
        contents, packs = TopicContents(partial(progress.advance, task)), TopicContents()
        fill(broker, "bench", Mixture(options.seed).take(options.events), contents.add)
        fill(broker, "packs", _packs(options), packs.add)
        contestants: dict[str, Turn] = {
            CONSUMER: partial(_drained, broker, "bench", before),
            PACKS: partial(_drained, broker, "packs", before),
            **(_baselines(contents.values, options.by_hand, before) if options.baselines else {}),
        }
        turns: dict[str, list[dict[str, Any]]] = {name: [] for name in contestants}
        late = []
        for number, name in in_turns(list(contestants), options.rounds):
            progress.update(task, description=f"round {number + 1} of {options.rounds}: {name}")
            with neo4j_up() as database:
                turns[name].append(contestants[name](database, number))
                if name == CONSUMER and number == options.rounds - 1 and options.latency_seconds:
                    progress.update(task, description="latency")
                    late = _latencies(broker, database, options, contents, turns[CONSUMER])
    by_hand_ids = contents.ids[: options.by_hand or None]
    events = {name: len(set(contents.ids)) for name in (CONSUMER, FLOOR)}
    events |= {PACKS: len(set(packs.ids)) * PACK, NAIVE: len(set(by_hand_ids)), SINK: len(set(by_hand_ids))}
    measured = measurements(turns, events)
    return report(
        "ingest",
        options=asdict(options),
        environment={
            "load_average_before": round(load_average, 1),
            "topic": contents.document(),
            "topic of packs": packs.document(),
        },
        measurements=[*measured, *({"name": name, **each} for name, each in zip(LATENCIES, late, strict=False))],
        goals=goals(measured, late),
    )


def _packs(options: IngestOptions) -> Iterator[LineageEvent]:
    # This topic has about as many micro-batches as the other topic has events. On average, about as many micro-batches
    # overtake a late pack as events overtake a late event.
    proportions = Proportions(intervals=1.0, runs=0.0, pack=PACK, late_by=Proportions().late_by // PACK)
    return Mixture(options.seed, proportions).take(options.events // PACK)


def _drained(
    broker: str, prefix: str, before: Sequence[LineageEvent], database: Database, number: int
) -> dict[str, Any]:
    warm_up(database, before)
    return drain(broker, prefix, f"{prefix}-{number}", database)


def _latencies(
    broker: str,
    database: Database,
    options: IngestOptions,
    contents: TopicContents,
    turns: Sequence[dict[str, Any]],
) -> list[dict[str, Any]]:
    half = len(set(contents.ids)) / statistics.median(turn["seconds"] for turn in turns) / 2
    found = []
    for number, rate in enumerate((half, SLOW)):
        events = list(Mixture(options.seed + 2 + number).take(round(rate * options.latency_seconds)))
        found.append(latency(rate, steady(broker, f"live-{number}", database, events, rate)))
    return found


def _baselines(values: Sequence[bytes], by_hand: int, before: Sequence[LineageEvent]) -> dict[str, Turn]:
    decoder = Decoder()
    final = phases(FinalGraph(map(decoder.decode, values)))
    warming = phases(FinalGraph(before))
    raw, raw_before = values[: by_hand or None], [encode(event) for event in before]
    return {
        FLOOR: partial(_floor, final, warming),
        NAIVE: partial(_by_hand, raw, raw_before, 1),
        SINK: partial(_by_hand, raw, raw_before, _SINK_EVENTS),
    }


def _floor(
    final: Sequence[Sequence[FloorCommit]], warming: Sequence[Sequence[FloorCommit]], database: Database, _number: int
) -> dict[str, Any]:
    took: dict[str, Any] = {}
    for transactions in (warming, final):
        empty(database)
        ensure_schema(database.driver, DATABASE)
        _with_schema(database, "floor_schema")
        took = write_floor(database, transactions)
    return took


def _by_hand(
    values: Sequence[bytes], before: Sequence[bytes], size: int, database: Database, _number: int
) -> dict[str, Any]:
    took: dict[str, Any] = {}
    for some in (before, values):
        empty(database)
        _with_schema(database, "sink_schema")
        took = _write_raw(database, some, size)
    return took


def _with_schema(database: Database, name: str) -> None:
    """Create the constraints and indexes of a baseline, with the statements of a file."""
    for each in names("headwater_benchmarks", name):
        database.run(f"{name}/{each}")
    with database.driver.session(database=DATABASE) as session:
        session.run(statement("write", "await_indexes"), seconds=_AWAIT_SECONDS).consume()


def _write_raw(database: Database, values: Sequence[bytes], size: int) -> dict[str, Any]:
    """Decode and commit events by offset, a fixed number in each transaction; return the measurements."""
    decoder = Decoder()
    server, client, begun = database.processor_seconds(), time.process_time(), time.monotonic()
    with database.driver.session(database=DATABASE) as session:
        for at in range(0, len(values), size):
            events = [msgspec.to_builtins(decoder.decode(each)) for each in values[at : at + size]]
            session.execute_write(_merge, events)
    return {
        "seconds": time.monotonic() - begun,
        "client_seconds": time.process_time() - client,
        "neo4j_seconds": database.processor_seconds() - server,
    }


def _merge(tx: ManagedTransaction, events: Sequence[dict[str, Any]]) -> None:
    tx.run(KEEP_PLAN + load("headwater_benchmarks", "sink/events"), events=events).consume()
