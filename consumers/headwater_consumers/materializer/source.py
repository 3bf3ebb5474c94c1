"""The source: records of the events topic, as a member of a consumer group, with offsets committed by hand.

What librdkafka does by itself (joining, heartbeats, fetching ahead, finding brokers again) is left to it. What is added
here: who owns which partition of which incarnation of the topic, and that a batch never outlives its partition.

An offset is committed with the topic id in its metadata. A topic that was deleted and created again has another id, and
is read from its beginning, whatever offset was committed for the topic of the same name before.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, KafkaError, KafkaException, TopicPartition

from headwater_consumers.materializer import kafka_errors
from headwater_consumers.materializer.errors import BrokerUnavailableError, FatalError
from headwater_consumers.materializer.offsets import OffsetReader, committed_metadata, start_offset
from headwater_consumers.materializer.records import Headers, Partition, Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from confluent_kafka import Message

_log = logging.getLogger(__name__)

# How soon a topic that was deleted and created again is noticed. One small request.
INCARNATION_CHECK_SECONDS = 15.0
_REQUEST_SECONDS = 5.0
# Taken from librdkafka's local queue at a time, without waiting, so that a byte budget can't be overrun by more.
_CHUNK_RECORDS = 250


@dataclass(frozen=True, slots=True)
class Polled:
    """What one poll brought.

    Attributes:
        records: in order within each partition; only of partitions that are ours now.
        reached: partitions whose end was met, with the offset to consume next there.
    """

    records: tuple[Record, ...] = ()
    reached: Mapping[Partition, int] = field(default_factory=dict)


class RebalanceListener(Protocol):
    """Who has to know which partitions are ours. Called within `poll` and `close`, on their thread."""

    def assigned(self, partitions: frozenset[Partition]) -> None:
        """These are ours now, from their committed offset on."""

    def revoked(self, partitions: frozenset[Partition]) -> None:
        """These will be another's on return; until then their offsets can be committed."""

    def lost(self, partitions: frozenset[Partition]) -> None:
        """These are another's already: drop what is in hand of them, commit nothing."""


class Source(Protocol):
    """Where records come from. One thread polls; `commit` may be called from another."""

    def subscribe(self, listener: RebalanceListener) -> None:
        """Join the group. Returns at once; partitions come with later polls."""

    def poll(self, *, max_records: int, max_bytes: int, timeout_seconds: float) -> Polled:
        """Records, as soon as there are any; empty after the timeout. Also keeps the membership alive.

        Args:
            max_records: at most so many.
            max_bytes: stop when there are so many; may be exceeded by what librdkafka holds in its queue.
            timeout_seconds: how long to wait for the first.

        Raises:
            FatalError: credentials refused.
        """

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Commit, and return once the broker has. Partitions that aren't ours any more are left out.

        Raises:
            BrokerUnavailableError: it hasn't, or not certainly.
            FatalError: it never will.
        """

    def pause(self) -> None:
        """Let polls bring no records, until `resume`; membership stays. Also holds for partitions assigned later."""

    def resume(self) -> None:
        """End a pause. Safe to call without one."""

    def unread(self) -> Mapping[Partition, int]:
        """End offset of every partition of the topic, whoever owns it, that the group hasn't committed that far.

        Raises:
            BrokerUnavailableError: it can't be told now.
        """

    @property
    def reachable(self) -> bool:
        """Whether a broker was connected when last looked at."""

    def close(self) -> None:
        """Leave the group. What is ours is revoked first."""


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """What a `KafkaSource` needs to know.

    Attributes:
        client: librdkafka settings that say where the cluster is and who we are.
        topic: the events topic.
        group: the consumer group.
        queued_kilobytes: librdkafka's fetch-ahead; with the three batches the bulk of the process's memory.
    """

    client: Mapping[str, Any]
    topic: str
    group: str
    queued_kilobytes: int = 16_384

    @property
    def servers(self) -> str:
        """Where the cluster is, for messages."""
        return str(self.client.get("bootstrap.servers", ""))

    def consumer_config(self) -> dict[str, Any]:
        """The consumer's librdkafka settings."""
        return {
            **self.client,
            "group.id": self.group,
            "client.id": "headwater-materializer",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "partition.assignment.strategy": "cooperative-sticky",
            "allow.auto.create.topics": False,
            "queued.max.messages.kbytes": self.queued_kilobytes,
            "fetch.max.bytes": self.queued_kilobytes * 1024,
            # A new or deleted topic is noticed within this, instead of five minutes.
            "topic.metadata.refresh.interval.ms": 30_000,
            # Recovery within seconds of a broker's return, not the default's ten.
            "reconnect.backoff.max.ms": 2_000,
            "statistics.interval.ms": 2_000,
        }


