"""Options of `bench ingest`, and its two usual sizes."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_benchmarks.figures import ROUNDS

PACK = 50
"""Micro-batches in an event of the contestant of packs."""
_SMALL = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of the ingestion benchmark.

    Attributes:
        events: records on the topic, repeated ones included; as many micro-batches are on the topic of packs.
        rounds: rounds that count.
        sample: records on which the floor's shapes and batch sizes are tried.
        by_hand: records that naive and sink get; 0 for all. With fewer, their ratios to Headwater compare unlike work.
        warm_up: records that a contestant writes into a fresh database first, and that are then deleted.
        latency_seconds: how long events arrive at half the rate; 0 leaves latency out.
        batch_rows: batch sizes that each of the floor's shapes is tried with, as rows in a transaction.
        tries: how often each shape and batch size is tried; the median counts.
        baselines: whether floor, naive and sink take part.
        partitions: partitions of each topic.
        prefix: prefix of the topics' names and of the consumer groups.
        seed: decides the events.
        heap_mb, page_cache_mb: Neo4j's heap and page cache.
    """

    events: int
    rounds: int
    sample: int
    warm_up: int
    latency_seconds: float
    by_hand: int = 0
    batch_rows: tuple[int, ...] = (500, 2_000, 8_000)
    tries: int = 3
    baselines: bool = True
    partitions: int = 8
    prefix: str = "bench"
    seed: int = 1
    heap_mb: int = 1_024
    page_cache_mb: int = 1_024

    @property
    def packs_prefix(self) -> str:
        """Prefix of the topic of packs."""
        return f"{self.prefix}.packs"

    @property
    def small(self) -> bool:
        """True for a graph to be deleted rather than replaced by a fresh server, which takes longer for few events.

        Only small graphs are also compared with the oracle, node by node.
        """
        return self.events <= _SMALL


QUICK = Options(events=10_000, rounds=ROUNDS, sample=500, warm_up=500, latency_seconds=10.0, tries=1)
FULL = Options(events=200_000, rounds=ROUNDS, sample=5_000, warm_up=3_000, latency_seconds=60.0)
