"""Repair plans: what to correct, run again, declare and report, in order, so that nothing bad is left.

planned        answer of a repair plan
plan           the plan: steps in order, from the reach of today
order          steps with bad output → groups, each after all that write what it reads
steps          runs and micro-batches to write again
reruns         later runs by other code, on the same inputs: evidence of repairs
replays        facts for reprocessing of streaming queries
orchestrators  tasks to clear, and declared mappings of partitions
commands       commands and statements, quoted
"""
