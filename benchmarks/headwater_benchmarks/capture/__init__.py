"""`bench capture`: what capturing costs a Spark driver, and what it sends.

Each contestant has a Spark driver of its own. All drivers run the whole time, but only one works: they take turns at
blocks of micro-batches and at batch writes, within seconds. So other load on the machine is nearly the same for all.

benchmark  contestants in turn, and the report
driver     the Spark process: a streaming query and batch writes, as requested over a socket
sent       counts events and bytes that were sent, on a topic or in OpenLineage's file
figures    the report's measurements and goals, and the report as tables
"""
