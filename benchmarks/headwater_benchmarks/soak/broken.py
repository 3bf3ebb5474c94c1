"""A consumer that loses events, for trying the soak itself: `-m headwater_benchmarks.soak.broken HOW consume`.

    skips          its fifth transaction isn't written, and its offsets are committed
    commits-ahead  it commits one offset more than it has dealt with

It is the real program, but for one method that has been replaced.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from headwater.lean_imports import without
from headwater_consumers.kafka.records import Partition

with without("numpy", "pandas"):
    from headwater_consumers.kafka.kafka_source import KafkaSource
    from headwater_consumers.materializer.graph import Neo4jGraph

SKIPS, COMMITS_AHEAD = "skips", "commits-ahead"
_SKIPPED = 5


def skip_a_transaction() -> None:
    """Have this process write nothing of its fifth batch."""
    apply: Callable[..., Any] = Neo4jGraph.apply
    count, summary = 0, None

    def skipping(graph: Neo4jGraph, folded: Any) -> Any:
        nonlocal count, summary
        count += 1
        if count != _SKIPPED:
            summary = apply(graph, folded)
        return summary

    setattr(Neo4jGraph, "apply", skipping)  # noqa: B010  a method of another class


def commit_ahead() -> None:
    """Have this process commit what it hasn't read."""
    commit: Callable[..., Any] = KafkaSource.commit

    def committing(source: KafkaSource, offsets: Mapping[Partition, int]) -> None:
        commit(source, {partition: offset + 1 for partition, offset in offsets.items()})

    setattr(KafkaSource, "commit", committing)  # noqa: B010  a method of another class


if __name__ == "__main__":
    from headwater.__main__ import main

    {SKIPS: skip_a_transaction, COMMITS_AHEAD: commit_ahead}[sys.argv.pop(1)]()
    main()
