"""Made-up events in the proportions of a busy company's, for the benchmark of ingest and for the soak test.

- `company`: the jobs and queries there are, and the events that each emits;
- `mixture`: the stream of all of them, with repeats and disorder.
"""