class KafkaSource:
    """The source for real. Construct, `subscribe`, `poll` often, `close`."""

    def __init__(
        self, settings: SourceSettings, *, clock: Callable[[], float], on_trouble: Callable[[str], None]
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._on_trouble = on_trouble
        self._fatal: FatalError | None = None
        self._reachable = False
        self._owned: dict[tuple[str, int], Partition] = {}
        self._listener: RebalanceListener | None = None
        self._paused = False
        self._rebalanced = False
        self._next_check = 0.0
        # Constructed last: callbacks need all of the above.
        self._offsets = OffsetReader(settings.client, group=settings.group)
        self._consumer = Consumer(
            settings.consumer_config() | {"error_cb": self._on_error, "stats_cb": self._on_stats},
            logger=_log,
        )

    @property
    def reachable(self) -> bool:
        """Whether a broker was connected when last looked at."""
        return self._reachable

    @property
    def owned(self) -> frozenset[Partition]:
        """The partitions that are ours."""
        return frozenset(self._owned.values())

    def subscribe(self, listener: RebalanceListener) -> None:
        """Join the group. Returns at once; partitions come with later polls."""
        self._listener = listener
        self._consumer.subscribe(
            [self._settings.topic], on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
        )

    def poll(self, *, max_records: int, max_bytes: int, timeout_seconds: float) -> Polled:
        """Records, as soon as there are any; empty after the timeout.

        Raises:
            FatalError: credentials refused.
        """
        self._rebalanced = False
        messages: list[Message] = []
        first = self._consumer.poll(timeout_seconds)
        if first is not None:
            messages.append(first)
            size = len(first)
            while (room := max_records - len(messages)) > 0 and size < max_bytes:
                chunk = self._consumer.consume(min(room, _CHUNK_RECORDS), 0)
                if not chunk:
                    break
                messages += chunk
                size += sum(map(len, chunk))
        if self._fatal is not None:
            raise self._fatal
        polled = self._received(messages)
        self._check_incarnation()
        return polled

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Commit, and return once the broker has.

        Raises:
            BrokerUnavailableError: it hasn't, or not certainly.
            FatalError: it never will.
        """
        owned = self._owned
        wanted = [
            TopicPartition(p.topic, p.number, offset, committed_metadata(p.topic_id))
            for p, offset in offsets.items()
            if owned.get((p.topic, p.number)) == p
        ]
        if not wanted:
            return
        try:
            committed = self._consumer.commit(offsets=wanted, asynchronous=False)
        except KafkaException as error:
            raise self._classified(error, "committing offsets") from error
        for partition in committed or ():
            if partition.error is not None:
                raise self._classified(partition.error, "committing offsets")

    def pause(self) -> None:
        """Let polls bring no records, until `resume`."""
        if not self._paused:
            self._paused = True
            self._consumer.pause(self._consumer.assignment())

    def resume(self) -> None:
        """End a pause."""
        if self._paused:
            self._paused = False
            self._consumer.resume(self._consumer.assignment())

    def unread(self) -> Mapping[Partition, int]:
        """End offset of every partition of the topic that the group hasn't committed that far.

        Raises:
            BrokerUnavailableError: it can't be told now.
        """
        try:
            positions = self._offsets.positions(self._settings.topic, timeout_seconds=_REQUEST_SECONDS)
        except KafkaException as error:
            raise self._classified(error, "reading offsets") from error
        return {position.partition: position.end for position in positions if position.pending}

    def close(self) -> None:
        """Leave the group. What is ours is revoked first."""
        self._consumer.close()

    def _received(self, messages: list[Message]) -> Polled:
        records: list[Record] = []
        reached: dict[Partition, int] = {}
        for message in messages:
            topic, number, offset = message.topic(), message.partition(), message.offset()
            error = message.error()
            partition = self._owned.get((topic, number)) if topic is not None and number is not None else None
            if error is not None:
                if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's own name
                    self._trouble(error)
                elif partition is not None and offset is not None:
                    reached[partition] = offset
            elif partition is not None and offset is not None:
                records.append(_record(message, partition, offset))
        if self._rebalanced:
            records = _after_rewind(records)
        return Polled(tuple(records), reached)

    # Callbacks of librdkafka: all within `poll`, `consume` or `close`, on the calling thread.

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._rebalanced = True
        assigned, starts = self._incarnated(partitions)
        consumer.incremental_assign(starts)
        if self._paused and starts:
            consumer.pause(starts)
        self._owned = {**self._owned, **assigned}
        self._told().assigned(frozenset(assigned.values()))

    def _on_revoke(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._rebalanced = True
        self._told().revoked(self._those(partitions))
        self._disown(partitions)
        consumer.incremental_unassign(partitions)

    def _on_lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._rebalanced = True
        those = self._those(partitions)
        self._disown(partitions)
        self._told().lost(those)
        consumer.incremental_unassign(partitions)

    def _on_error(self, error: KafkaError) -> None:
        if error.code() == KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001 - librdkafka's own name
            self._reachable = False
        self._trouble(error)

    def _on_stats(self, document: str) -> None:
        brokers = json.loads(document).get("brokers", {}).values()
        self._reachable = any(broker.get("state") == "UP" for broker in brokers)

    def _trouble(self, error: KafkaError) -> None:
        meant = self._classified(error, "consuming")
        if isinstance(meant, FatalError):
            self._fatal = meant
        else:
            self._on_trouble(str(meant))

    def _classified(self, error: KafkaError | KafkaException, doing: str) -> BrokerUnavailableError | FatalError:
        meant = kafka_errors.classify(error, servers=self._settings.servers, doing=doing)
        return meant if isinstance(meant, FatalError | BrokerUnavailableError) else BrokerUnavailableError(str(meant))

    def _told(self) -> RebalanceListener:
        if self._listener is None:
            raise RuntimeError("subscribe first")
        return self._listener

    def _those(self, partitions: list[TopicPartition]) -> frozenset[Partition]:
        return frozenset(owned for p in partitions if (owned := self._owned.get((p.topic, p.partition))) is not None)

    def _disown(self, partitions: list[TopicPartition]) -> None:
        gone = {(p.topic, p.partition) for p in partitions}
        # A new dict, never a changed one: the writer's thread reads it in `commit`.
        self._owned = {key: owned for key, owned in self._owned.items() if key not in gone}

    def _incarnated(
        self, partitions: list[TopicPartition]
    ) -> tuple[dict[tuple[str, int], Partition], list[TopicPartition]]:
        """Which incarnation they are of, and where to start in it."""
        try:
            topic_id = self._offsets.topic_id(self._settings.topic, timeout_seconds=_REQUEST_SECONDS)
            committed = self._offsets.committed(partitions, timeout_seconds=_REQUEST_SECONDS)
        except KafkaException as error:
            # Start as librdkafka would, and look again soon: the id "" then counts as another incarnation.
            self._on_trouble(str(self._classified(error, "looking up the topic's id")))
            self._next_check = self._clock()
            topic_id, committed = "", {}
        assigned = {(p.topic, p.partition): Partition(p.topic, p.partition, topic_id) for p in partitions}
        starts = [
            TopicPartition(p.topic, p.partition, start_offset(committed.get((p.topic, p.partition)), topic_id))
            for p in partitions
        ]
        return assigned, starts

    def _check_incarnation(self) -> None:
        """Start over in a topic that was deleted and created again behind librdkafka's back."""
        if self._clock() < self._next_check or not self._owned:
            return
        self._next_check = self._clock() + INCARNATION_CHECK_SECONDS
        try:
            topic_id = self._offsets.topic_id(self._settings.topic, timeout_seconds=_REQUEST_SECONDS)
        except KafkaException:
            return
        stale = [TopicPartition(p.topic, p.number) for p in self._owned.values() if p.topic_id != topic_id]
        if stale:
            self._on_lost(self._consumer, stale)
            self._on_assign(self._consumer, stale)


def _record(message: Message, partition: Partition, offset: int) -> Record:
    kind, milliseconds = message.timestamp()
    return Record(
        partition,
        offset,
        value=message.value(),
        key=message.key(),
        headers=_headers(message),
        timestamp_ms=None if kind == TIMESTAMP_NOT_AVAILABLE else milliseconds,
    )


def _headers(message: Message) -> Headers:
    raw = message.headers() or ()
    pairs = raw.items() if isinstance(raw, dict) else raw
    return tuple((name, value.encode() if isinstance(value, str) else value) for name, value in pairs)


def _after_rewind(records: list[Record]) -> list[Record]:
    """Without what came before a partition was assigned anew from an earlier offset, in the middle of a poll.

    Keeping it would let the later offset be committed before the earlier records are applied.
    """
    kept: list[Record] = []
    lowest: dict[Partition, int] = {}
    for record in reversed(records):
        if record.offset < lowest.get(record.partition, record.offset + 1):
            lowest[record.partition] = record.offset
            kept.append(record)
    return kept[::-1]
