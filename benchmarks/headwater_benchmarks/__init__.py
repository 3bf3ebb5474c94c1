"""Benchmarks of `headwater bench …`, faults of `headwater soak`, and their shared parts.

report      figures over rounds, goals, the JSON document that a benchmark ends with, and its tables
measuring   processor time and memory; contestants in turns
servers     a Kafka and a Neo4j of a benchmark's own
processes   `headwater consume`, `serve` and other commands as processes of their own
workload    the events of a made-up company
draining    topics of these events, and a consumer that writes them into a graph; timed_consumer: its process
estate      that company's graph of any size, as a Neo4j store
query       `bench query`
capture/    `bench capture`
ingest/     `bench ingest`
intake/     `bench intake`
intervals   `bench intervals`
soak/       `headwater soak`
commands/   the two commands

Benchmarks are only in a checkout, not in the wheel.
"""
