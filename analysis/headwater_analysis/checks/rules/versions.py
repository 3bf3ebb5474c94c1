"""Versions of tables and files: each is of a run, and no table changes behind the graph's back."""

from __future__ import annotations

from headwater_analysis.checks.rule import CheckRule

WITHOUT_RUN = CheckRule(
    "versions-without-run",
    "Each version of a table that jobs write was written by a run that is known.",
    "Capture the job that wrote it, or backfill its run; `headwater runs versions` shows who reads it.",
    lambda row: f"{row['format']} version {row['version']} is read, and no run is known to have written it.",
)

FROM_OUTSIDE = CheckRule(
    "written-from-outside",
    "Between versions that runs wrote, nobody else commits.",
    "Capture whoever committed it, or exempt the dataset where maintenance (OPTIMIZE, compaction) is meant to.",
    lambda row: (
        f"{row['format']} version {row['version']} was written upon version {row['parent']}, which no run claims."
    ),
)
