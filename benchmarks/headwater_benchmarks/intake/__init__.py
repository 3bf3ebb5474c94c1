"""`bench intake`: OpenLineage events to the graph, over HTTP and from a topic, compared with Data.Rentgen.

benchmark  the contestants in turn, and the report
documents  runs as OpenLineage's documents
rentgen    Data.Rentgen's consumer and its PostgreSQL, if installed
"""
