"""Lag of a consumer group, in records and seconds, read from the brokers.

A separate thread reads the offsets of all partitions. So the lag keeps rising while the database is unavailable, while
the consumer hangs, and while it has no partition. librdkafka's own value doesn't change while fetching is paused,
because it learns a partition's end only with fetched records.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Protocol, Self

from confluent_kafka import KafkaException
from prometheus_client import CollectorRegistry, Gauge

from headwater_consumers.kafka.offsets import OffsetReader, PartitionOffsets
from headwater_consumers.kafka.records import Partition
from headwater_consumers.kafka.topic_reader import PendingTimes
from headwater_schemas.errors import TransientError

EVERY_SECONDS = 5.0
"""Interval of the requests to the brokers."""
KEEP_SECONDS = 3_600.0
"""Interval of the calls of `keep`: short, compared with any usual `offsets.retention.minutes`."""
STALE_SECONDS = 30.0
"""Maximum age of a shown lag while the brokers don't answer."""
_REQUEST_SECONDS = 5.0
# Longest wait for the current check at a stop. With unreachable brokers, the check takes the time of several requests.
_CLOSE_SECONDS = 1.0


class LagMetrics:
    """Lag of one group on one topic, as Prometheus metrics.

    Args:
        prefix: prefix of the metrics' names, which names the reader of the topic.
        group: the consumer group; all replicas of a group show the same values.
    """

    def __init__(self, registry: CollectorRegistry, prefix: str, group: str) -> None:
        self._group = group

        def gauge(name: str, meaning: str, *labels: str) -> Gauge:
            return Gauge(f"{prefix}_{name}", meaning, labels, registry=registry)

        self._records = gauge(
            "offset_lag",
            "Offsets from the group's committed offset to the end of a partition; no series while unknown.",
            "group",
            "partition",
        )
        self._seconds = gauge(
            "lag_seconds",
            "Age of the oldest uncommitted record of a partition; 0: no record waits; no series while unknown.",
            "group",
            "partition",
        )
        self._last_answer = gauge(
            "lag_timestamp_seconds",
            "Unix time of the brokers' last answer on the group's offsets; 0: no answer yet.",
            "group",
        ).labels(group)

    def show(self, records: Mapping[Partition, int], seconds: Mapping[Partition, float], at: float) -> None:
        """Set the lag.

        Args:
            records: number of pending offsets of every partition.
            seconds: age of the oldest pending record; partitions with an unknown age are left out.
            at: now, in Unix time.
        """
        self._replace(self._records, records)
        self._replace(self._seconds, seconds)
        self._last_answer.set(at)

    def unknown(self) -> None:
        """Show no lag: the brokers haven't answered for too long."""
        self._replace(self._records, {})
        self._replace(self._seconds, {})

    def _replace(self, gauge: Gauge, values: Mapping[Partition, float]) -> None:
        """Set series for exactly these partitions. Remaining series are never missing in a concurrent scrape."""
        for metric in gauge.collect():
            for number in {sample.labels["partition"] for sample in metric.samples} - {str(p.number) for p in values}:
                gauge.remove(self._group, number)
        for partition, value in values.items():
            gauge.labels(self._group, str(partition.number)).set(value)


class OffsetSource(Protocol):
    """Reader of a group's offsets, such as `OffsetReader`."""

    def positions(self, topic: str, *, timeout_seconds: float) -> Sequence[PartitionOffsets]:
        """Return every partition of the topic, with the group's committed offset."""


class PublicationTimes(Protocol):
    """Reader of publication times, such as `PendingTimes`."""

    def read(self, pending: Collection[PartitionOffsets], *, timeout_seconds: float) -> Mapping[Partition, int]:
        """Return when each partition's first pending record was published, in Unix milliseconds, where known."""

    def close(self) -> None:
        """Close the connections."""


class LagWatch(AbstractContextManager["LagWatch"]):
    """Reads a group's lag on a topic every few seconds while the block runs.

    Args:
        offsets: reader of the group's offsets.
        times: reader of the publication times of pending records.
        keep: called with the group's positions, at first and then once an hour.
        clock: monotonic seconds.
        now: Unix time, in seconds.
    """

    def __init__(
        self,
        offsets: OffsetSource,
        times: PublicationTimes,
        topic: str,
        metrics: LagMetrics,
        *,
        keep: Callable[[Sequence[PartitionOffsets]], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._offsets = offsets
        self._times = times
        self._topic = topic
        self._metrics = metrics
        self._keep = keep
        self._next_keep = clock()
        self._clock = clock
        self._now = now
        self._answered: float | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"lag-{topic}", daemon=True)
        self.behind: int | None = None
        """Number of pending offsets of all partitions; None if unknown."""

    @classmethod
    def of(
        cls,
        client: Mapping[str, Any],
        *,
        group: str,
        topic: str,
        registry: CollectorRegistry,
        prefix: str,
        keep: Callable[[Sequence[PartitionOffsets]], None] = lambda _: None,
    ) -> LagWatch:
        """Make a watch on real brokers.

        Args:
            client: librdkafka settings with the bootstrap servers and the credentials.
            keep: see the class.

        Raises:
            KafkaException: librdkafka doesn't accept the settings.
        """
        metrics = LagMetrics(registry, prefix, group)
        return cls(OffsetReader(client, group=group), PendingTimes(client), topic, metrics, keep=keep)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join(_CLOSE_SECONDS)

    def _run(self) -> None:
        while not self._ended.is_set():
            self.look()
            self._ended.wait(EVERY_SECONDS)
        self._times.close()

    def look(self) -> None:
        """Read the lag once, and show it."""
        try:
            positions = self._offsets.positions(self._topic, timeout_seconds=_REQUEST_SECONDS)
            if self._clock() >= self._next_keep:
                self._next_keep = self._clock() + KEEP_SECONDS
                self._keep(positions)
            waiting = [each for each in positions if each.pending]
            since = self._times.read(waiting, timeout_seconds=_REQUEST_SECONDS) if waiting else {}
        except (KafkaException, TransientError):
            if self._answered is None or self._clock() - self._answered >= STALE_SECONDS:
                self.behind = None
                self._metrics.unknown()
            return
        self._answered, at = self._clock(), self._now()
        self.behind = sum(each.pending for each in positions)
        idle = {each.partition: 0.0 for each in positions if not each.pending}
        waits = {partition: max(0.0, at - milliseconds / 1000) for partition, milliseconds in since.items()}
        self._metrics.show({each.partition: each.pending for each in positions}, idle | waits, at)
