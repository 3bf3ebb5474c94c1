"""Benchmarks of `headwater bench …`, faults of `headwater soak`, and their shared parts.

report      figures over rounds, goals, a benchmark's JSON document, and its tables
measuring   processor time and memory; contestants in turns
servers     Kafka and Neo4j of a benchmark
processes   `headwater consume`, `serve` and other commands as child processes
workload    events of a made-up company
draining    topics of these events, and a consumer that writes them into a graph (timed_consumer: its process)
estate      graph of the made-up company in any size, as a Neo4j store
query       `bench query`
capture/    `bench capture`
ingest/     `bench ingest`
intake/     `bench intake`
intervals   `bench intervals`
soak/       `headwater soak`
commands/   the two commands

Benchmarks are only in a checkout, not in the wheel.
"""
