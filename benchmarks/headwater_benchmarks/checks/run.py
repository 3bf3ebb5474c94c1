"""The measuring, and the report."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headwater.console import console
from headwater_benchmarks.checks.declare import declare
from headwater_benchmarks.estate.sizes import Sizes
from headwater_benchmarks.estate.store import served
from headwater_benchmarks.figures import spread
from headwater_benchmarks.report import Goal, report
from headwater_consumers.analysis.checks import check
from headwater_consumers.analysis.checks.rules import RULES
from headwater_consumers.analysis.errors import TimeLimitError
from headwater_consumers.analysis.reader import Reader
from headwater_consumers.analysis.settings import DEFAULT_TIMEOUT_SECONDS
from headwater_consumers.materializer.graph import writing_driver


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure.

    Attributes:
        sizes: of the estate.
        rounds: that count, behind a first one that has Neo4j plan each statement.
        timeout_seconds: for one rule.
        heap_mb: of Neo4j.
        page_cache_mb: of Neo4j.
        stores: the folder that keeps stores; not that of `bench query`, of whose estate nothing is declared.
    """

    sizes: Sizes
    rounds: int
    timeout_seconds: float
    heap_mb: int
    page_cache_mb: int
    stores: Path


def run(options: Options) -> dict[str, Any]:
    """Make the estate if need be, declare a part of it, check, and report.

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
    with store as at, writing_driver(at.target) as driver:
        reader = Reader(driver, at.target, timeout_seconds=options.timeout_seconds)
        console.message("Declaring a tenth of it")
        declaring = declare(driver, reader)
        taken: dict[str, list[float | None]] = {rule.name: [] for rule in RULES}
        totals: dict[str, int] = {}
        with console.progress(lines=True) as progress:
            task = progress.add_task("rules", total=len(RULES) * (options.rounds + 1))
            for _ in range(options.rounds + 1):
                for rule in RULES:
                    began = time.monotonic()
                    try:
                        totals[rule.name] = check(reader, datetime.now(UTC), rules=[rule]).total
                        taken[rule.name].append(time.monotonic() - began)
                    except TimeLimitError:
                        taken[rule.name].append(None)
                    progress.advance(task)
        measurements = [_measured(name, totals.get(name), seconds) for name, seconds in taken.items()]
        return report(
            "checks",
            options={**asdict(options.sizes), "rounds": options.rounds, "timeout_seconds": options.timeout_seconds},
            environment={
                "neo4j": at.neo4j,
                "heap_mb": options.heap_mb,
                "page_cache_mb": options.page_cache_mb,
                "by_kind": at.manifest["nodes"] | at.manifest["relationships"],
                "declaring": None if declaring is None else asdict(declaring),
            },
            measurements=measurements,
            goals=[_goal(measurements)],
        )


def _measured(name: str, total: int | None, seconds: list[float | None]) -> dict[str, Any]:
    first, *rest = seconds
    known = [each for each in rest if each is not None]
    return {
        "rule": name,
        "found": total,
        "first_seconds": first,
        "seconds": asdict(spread(known)) if known else None,
        "too_long": sum(each is None for each in seconds),
        "samples": rest,
    }


def _goal(measurements: list[dict[str, Any]]) -> Goal:
    """The slowest rule, planned or not, within the time that a question has if nobody asks for another."""
    slowest = [max(filter(None, (each["first_seconds"], *each["samples"])), default=None) for each in measurements]
    late = any(each["too_long"] for each in measurements)
    value = None if late else max(each for each in slowest if each is not None)
    return Goal("slowest rule, s", value, DEFAULT_TIMEOUT_SECONDS)
