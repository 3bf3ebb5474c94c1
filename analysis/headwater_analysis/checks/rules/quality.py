"""Quality: nobody reads what failed its assertions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headwater_analysis.assets import job_asset
from headwater_analysis.checks.rule import CheckRule, query_text
from headwater_analysis.moments import EVER
from headwater_analysis.quality import LOOKED_AT


def _message(row: Mapping[str, Any]) -> str:
    by = row["by"]
    if "run_id" in by:
        where = f"run {by['run_id']} of job {job_asset(by['job']).spelling}"
    else:
        where = f"batch {by['batch']} of query {query_text(by)}"
    return f"An assertion failed in {where}, and none passed since; {row['readers']:,} jobs and consumers read it."


FAILED = CheckRule(
    "failed-quality",
    "What others read passed its assertions last.",
    "`headwater runs last-good` shows since when, `headwater blast` what the bad data reached.",
    _message,
    lambda _tx, _today, _names: {"looked_at": LOOKED_AT, "until": EVER},
)
