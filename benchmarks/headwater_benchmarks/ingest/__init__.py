"""`bench ingest`: events per second from Kafka to committed in Neo4j, compared with the database's maximum.

benchmark   contestants in turn, and latency at a steady rate
floor       maximum of the database: the same graph, written from memory by the same driver
figures     the report's measurements and goals, and the report as tables
"""
