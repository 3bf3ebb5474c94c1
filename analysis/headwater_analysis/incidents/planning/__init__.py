"""Repair plans: corrections, reruns, declarations and messages, in an order after which no bad data is left.

planned        answer of a repair plan
plan           the plan: steps in order, computed from today's reach
order          steps with bad output → groups in order: a group comes after the groups that write its input
steps          runs and micro-batches to write again
reruns         later runs of other code on the same inputs: evidence of repairs
replays        facts for reprocessing of streaming queries
orchestrators  Airflow's tasks to clear, and declared mappings of a job's input partitions to output partitions
commands       commands and statements, quoted
"""
