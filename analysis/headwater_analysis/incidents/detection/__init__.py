"""Incidents that open by themselves: data faults found in the graph, judged by a policy.

data_fault      values: a fault and its part with bad data
assertions      failed assertions of runs and micro-batches
chains          gaps and overlaps of streaming queries
writes          failed runs that had committed output, and versions that no known run wrote
lateness        datasets that weren't written within their declared freshness
fault_policy    policy: faults that open an incident, and severities
detect_faults   all faults → incidents to open, without parts that had an incident before
named           names of datasets, jobs and queries in faults
"""
