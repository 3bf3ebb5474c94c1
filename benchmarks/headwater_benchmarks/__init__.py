"""Benchmarks of `headwater bench …`, faults of `headwater soak`, and their shared parts.

figures     seconds measured ⇒ median, minimum, maximum, p50, p95
rounds      the same questions put to every contestant in turn, round after round
report      the JSON document that a benchmark ends with, goals and all
tables      that document for people
memory      peak resident memory
estate/     a made-up company's lineage, of any size, as a Neo4j store
query/      `bench query`
capture/    `bench capture`
ingest/     `bench ingest`
intake/     `bench intake`
intervals/  `bench intervals`
workload/   the events of a made-up company, which `bench ingest` and `soak` publish
soak/       `headwater soak`
commands/   the two commands

A checkout has them; the wheel doesn't.
"""
