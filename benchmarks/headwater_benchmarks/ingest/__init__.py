"""`bench ingest`: events per second from Kafka to committed in Neo4j, beside what the database alone can take.

options       what to measure
topic         the made-up events, on a topic, and in memory for the others
servers       a broker for all, a fresh database for each
consumer      the contestant's own process; stages: what it did when
headwater     the contestant: from a full topic, of single events and of packs, and at a steady rate
floor/        the same driver writing the same graph from memory, in the fastest of several shapes
hand_written  one statement that merges raw events: one a transaction (naive), 1,000 (sink)
turn          what one turn takes
rounds        everybody in turn, round after round
figures       the report's measurements and goals
run           wiring
show          the report as tables
"""
