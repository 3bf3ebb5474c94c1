"""The measuring, and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from headwater.console import console
from headwater.stack import java_runtime
from headwater.stack.embedded import locked_version
from headwater_benchmarks.intervals.options import YEAR, Options
from headwater_benchmarks.intervals.scaled import scaled
from headwater_benchmarks.intervals.year import year
from headwater_benchmarks.report import Goal, report

NODES_GOAL, BYTES_GOAL, TRACE_GOAL, RATE_GOAL = 10_000, 120.0, 1.5, 0.9
QUERY_YEARS = 500
"""For the arithmetic: so many queries for a year are 1.6 billion micro-batches."""


def run(options: Options) -> dict[str, Any]:
    """Measure, and report.

    Raises:
        HeadwaterError: a server, the consumer or an import failed, or a trace found something else.
    """
    measurements: list[dict[str, Any]] = []
    with console.progress(lines=True) as progress:
        task = progress.add_task("intervals", total=options.year or None)

        def doing(what: str) -> None:
            progress.update(task, description=what)

        if options.year:
            measurements.append(year(options, doing, lambda batches: progress.update(task, completed=batches)))
        if options.micro_batches:
            sizes = sorted({options.compared, options.micro_batches})
            measurements += scaled(sizes, options, doing)
    return report(
        "intervals",
        options=asdict(options),
        environment={"neo4j": locked_version("neo4j", "neo4j"), "java": java_runtime().version},
        measurements=[*measurements, *_arithmetic(measurements)],
        goals=goals(measurements),
    )


def goals(measurements: list[dict[str, Any]]) -> list[Goal]:
    """What is wished for, of what was measured."""
    found: list[Goal] = []
    for each in measurements:
        if each["name"] == "year":
            found += [
                Goal("nodes of a query in a year", each["nodes_per_year"], NODES_GOAL),
                Goal("rate at the year's end / at its beginning", each["end_to_beginning"], RATE_GOAL, "at_least"),
            ]
        found.append(Goal(f"bytes a micro-batch on disk, {each['name']}", each["bytes_per_micro_batch"], BYTES_GOAL))
    graphs = [each for each in measurements if each["name"] != "year"]
    if len(graphs) > 1:
        small, large = (each["trace"]["p95_ms"]["median"] for each in (graphs[0], graphs[-1]))
        name = f"p95 of a trace in {graphs[-1]['name']} / in {graphs[0]['name']}"
        found.append(Goal(name, round(large / small, 3), TRACE_GOAL))
    return found


def _arithmetic(measurements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What 500 queries make in a year, by the figures of one."""
    return [_of_years(each) for each in measurements if each["name"] == "year"]


def _of_years(one: Mapping[str, Any]) -> dict[str, Any]:
    share = YEAR / one["micro_batches"]
    grown = one["store_bytes"] - one["store_bytes_when_empty"]
    return {
        "name": f"{QUERY_YEARS} queries for a year, by arithmetic",
        "micro_batches": QUERY_YEARS * YEAR,
        "nodes": round(QUERY_YEARS * one["nodes"] * share),
        "relationships": round(QUERY_YEARS * one["relationships"] * share),
        "store_bytes": round(QUERY_YEARS * grown * share),
    }
