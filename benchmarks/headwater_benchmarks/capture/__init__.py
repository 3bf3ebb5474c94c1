"""`bench capture`: overhead of capture in a Spark driver, and its events.

Each contestant has its own Spark driver. All drivers run all the time, but only one works: they alternate in
blocks of micro-batches and in batch writes, within seconds. So other load on the machine is nearly the same for all.

benchmark  contestants in turn, and the report
driver     the Spark process: a streaming query and batch writes, as requested over a socket
sent       numbers of sent events and bytes, on a topic or in OpenLineage's file
figures    the report's measurements and goals, and the report as tables
"""
