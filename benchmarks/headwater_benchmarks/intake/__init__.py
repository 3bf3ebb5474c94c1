"""`bench intake`: OpenLineage events from a client's POST to the graph.

documents  the same runs as OpenLineage's documents and as Headwater's own events
posting    clients that keep their connections
serving    `headwater serve` as a process of its own
consumer   `headwater consume`, with the time of each event's commit
ways       one turn of each way to the graph: one by one, in batches, from Kafka, and Headwater's own events
postgres   a PostgreSQL of the benchmark's own
rentgen    Data.Rentgen's consumer, where it is installed
figures    what was measured ⇒ the report's figures
run, show  wiring, report, tables
"""
