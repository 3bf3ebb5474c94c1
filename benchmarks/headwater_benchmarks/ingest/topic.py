"""Puts the generated events on a topic for the consumer, and keeps some in memory for the baselines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Producer

from headwater.errors import HeadwaterError
from headwater_graph.facts.delta import GraphDelta
from headwater_graph.fold.builder import Builder
from headwater_graph.fold.fold import fold_event
from headwater_producers.publisher.settings import PublisherSettings
from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import record_key
from headwater_schemas.kafka.client import quiet
from headwater_schemas.topics import TopicNames, ensure_topics, topic_specs

_FLUSH_SECONDS = 120.0
Value = bytes
"""An encoded event. An alias, since `TopicContents` has a field named `bytes`."""


@dataclass(slots=True)
class TopicContents:
    """The contents of a topic.

    Attributes:
        records: number of records.
        distinct: number of distinct events, so repeated records count once.
        bytes: size of keys and values.
        kinds: number of records by kind.
        delta: base facts of all events; None if they weren't wanted, or aren't needed any more.
        sample: the first few events.
        values: the first few records' values, for baselines that don't read the topic.
        values_distinct: how many distinct events these are.
    """

    records: int
    distinct: int
    bytes: int
    kinds: dict[str, int]
    delta: GraphDelta | None
    sample: tuple[LineageEvent, ...] = field(repr=False, default=())
    values: Sequence[Value] = field(repr=False, default=())
    values_distinct: int = 0


class Topics:
    """Creates and fills topics on one broker.

    Args:
        bootstrap_servers: the broker's address.
        partitions: partitions of each events topic.
    """

    def __init__(self, bootstrap_servers: str, partitions: int) -> None:
        self._servers = bootstrap_servers
        self._partitions = partitions

    def create(self, prefix: str) -> str:
        """Create Headwater's topics with this prefix; returns the name of the events topic."""
        names = TopicNames(prefix)
        ensure_topics(quiet({"bootstrap.servers": self._servers}), topic_specs(names, partitions=self._partitions))
        return names.events

    def producer(self) -> Producer:
        """A producer with the settings of Headwater's publisher."""
        return Producer(quiet(PublisherSettings(bootstrap_servers=self._servers).producer_config()))

    def fill(
        self,
        prefix: str,
        events: Iterable[LineageEvent],
        *,
        folded: bool = False,
        sample: int = 0,
        values: int = 0,
        put: Callable[[], Any] = lambda: None,
    ) -> TopicContents:
        """Produce events, and wait until all are acknowledged.

        Args:
            prefix: prefix of the topic's name.
            events: the events to produce.
            folded: whether to fold them into base facts.
            sample: how many of the first events to keep.
            values: how many of the first records' values to keep.
            put: called for each event.

        Raises:
            HeadwaterError: the broker doesn't acknowledge the events.
        """
        topic, producer = self.create(prefix), self.producer()
        counting = _Counting(folded, sample, values)
        for event in events:
            key, value = record_key(event), encode(event)
            counting.add(event, key, value)
            while True:
                try:
                    producer.produce(topic, value, key)
                    break
                except BufferError:
                    producer.poll(0.1)
            producer.poll(0)
            put()
        if producer.flush(_FLUSH_SECONDS):
            raise HeadwaterError("Kafka doesn't acknowledge the events.")
        return counting.contents()


def in_memory(events: Iterable[LineageEvent]) -> GraphDelta:
    """Base facts of events that aren't put on a topic."""
    builder = Builder()
    for event in {event.event_id: event for event in events}.values():
        fold_event(builder, event)
    return builder.delta


class _Counting:
    def __init__(self, folded: bool, sample: int, values: int) -> None:  # noqa: FBT001  read beside its call
        self._builder = Builder() if folded else None
        self._wanted = sample
        self._values_wanted = values
        self._values: list[bytes] = []
        self._values_distinct = 0
        self._ids: set[str] = set()
        self._kinds: Counter[str] = Counter()
        self._bytes = 0
        self._sample: list[LineageEvent] = []

    def add(self, event: LineageEvent, key: bytes, value: bytes) -> None:
        self._kinds[event.kind] += 1
        self._bytes += len(key) + len(value)
        if len(self._values) < self._values_wanted:
            self._values.append(value)
            self._values_distinct += event.event_id not in self._ids
        if len(self._sample) < self._wanted:
            self._sample.append(event)
        if event.event_id not in self._ids:
            self._ids.add(event.event_id)
            if self._builder is not None:
                fold_event(self._builder, event)

    def contents(self) -> TopicContents:
        return TopicContents(
            records=self._kinds.total(),
            distinct=len(self._ids),
            bytes=self._bytes,
            kinds=dict(sorted(self._kinds.items())),
            delta=None if self._builder is None else self._builder.delta,
            sample=tuple(self._sample),
            values=self._values,
            values_distinct=self._values_distinct,
        )
