"""The Kafka source: records of the events topic, as a member of a consumer group, with offsets committed explicitly.

What librdkafka does by itself (joining, heartbeats, fetching ahead, finding brokers again) is left to it. What is added
here: who owns which partition of which incarnation of the topic, and that a batch never outlives its partition.

An offset is committed with the topic id in its metadata. A topic that was deleted and created again has another id, and
is read from its beginning, whatever offset was committed for the topic of the same name before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from headwater_consumers.materializer.incarnation import Incarnation
from headwater_consumers.materializer.kafka_callbacks import ClientCallbacks
from headwater_consumers.materializer.kafka_records import after_rewind, record_of
from headwater_consumers.materializer.offsets import OffsetReader, PartitionOffsets, start_offset
from headwater_consumers.materializer.ownership import Ownership, committable
from headwater_consumers.materializer.source import Polled
from headwater_schemas.errors import FatalError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from confluent_kafka import Message

    from headwater_consumers.materializer.kafka_config import SourceConfig
    from headwater_consumers.materializer.records import Partition, Record
    from headwater_consumers.materializer.reporting import Notices
    from headwater_consumers.materializer.source import SourceListener

_REQUEST_SECONDS = 5.0
# Most records taken from librdkafka's local queue at a time, without waiting. Fewer, where those before were so large
# that this many would overrun the byte budget.
_CHUNK_RECORDS = 250


class KafkaSource:
    """Consumer of the events topic. Construct, `subscribe`, `poll` often, `close`."""

    def __init__(self, config: SourceConfig, *, clock: Callable[[], float], notices: Notices) -> None:
        self._config = config
        self._callbacks = ClientCallbacks(config.servers, notices)
        self._ownership = Ownership()
        self._committing: dict[Partition, int] = {}
        self._listener: SourceListener | None = None
        self._paused = False
        self._rebalanced = False
        # Constructed last: callbacks need all of the above.
        self._offsets = OffsetReader(config.client, group=config.group)
        self._incarnation = Incarnation(config.topic, self._offsets, self._callbacks, clock)
        self._consumer = self._client()

    def _client(self) -> Consumer:
        callbacks = {
            "error_cb": self._callbacks.on_error,
            "stats_cb": self._callbacks.on_stats,
            "on_commit": self._on_commit,
        }
        return Consumer(self._config.consumer_config() | callbacks)

    @property
    def reachable(self) -> bool:
        """Whether a broker was connected when last looked at."""
        return self._callbacks.reachable

    def subscribe(self, listener: SourceListener) -> None:
        """Join the group. Returns at once; partitions come with later polls."""
        self._listener = listener
        self._consumer.subscribe(
            [self._config.topic], on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
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
                fitting = (max_bytes - size) * len(messages) // max(1, size)
                chunk = self._consumer.consume(min(room, _CHUNK_RECORDS, max(1, fitting)), 0)
                if not chunk:
                    break
                messages += chunk
                size += sum(map(len, chunk))
        self._callbacks.raise_fatal()
        polled = self._received(messages)
        if self._incarnation.is_another_than(self._ownership.partitions):
            self._join_anew()
        return polled

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Start to commit; the listener is called with the answer within a later poll."""
        ours = self._ownership.ours(offsets)
        if not ours:
            self._require_listener().committed(None)
            return
        self._committing = ours
        try:
            self._consumer.commit(offsets=committable(ours), asynchronous=True)
        except KafkaException as error:
            self._answer(error.args[0])

    def commit_now(self, offsets: Mapping[Partition, int]) -> None:
        """Commit, and return once the brokers have.

        Raises:
            BrokerUnavailableError: they haven't, or not certainly.
            FatalError: they never will.
        """
        ours = self._ownership.ours(offsets)
        if not ours:
            return
        try:
            committed = self._consumer.commit(offsets=committable(ours), asynchronous=False)
        except KafkaException as error:
            raise self._callbacks.classified(error, "committing offsets") from error
        for partition in committed or ():
            if partition.error is not None:
                raise self._callbacks.classified(partition.error, "committing offsets")
        self._ownership.confirm(ours)

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

    def positions(self) -> list[PartitionOffsets]:
        """Where every partition of the topic and the group's offsets in it stand, whoever owns it.

        Raises:
            BrokerUnavailableError: the brokers don't answer now.
            FatalError: it may not be asked.
        """
        try:
            return self._offsets.positions(self._config.topic, timeout_seconds=_REQUEST_SECONDS)
        except KafkaException as error:
            raise self._callbacks.classified(error, "reading offsets") from error

    def lag(self) -> Mapping[Partition, int]:
        """Offsets between what is committed and the end, for our partitions, as of the last fetch; asks no broker."""
        behind = {}
        for partition in self._ownership.partitions:
            at = TopicPartition(partition.topic, partition.number)
            begin, end = self._consumer.get_watermark_offsets(at, cached=True)
            if end >= 0:  # below: not known yet
                behind[partition] = self._ownership.behind(partition, begin, end)
        return behind

    def close(self) -> None:
        """Leave the group. What is ours is revoked first."""
        self._consumer.close()

    def _received(self, messages: list[Message]) -> Polled:
        records: list[Record] = []
        reached: dict[Partition, int] = {}
        for message in messages:
            offset, error = message.offset(), message.error()
            partition = self._ownership.find(message.topic(), message.partition())
            if error is not None:
                if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's own name
                    self._callbacks.trouble(error)
                elif partition is not None and offset is not None:
                    reached[partition] = offset
            elif partition is not None and offset is not None:
                records.append(record_of(message, partition, offset))
        if self._rebalanced:
            records = after_rewind(records)
        return Polled(tuple(records), reached)

    # Callbacks of librdkafka: all within `poll`, `consume` or `close`, on the calling thread. A client that was left
    # behind revokes what is no longer ours.

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._rebalanced = True
        topic_id, committed = self._incarnation.of(partitions)
        starts = [
            TopicPartition(p.topic, p.partition, start_offset(committed.get((p.topic, p.partition)), topic_id))
            for p in partitions
        ]
        consumer.incremental_assign(starts)
        # Either way: librdkafka keeps a partition paused that went during a pause, also once it comes back.
        if starts:
            (consumer.pause if self._paused else consumer.resume)(starts)
        self._require_listener().assigned(self._ownership.take(partitions, topic_id, committed))

    def _on_revoke(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if consumer is not self._consumer:
            return
        self._rebalanced = True
        self._require_listener().revoked(self._ownership.those(partitions))
        self._ownership.give(partitions)
        consumer.incremental_unassign(partitions)

    def _on_lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if consumer is not self._consumer:
            return
        self._rebalanced = True
        those = self._ownership.those(partitions)
        self._ownership.give(partitions)
        self._require_listener().lost(those)
        consumer.incremental_unassign(partitions)

    def _on_commit(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        self._answer(error or next((p.error for p in partitions if p.error is not None), None))

    def _answer(self, error: KafkaError | None) -> None:
        meant = None if error is None else self._callbacks.recorded(error, "committing offsets")
        if meant is None:
            self._callbacks.reachable = True  # statistics come only every two seconds
            self._ownership.confirm(self._committing)
        if not isinstance(meant, FatalError):
            self._require_listener().committed(meant)

    def _require_listener(self) -> SourceListener:
        """The subscribed listener.

        Raises:
            RuntimeError: nothing subscribed yet.
        """
        if self._listener is None:
            raise RuntimeError("subscribe first")
        return self._listener

    def _join_anew(self) -> None:
        """Leave the group, and join it with a client that knows nothing of the topic.

        Partitions of a new topic begin with leader epoch 0. While librdkafka remembers higher ones, from elections in
        the topic that is gone, it takes the new ones for outdated and fetches nothing.
        """
        self._on_lost(self._consumer, [TopicPartition(p.topic, p.number) for p in self._ownership.partitions])
        left, self._consumer = self._consumer, self._client()
        left.close()
        self._require_listener().committed(
            None
        )  # of what was being committed nothing is ours; its answer went with the client
        self.subscribe(self._require_listener())
