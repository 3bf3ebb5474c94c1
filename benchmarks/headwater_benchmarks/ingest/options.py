"""What to measure, and the two usual sizes."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_benchmarks.figures import ROUNDS

_SMALL = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What to measure.

    Attributes:
        events: records on the topic, repeated ones included.
        rounds: that count.
        sample: records that the floor's shapes and batch sizes are tried on.
        by_hand: records that naive and sink get; 0 for all, as Headwater, without which the ratios aren't of one thing.
        warm_up: records that whoever gets a fresh database writes into it first, and that are wiped away again.
        latency_seconds: how long events come at half the rate; 0 leaves latency out.
        curve: relationships that the graph grows to for the curve; 0 leaves it out.
        batch_rows: rows in a transaction that each of the floor's shapes is tried with.
        tries: how often; the median counts.
        baselines: whether floor, naive and sink take part.
        partitions: of each topic.
        prefix: of the topics' names, and of the consumers' groups.
        seed: of the events.
        heap_mb, page_cache_mb: of Neo4j.
    """

    events: int
    rounds: int
    sample: int
    warm_up: int
    latency_seconds: float
    by_hand: int = 0
    curve: int = 0
    batch_rows: tuple[int, ...] = (500, 2_000, 8_000)
    tries: int = 3
    baselines: bool = True
    partitions: int = 8
    prefix: str = "bench"
    seed: int = 1
    heap_mb: int = 1_024
    page_cache_mb: int = 1_024

    @property
    def small(self) -> bool:
        """Whether deleting a graph takes less time than starting a server for a fresh one.

        Then the graphs are compared with the oracle, too, node by node.
        """
        return self.events <= _SMALL


QUICK = Options(events=10_000, rounds=ROUNDS, sample=500, warm_up=500, latency_seconds=10.0, tries=1)
FULL = Options(events=200_000, rounds=ROUNDS, sample=5_000, warm_up=3_000, latency_seconds=60.0)
CURVE = 5_000_000
"""Relationships that the goal is about."""
