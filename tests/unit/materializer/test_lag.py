"""The lag of a group, as the brokers answer it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from confluent_kafka import KafkaError, KafkaException
from prometheus_client import CollectorRegistry

from headwater_consumers.kafka.lag import EVERY_SECONDS, KEEP_SECONDS, STALE_SECONDS, LagMetrics, LagWatch
from headwater_consumers.kafka.offsets import PartitionOffsets
from headwater_consumers.kafka.records import Partition
from support.materializer.clock import FakeClock

ONE, TWO = Partition("t", 0), Partition("t", 1)


@dataclass
class Brokers:
    """Answer for two partitions; the second has nothing that waits."""

    end: int = 6
    published_ms: dict[Partition, int] = field(default_factory=lambda: {ONE: 1_000_000})
    away: bool = False

    def positions(self, topic: str, *, timeout_seconds: float) -> Sequence[PartitionOffsets]:
        if self.away:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        return [PartitionOffsets(ONE, 0, self.end, None), PartitionOffsets(TWO, 0, 5, 5)]

    def read(self, pending: Collection[PartitionOffsets], *, timeout_seconds: float) -> Mapping[Partition, int]:
        return {each.partition: at for each in pending if (at := self.published_ms.get(each.partition)) is not None}

    def close(self) -> None:
        pass


class Watched:
    def __init__(self) -> None:
        self.brokers, self.clock, self.registry = Brokers(), FakeClock(), CollectorRegistry()
        self.kept: list[list[int | None]] = []
        self.watch = LagWatch(
            self.brokers,
            self.brokers,
            "t",
            LagMetrics(self.registry, "x", "g"),
            keep=self._keep,
            clock=self.clock,
            now=lambda: 1_000 + self.clock(),
        )

    def _keep(self, positions: Sequence[PartitionOffsets]) -> None:
        self.kept.append([each.committed for each in positions])
        if self.brokers.away:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))

    def look(self, after_seconds: float = 0.0) -> None:
        self.clock.advance(after_seconds)
        self.watch.look()

    def __getitem__(self, name: str) -> list[float | None]:
        return [
            self.registry.get_sample_value(f"x_{name}", {"group": "g", "partition": str(number)}) for number in (0, 1)
        ]

    @property
    def asked_at(self) -> float | None:
        return self.registry.get_sample_value("x_lag_timestamp_seconds", {"group": "g"})


def test_it_rises_while_nothing_is_committed() -> None:
    watched = Watched()
    start = 1_000 + watched.clock()
    assert watched.asked_at == 0
    watched.brokers.published_ms[ONE] = int(start * 1_000)
    watched.look()
    assert (watched["offset_lag"], watched["lag_seconds"], watched.watch.behind) == ([6, 0], [0, 0], 6)
    watched.brokers.end = 8_781
    watched.look(after_seconds=60)
    assert (watched["offset_lag"], watched["lag_seconds"], watched.watch.behind) == ([8_781, 0], [60, 0], 8_781)
    assert watched.asked_at == start + 60


def test_without_an_answer_it_isnt_known_after_a_while_and_never_0() -> None:
    watched = Watched()
    watched.look()
    asked_at = watched.asked_at
    watched.brokers.away = True
    watched.look(after_seconds=EVERY_SECONDS)
    assert (watched["offset_lag"], watched.watch.behind) == ([6, 0], 6)
    watched.look(after_seconds=STALE_SECONDS)
    assert (watched["offset_lag"], watched["lag_seconds"]) == ([None, None], [None, None])
    assert (watched.asked_at, watched.watch.behind) == (asked_at, None)
    watched.brokers.away = False
    watched.look(after_seconds=EVERY_SECONDS)
    assert watched["offset_lag"] == [6, 0]


def test_before_the_first_answer_nothing_is_known() -> None:
    watched = Watched()
    watched.brokers.away = True
    watched.look()
    assert (watched["offset_lag"], watched.asked_at, watched.watch.behind) == ([None, None], 0, None)


def test_a_record_whose_time_isnt_known_has_no_age() -> None:
    watched = Watched()
    watched.look()
    watched.brokers.published_ms.clear()
    watched.look()
    assert (watched["offset_lag"], watched["lag_seconds"]) == ([6, 0], [None, 0])


def test_offsets_are_kept_at_first_and_then_once_an_hour() -> None:
    watched = Watched()
    for _ in range(int(2 * KEEP_SECONDS / EVERY_SECONDS)):
        watched.look(after_seconds=EVERY_SECONDS)
    assert watched.kept == [[None, 5]] * 2


@pytest.mark.parametrize("away", [False, True])
def test_its_thread_ends_with_the_block(away: bool) -> None:
    watched = Watched()
    watched.brokers.away = away
    with watched.watch as watch:
        pass
    assert not watch._thread.is_alive()
