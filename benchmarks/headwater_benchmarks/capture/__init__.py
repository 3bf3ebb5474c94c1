"""`bench capture`: what capturing costs a Spark driver, and what it sends.

Each contestant has a Spark driver of its own. All drivers run the whole time, but only one works: they take turns at
blocks of micro-batches and at batch writes, within seconds. So other load on the machine is nearly the same for all.

contestants   the contestants' Spark properties and environment
driver        the Spark process: runs one task after another, as requested
jobs          the tasks: the streaming query, the batch writes
link          the connection between the benchmark and a driver's process
feed          records for the query
sent          counts events and bytes that were sent, on a topic or in OpenLineage's file
measure       the rounds
run           wiring, and the report
show          the report as tables
"""
