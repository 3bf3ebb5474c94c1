"""Runs: each states its code, and ends."""

from __future__ import annotations

from headwater_analysis.checks.rule import CheckRule

WITHOUT_CODE_VERSION = CheckRule(
    "runs-without-code-version",
    "Each run that wrote something reports its code version.",
    "Run it from a git checkout, or set HEADWATER_JOB_CODE_VERSION (docs/capture.md).",
    lambda row: f"Run {row['run_id']} wrote something and reports no code version.",
)

OPEN_TOO_LONG = CheckRule(
    "runs-open-too-long",
    "Each run ends, or is seen.",
    "Look whether its driver still lives: `headwater runs list --open`; start it again, and its end is inferred.",
    lambda row: f"Run {row['run_id']} reported no end, and nothing was seen of it since.",
)
