"""`bench ingest`: events per second from Kafka to committed in Neo4j, compared with the database's maximum.

benchmark   contestants in turn: the consumer, packs, the floor, naive and sink; latency at a steady rate
floor       the same driver writing the same graph from memory
figures     the report's measurements and goals, and the report as tables
"""
