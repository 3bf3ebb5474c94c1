"""`bench intake`: OpenLineage events to the graph, over HTTP and from a topic, and Data.Rentgen beside it.

benchmark  the ways in turn, and the report
documents  runs as OpenLineage's documents
rentgen    Data.Rentgen's consumer and its PostgreSQL, where they are installed
"""
