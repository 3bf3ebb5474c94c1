"""Options of `bench intake`, and its two usual sizes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headwater_benchmarks.figures import ROUNDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to measure.

    Attributes:
        events: OpenLineage events in each turn.
        rounds: rounds that count.
        warm_up: events of each turn before those that are measured, of the same jobs.
        batch: events in a request of the way in batches.
        latency_seconds: how long events are posted at half the rate; 0 leaves latency out.
        rentgen: Python of an environment with Data.Rentgen; None: where the docs install it.
        partitions: of each topic.
        prefix: of the topics' names and of the consumer groups.
        seed: decides the events.
        heap_mb, page_cache_mb: Neo4j's heap and page cache.
    """

    events: int
    rounds: int = ROUNDS
    warm_up: int = 500
    batch: int = 100
    latency_seconds: float = 20.0
    rentgen: Path | None = None
    partitions: int = 4
    prefix: str = "bench"
    seed: int = 1
    heap_mb: int = 1_024
    page_cache_mb: int = 512


QUICK = Options(events=1_000)
FULL = Options(events=10_000, latency_seconds=60.0)
