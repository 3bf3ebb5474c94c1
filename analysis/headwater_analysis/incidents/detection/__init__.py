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
