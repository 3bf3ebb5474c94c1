"""Benchmarks: what `headwater bench …` measures, and the little that all of them share.

figures     seconds measured ⇒ median, minimum, maximum, p50, p95
rounds      the same questions put to every contestant in turn, round after round
report      the JSON document that a benchmark ends with, goals and all
memory      peak resident memory
estate/     a made-up company's lineage, of any size, as a Neo4j store
query/      `bench query`
capture/    `bench capture`
"""
