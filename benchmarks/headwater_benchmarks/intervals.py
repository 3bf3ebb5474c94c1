"""`bench intervals`: a streaming query over years: nodes, bytes on disk, rates over time, traces to a micro-batch.

The micro-batches of one query, each in its own event, are produced to a topic. The consumer writes them into an empty
graph.
"""

from __future__ import annotations

import math
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Group

from headwater.console import console
from headwater.errors import HeadwaterError
from headwater_analysis.reader import Reader, reading_driver
from headwater_analysis.trace import Offsets, trace
from headwater_benchmarks.draining import drain, fill
from headwater_benchmarks.estate import record_read
from headwater_benchmarks.measuring import ask_in_turns
from headwater_benchmarks.report import Goal, goals_table, report, shown, table
from headwater_benchmarks.servers import DATABASE, broker_up, neo4j_up
from headwater_benchmarks.workload import StreamingQuery
from headwater_graph.write import GraphWriter
from headwater_schemas.events import LineageEvent

YEAR = 365 * 24 * 360
"""Number of micro-batches of a query in a year, with one every ten seconds."""
_STRETCHES = 20
"""Number of equal parts into which the micro-batches are divided; the rate of each part is reported."""
_NODES_GOAL, _BYTES_GOAL, _RATE_GOAL = 10_000, 120.0, 0.9
_QUESTIONS = 40
_WARM_UP = 80
"""Number of unmeasured traces at the beginning."""
_ALL_STEPS = 10_000


def bench_intervals(micro_batches: int = YEAR, *, rounds: int, seed: int) -> dict[str, Any]:
    """Ingest the micro-batches of a query, trace records to their micro-batches, and report.

    Raises:
        HeadwaterError: a server or the consumer failed, or a trace found another micro-batch.
    """
    dice = random.Random(seed)  # noqa: S311  no secret
    wanted = frozenset(dice.sample(range(micro_batches), min(_QUESTIONS, micro_batches)))
    sought: dict[int, Offsets] = {}
    with (
        tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as name,
        console.progress(lines=True) as progress,
        broker_up() as broker,
    ):
        task = progress.add_task("events", total=micro_batches)
        events = _events(micro_batches, seed, wanted, sought)
        fill(broker, "bench", events, lambda *_: progress.advance(task))
        # A stopped server has written everything into the store's files.
        home = Path(name) / "neo4j"
        with neo4j_up(home) as database:
            GraphWriter(database.driver, DATABASE).ensure_schema()
        empty_bytes, _ = _disk(home)
        progress.update(task, description="consumer")
        with neo4j_up(home) as database:
            ingested = drain(broker, "bench", "bench", database)
        store_bytes, log_bytes = _disk(home)
        progress.update(task, description="traces")
        with neo4j_up(home) as database, reading_driver(database.target) as driver:
            traces = ask_in_turns(
                {"headwater": partial(_traced, Reader(driver, database.target), sought)},
                list(sought),
                rounds=rounds,
                warm_up=math.ceil(_WARM_UP / len(sought)),
                pid=database.pid,
            )
    measured = {
        "name": "one query",
        "micro_batches": micro_batches,
        "nodes": ingested["nodes"],
        "relationships": ingested["relationships"],
        "nodes_per_year": round(ingested["nodes"] * YEAR / micro_batches),
        "store_bytes": store_bytes,
        "log_bytes": log_bytes,
        "store_bytes_when_empty": empty_bytes,
        "bytes_per_micro_batch": round(store_bytes / micro_batches, 1),
        "bytes_per_micro_batch_with_logs": round((store_bytes + log_bytes) / micro_batches, 1),
        "seconds": round(ingested["seconds"], 1),
        "micro_batches_per_second": round(micro_batches / ingested["seconds"], 1),
        "consumer_us": round(ingested["client_seconds"] / micro_batches * 1e6, 1),
        "neo4j_us": round(ingested["neo4j_seconds"] / micro_batches * 1e6, 1),
        "stretches": (stretches := rates(ingested["commits"], micro_batches)),
        "end_to_beginning": _growth(stretches),
        "peak_rss_mb": round(ingested["peak_rss_mb"], 1),
        "trace": traces[0],
    }
    options = {"micro_batches": micro_batches, "rounds": rounds, "seed": seed}
    return report("intervals", options=options, measurements=[measured], goals=goals(measured))


