"""Runs: of a job or a dataset, their inputs, outputs and micro-batches; versions; the first bad run.

answer      runs, micro-batches, and the parts of datasets that they use
listed      runs of a job or dataset, and those without an end
one         one run, its inputs and outputs
business    versions of reference data that outputs were made with
context     filter of runs by script, user, period and other context
intervals   micro-batches in batch order
versions    versions of a dataset and the runs that produced them
turn        the last good and the first bad
"""

from headwater_analysis.runs.answer import (
    BusinessVersion,
    IntervalItem,
    IntervalPage,
    Joint,
    OpenRun,
    OpenRunPage,
    Quality,
    QualityTurn,
    Role,
    RunDetails,
    RunItem,
    RunPage,
    RunParent,
    Turn,
    Use,
    UsePage,
)
from headwater_analysis.runs.context import ALL_RUNS, CONTEXT_NAMES, RunFilter
from headwater_analysis.runs.intervals import intervals
from headwater_analysis.runs.listed import open_runs, runs
from headwater_analysis.runs.one import inputs, outputs, run
from headwater_analysis.runs.resolve import resolve_either, resolve_owner, resolve_run
from headwater_analysis.runs.turn import last_good
from headwater_analysis.runs.versions import Producer, VersionItem, VersionPage, versions

__all__ = [
    "ALL_RUNS",
    "CONTEXT_NAMES",
    "BusinessVersion",
    "IntervalItem",
    "IntervalPage",
    "Joint",
    "OpenRun",
    "OpenRunPage",
    "Producer",
    "Quality",
    "QualityTurn",
    "Role",
    "RunDetails",
    "RunFilter",
    "RunItem",
    "RunPage",
    "RunParent",
    "Turn",
    "Use",
    "UsePage",
    "VersionItem",
    "VersionPage",
    "inputs",
    "intervals",
    "last_good",
    "open_runs",
    "outputs",
    "resolve_either",
    "resolve_owner",
    "resolve_run",
    "run",
    "runs",
    "versions",
]
