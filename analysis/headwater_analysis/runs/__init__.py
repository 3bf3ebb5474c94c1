"""Runs: of a job or a dataset, their inputs, outputs and micro-batches; versions; the first bad run.

records        runs, micro-batches, and the parts of datasets that they use
list_runs      runs of a job or dataset, and runs without an end
run_details    one run, its inputs and outputs; versions of reference data that went into outputs
run_filter     filter of runs by script, user, nominal period and other context
run_names      runs by id, prefix of an id, or short name
from_rows      records from rows of the graph
intervals      micro-batches in batch order
versions       versions of a dataset and the runs that produced them
last_good_run  the last good run and the first bad run after it
"""

from headwater_analysis.runs.intervals import intervals
from headwater_analysis.runs.last_good_run import last_good
from headwater_analysis.runs.list_runs import open_runs, runs
from headwater_analysis.runs.records import (
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
    Turn,
    Use,
    UsePage,
)
from headwater_analysis.runs.run_details import run, uses
from headwater_analysis.runs.run_filter import CONTEXT_NAMES, RunFilter
from headwater_analysis.runs.run_names import resolve_either
from headwater_analysis.runs.versions import Producer, VersionItem, VersionPage, versions

__all__ = [
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
    "Turn",
    "Use",
    "UsePage",
    "VersionItem",
    "VersionPage",
    "intervals",
    "last_good",
    "open_runs",
    "resolve_either",
    "run",
    "runs",
    "uses",
    "versions",
]
