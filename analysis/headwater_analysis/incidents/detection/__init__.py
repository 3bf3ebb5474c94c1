"""Incidents that open by themselves: faults that the graph has, judged by a policy.

data_fault      values: a fault and its part with bad data
assertions      failed assertions of runs and micro-batches
chains          gaps and overlaps of streaming queries
writes          failed runs that had committed, and versions that nobody known wrote
lateness        datasets without a write within their declared freshness
fault_policy    policy: which faults open an incident, and of which severity
detect_faults   all faults → incidents to open, without the parts that were opened before
named           names of datasets, jobs and queries in faults
"""

from __future__ import annotations

from headwater_analysis.incidents.detection.data_fault import DataFault, DataFaultKind
from headwater_analysis.incidents.detection.detect_faults import (
    DetectedFault,
    DetectedOutcome,
    Detection,
    IncidentToOpen,
    detect,
)
from headwater_analysis.incidents.detection.fault_policy import (
    FaultPolicy,
    OpenEntry,
    default_fault_policy,
    default_fault_policy_text,
    load_fault_policy,
)

__all__ = [
    "DataFault",
    "DataFaultKind",
    "DetectedFault",
    "DetectedOutcome",
    "Detection",
    "FaultPolicy",
    "IncidentToOpen",
    "OpenEntry",
    "default_fault_policy",
    "default_fault_policy_text",
    "detect",
    "load_fault_policy",
]
