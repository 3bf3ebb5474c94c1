"""`bench capture`: what capturing costs a Spark driver, and what it sends.

One Spark driver for each contestant, all alive at once and idle but for one: so that blocks of micro-batches, and batch
writes, can take turns within seconds. What else the machine does is then the same for all.

contestants   who: their Spark properties and environment
driver        the Spark process: does one task after the other, as requested
jobs          the tasks themselves: the streaming query, the batch writes
link          how the two processes talk
feed          records for the query
sent          events and bytes: on a topic, in OpenLineage's file
measure       the rounds
run           wiring, and the report
show          the report as tables
"""