def _events(count: int, seed: int, wanted: frozenset[int], sought: dict[int, Offsets]) -> Iterator[LineageEvent]:
    """Yield the query's events; store a record of each wanted micro-batch in `sought`."""
    query, dice = StreamingQuery(0, random.Random(seed), irregular=True), random.Random(seed)  # noqa: S311  no secret
    for number in range(count):
        event = query.next()
        if number in wanted and event.interval_event is not None:
            sought[number] = record_read(event.interval_event, 0, dice)
        yield event


def _traced(reader: Reader, sought: Mapping[int, Offsets], batch_id: int) -> int:
    found = [hop.step for hop in trace(reader, sought[batch_id], depth=1, limit=_ALL_STEPS).hops]
    if [(step.first_batch, step.last_batch) for step in found] != [(batch_id, batch_id)]:
        raise HeadwaterError(f"A trace of {sought[batch_id]}, which batch {batch_id} read, found {found}.")
    return 1


def rates(commits: Sequence[tuple[float, int, float]], count: int) -> list[dict[str, Any]]:
    """Micro-batches per second, for each of `_STRETCHES` parts with equal numbers of micro-batches.

    Args:
        commits: for each transaction, seconds since the beginning, micro-batches so far, and processor seconds.
    """
    found: list[dict[str, Any]] = []
    began, before = 0.0, 0
    for seconds, batches, _ in commits:
        if batches >= count * (len(found) + 1) / _STRETCHES:
            rate = (batches - before) / max(seconds - began, 1e-9)
            found.append({"micro_batches": batches, "micro_batches_per_second": round(rate, 1)})
            began, before = seconds, batches
    return found


def _growth(stretches: Sequence[Mapping[str, float]]) -> float:
    """Mean rate of the last tenth of the parts divided by that of the first tenth; the very first part is left out."""
    counted = [each["micro_batches_per_second"] for each in stretches[1:] or stretches]
    tenth = max(len(counted) // 10, 1)
    return round(sum(counted[-tenth:]) / sum(counted[:tenth]), 3)


def _disk(home: Path) -> tuple[int, int]:
    """Bytes of the store's files and of the transaction logs, including the space that Neo4j reserves at their ends."""
    folders = (home / "data" / kind / DATABASE for kind in ("databases", "transactions"))
    store, logs = (sum(path.stat().st_blocks * 512 for path in each.rglob("*") if path.is_file()) for each in folders)
    return store, logs


def goals(measured: Mapping[str, Any]) -> list[Goal]:
    """Goals, with the measured values."""
    return [
        Goal("nodes of a query in a year", measured["nodes_per_year"], _NODES_GOAL),
        Goal("rate at the end / at the beginning", measured["end_to_beginning"], _RATE_GOAL, "at_least"),
        Goal("bytes a micro-batch on disk", measured["bytes_per_micro_batch"], _BYTES_GOAL),
    ]


def intervals_tables(document: Mapping[str, Any]) -> Group:
    """Report for people: the graph, the rates, the goals."""
    [measured] = document["measurements"]
    graph = table("micro-batches", "nodes", "relationships", "GB", "bytes each", "with logs", "trace p50 ms", "p95 ms")
    graph.add_row(
        *(f"{measured[name]:,}" for name in ("micro_batches", "nodes", "relationships")),
        shown(measured["store_bytes"] / 1e9, 2),
        *(shown(measured[name]) for name in ("bytes_per_micro_batch", "bytes_per_micro_batch_with_logs")),
        *(shown(measured["trace"][name]["median"]) for name in ("p50_ms", "p95_ms")),
    )
    stretches = table("up to micro-batch", "micro-batches/s")
    for stretch in measured["stretches"]:
        stretches.add_row(f"{stretch['micro_batches']:,}", shown(stretch["micro_batches_per_second"], 0))
    took = (
        f"\nFor a micro-batch {measured['consumer_us']:,.0f} µs in the consumer, {measured['neo4j_us']:,.0f} in Neo4j."
    )
    return Group(graph, "", stretches, took, "", goals_table(document))
