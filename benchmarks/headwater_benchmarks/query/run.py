"""The measuring, and the report."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from headwater.console import console
from headwater_analysis.reader import Reader, reading_driver
from headwater_benchmarks.estate.sizes import Sizes
from headwater_benchmarks.estate.store import Served, served
from headwater_benchmarks.memory import own_peak_mb, peak_mb, processor_seconds
from headwater_benchmarks.query.cases import cases
from headwater_benchmarks.query.statements import Statements
from headwater_benchmarks.report import Goal, measured, report
from headwater_benchmarks.rounds import interleave
from headwater_consumers.materializer.garbage import rare_collections


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the query benchmark.

    Attributes:
        sizes: of the estate.
        rounds: that count.
        questions: of each kind, in each round.
        timeout_seconds: for one question or statement.
        heap_mb: of Neo4j.
        page_cache_mb: of Neo4j.
        stores: the folder that keeps stores.
        warm_up: questions of each kind that each contestant answers before they count.
    """

    sizes: Sizes
    rounds: int
    questions: int
    timeout_seconds: float
    heap_mb: int
    page_cache_mb: int
    stores: Path
    warm_up: int = 40


def run(options: Options) -> dict[str, Any]:
    """Make the estate if need be, ask, and report.

    Raises:
        HeadwaterError: the estate could not be made.
    """
    store = served(
        options.sizes,
        options.stores,
        heap_mb=options.heap_mb,
        page_cache_mb=options.page_cache_mb,
        report=console.message,
    )
    # As `serve` and the commands have it.
    with store as at, reading_driver(at.target) as driver, rare_collections():
        reader = Reader(driver, at.target, timeout_seconds=options.timeout_seconds)
        statements = Statements(driver, options.timeout_seconds)
        before = own_peak_mb()
        measurements, goals = [], []
        with console.progress(lines=True) as progress:
            for case in cases(reader, statements, at.starts, options.questions):
                warm_up = math.ceil(options.warm_up / len(case.questions))
                asks = (options.rounds + warm_up) * len(case.questions) * len(case.contestants)
                task = progress.add_task(case.name, total=asks)
                results = interleave(
                    case.contestants,
                    case.questions,
                    rounds=options.rounds,
                    warm_up=warm_up,
                    asked=partial(progress.advance, task),
                    processor=partial(processor_seconds, at.pid),
                )
                entries = [measured(results[0]), *(measured(result, results[0]) for result in results[1:])]
                measurements.append({"question": case.name, "found": case.found, "contestants": entries})
                if case.goal_ms is not None:
                    goals.append(Goal(f"{case.name}, p95 ms", entries[0]["p95_ms"]["median"], case.goal_ms))
        return report(
            "query",
            options=_listed(options),
            environment=_environment(at, options, before),
            measurements=measurements,
            goals=goals,
        )


def _listed(options: Options) -> dict[str, Any]:
    return {
        **asdict(options.sizes),
        "rounds": options.rounds,
        "questions": options.questions,
        "timeout_seconds": options.timeout_seconds,
    }


def _environment(at: Served, options: Options, before: float) -> dict[str, Any]:
    neo4j = peak_mb(at.pid)
    return {
        "neo4j": at.neo4j,
        "heap_mb": options.heap_mb,
        "page_cache_mb": options.page_cache_mb,
        "nodes": sum(at.manifest["nodes"].values()),
        "relationships": sum(at.manifest["relationships"].values()),
        "micro_batches": at.manifest["micro_batches"],
        "by_kind": at.manifest["nodes"] | at.manifest["relationships"],
        "made_in_seconds": at.manifest["seconds"],
        "peak_rss_mb": {
            "headwater_before": round(before),
            "headwater": round(own_peak_mb()),
            "neo4j": None if neo4j is None else round(neo4j),
        },
    }
