"""Orphans: datasets and jobs without any edge."""

from __future__ import annotations

from headwater_analysis.checks.rule import CheckRule

DATASETS = CheckRule(
    "orphan-datasets",
    "Each dataset that is there is used by a job or a consumer.",
    "Capture or declare who uses it; or delete it, and report the DROP.",
    lambda _: "No job and no consumer uses it.",
)

JOBS = CheckRule(
    "orphan-jobs",
    "Each job reads or writes something, or starts a job that does.",
    "Look at its log for what capture couldn't read, or declare its inputs and outputs.",
    lambda _: "It reads and writes nothing that is known.",
)
