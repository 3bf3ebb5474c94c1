"""Options of `bench intervals`."""

from __future__ import annotations

from dataclasses import dataclass

YEAR = 365 * 24 * 360
"""Micro-batches of a query in a year, one each ten seconds."""
SCALED = 1_000_000
"""Micro-batches with which larger graphs are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to measure.

    Attributes:
        year: micro-batches of the one query; 0 leaves it out.
        micro_batches: of all queries of the scaled graph together; 0 leaves it out.
        queries: of the scaled graph.
        compared: micro-batches of the graph that the scaled one is compared with.
        rounds: of traces, that count.
        questions: in each round.
        seed: decides everything that is drawn.
        heap_mb, page_cache_mb: of Neo4j.
        warm_up: questions that are answered before those that count.
    """

    year: int = YEAR
    micro_batches: int = SCALED
    queries: int = 300
    compared: int = SCALED
    rounds: int = 5
    questions: int = 40
    seed: int = 1
    heap_mb: int = 1_024
    page_cache_mb: int = 2_048
    warm_up: int = 80
