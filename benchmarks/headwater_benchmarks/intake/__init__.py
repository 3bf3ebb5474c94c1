"""`bench intake`: OpenLineage events to the graph, over HTTP and from a topic, and Data.Rentgen beside it.

documents  runs as OpenLineage's documents
posting    clients that keep their connections
serving    `headwater serve` as a process of its own
turns      one turn of each way
postgres   a PostgreSQL of the benchmark's own
rentgen    Data.Rentgen's consumer, where it is installed
figures    what was measured ⇒ the report's figures
run, show  options, wiring, report, tables
"""
