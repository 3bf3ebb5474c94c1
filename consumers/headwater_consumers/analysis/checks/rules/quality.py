"""Quality: nobody reads what failed its assertions."""

from __future__ import annotations

from headwater_consumers.analysis.checks.rule import Rule, query_text

FAILED = Rule(
    "failed-quality",
    "What others read passed its assertions last.",
    "`headwater runs last-good` shows since when, `headwater blast` what the bad data reached.",
    lambda row: (
        f"An assertion failed in batch {row['batch']} of query {query_text(row)}, and none passed since; "
        f"{row['readers']:,} jobs and consumers read it."
    ),
)
