"""The estate as sheets: nodes and relationships as docs/graph.md has them, with the materializer's own keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headwater_benchmarks.estate.drawn import Estate
from headwater_benchmarks.estate.sheets import Sheets
from headwater_benchmarks.estate.write_columns import write_columns
from headwater_benchmarks.estate.write_datasets import write_datasets
from headwater_benchmarks.estate.write_intervals import write_intervals
from headwater_benchmarks.estate.write_jobs import write_jobs


def write(estate: Estate, folder: Path, report: Callable[[str], None]) -> Sheets:
    """Write it into a folder; `report` is called with what is being written."""
    with Sheets(folder) as sheets:
        for what, step in (
            ("datasets", write_datasets),
            ("columns", write_columns),
            ("jobs, plans and runs", write_jobs),
            ("micro-batches", write_intervals),
        ):
            report(what)
            step(estate, sheets)
    return sheets
