"""The measuring, and the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from headwater.console import console
from headwater.stack import java_runtime
from headwater.stack.embedded import locked_version
from headwater_benchmarks.intervals.one_query import Options, one_query
from headwater_benchmarks.report import Goal, report

NODES_GOAL, BYTES_GOAL, RATE_GOAL = 10_000, 120.0, 0.9


def run(options: Options) -> dict[str, Any]:
    """Measure, and report.

    Raises:
        HeadwaterError: a server or the consumer failed, or a trace found something else.
    """
    with console.progress(lines=True) as progress:
        task = progress.add_task("intervals", total=options.micro_batches)
        measured = one_query(
            options,
            lambda what: progress.update(task, description=what),
            lambda batches: progress.update(task, completed=batches),
        )
    return report(
        "intervals",
        options=asdict(options),
        environment={"neo4j": locked_version("neo4j", "neo4j"), "java": java_runtime().version},
        measurements=[measured],
        goals=goals(measured),
    )


def goals(measured: Mapping[str, Any]) -> list[Goal]:
    """The goals, with what was measured."""
    return [
        Goal("nodes of a query in a year", measured["nodes_per_year"], NODES_GOAL),
        Goal("rate at the end / at the beginning", measured["end_to_beginning"], RATE_GOAL, "at_least"),
        Goal("bytes a micro-batch on disk", measured["bytes_per_micro_batch"], BYTES_GOAL),
    ]
