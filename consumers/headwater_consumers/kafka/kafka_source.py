"""Kafka source: records of the events topic, as a member of a consumer group, with explicitly committed offsets.

librdkafka joins the group, sends heartbeats, fetches ahead and reconnects to brokers. This module adds the ownership of
partitions, each of one incarnation of the topic, and commits no offset of a partition that is no longer assigned.

An offset is committed with the topic id in its metadata. A recreated topic has another id and is read from its
beginning: an offset committed for the earlier topic of this name is ignored.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from headwater_consumers.kafka.attempts import SET_ASIDE_AFTER, Attempts
from headwater_consumers.kafka.incarnation import Incarnation
from headwater_consumers.kafka.notices import Notices, RetryCause
from headwater_consumers.kafka.offsets import (
    CommittedOffset,
    OffsetReader,
    PartitionOffsets,
    committable,
    start_offset,
)
from headwater_consumers.kafka.records import RECORD_MAX_BYTES, FetchedRecord, Partition, record_of
from headwater_consumers.kafka.source import Polled, SourceListener
from headwater_consumers.kafka.unfetchable import (
    CONSUMER_CONFIG,
    UNFETCHABLE,
    Unfetchable,
    at_end,
    bounds_config,
)
from headwater_schemas.errors import BrokerUnavailableError, FatalError
from headwater_schemas.kafka.errors import kafka_failure, refuses_certificate

if TYPE_CHECKING:
    from confluent_kafka import Message


log = logging.getLogger("headwater.consume")

_REQUEST_SECONDS = 5.0
# Maximum number of records taken from librdkafka's local queue at a time, without waiting. Fewer are taken if that many
# records of the previous average size would exceed the byte budget.
_CHUNK_RECORDS = 250
# Bound of one compressed fetch response. librdkafka raises the bound to `message.max.bytes`, and a broker sends a
# larger record batch as a whole, so consumption never gets stuck.
_FETCH_BYTES = 2 * 1024 * 1024
# Bound per partition: a whole batch, because all records may come from one partition.
_QUEUED_MESSAGES = 4_000


@dataclass(frozen=True, slots=True)
class SourceConfig:
    """Settings of a `KafkaSource`.

    Attributes:
        client: librdkafka settings with the bootstrap servers and the credentials.
        queued_kilobytes: librdkafka's fetch-ahead, all partitions together. The fetch-ahead and the batches in flight
            take most of the process's memory.
        record_max_bytes: maximum length of a record; a longer one is reduced to its coordinates. A zstd batch may
            decompress to twice as much.
    """

    client: Mapping[str, Any]
    topic: str
    group: str
    queued_kilobytes: int = 4_096
    record_max_bytes: int = RECORD_MAX_BYTES

    @property
    def servers(self) -> str:
        """Bootstrap servers, for messages."""
        return str(self.client.get("bootstrap.servers", ""))

    def consumer_config(self) -> dict[str, Any]:
        """Return librdkafka's settings. The user's settings override tuning, but nothing that the source relies on."""
        return {
            # A killed consumer holds its partitions for this time instead of 45 s. librdkafka's own thread sends
            # heartbeats, so neither a long write nor Python's lock delays them.
            "session.timeout.ms": 15_000,
            "queued.max.messages.kbytes": self.queued_kilobytes,
            # `queued_kilobytes` limits the values of all partitions together. It is checked before a fetch, so the
            # fetched records come in addition, uncompressed. It doesn't include librdkafka's overhead of some hundred
            # bytes per message, so the number of messages per partition is limited, too: with the default of 100,000,
            # eight partitions of small messages would take more memory than everything else.
            "fetch.max.bytes": min(_FETCH_BYTES, self.queued_kilobytes * 1024),
            "queued.min.messages": _QUEUED_MESSAGES,
            **bounds_config(self.record_max_bytes),
            # A new or deleted topic is noticed within this time, instead of five minutes.
            "topic.metadata.refresh.interval.ms": 30_000,
            # Reconnection within two seconds of a broker's return, instead of ten by default.
            "reconnect.backoff.max.ms": 2_000,
            **self.client,
            **CONSUMER_CONFIG,
            "group.id": self.group,
            "client.id": "headwater-materializer",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "partition.assignment.strategy": "cooperative-sticky",
            "allow.auto.create.topics": False,
            "statistics.interval.ms": 2_000,
        }


class ClientCallbacks:
    """Callbacks of librdkafka, `error_cb` and `stats_cb`, and their errors. They run within a poll, on its thread.

    Args:
        servers: bootstrap servers, for messages.

    Attributes:
        reachable: True if a broker was connected at the last callback.
    """

    def __init__(self, servers: str, notices: Notices) -> None:
        self._servers = servers
        self._notices = notices
        self._fatal: FatalError | None = None
        self._last_error: KafkaError | None = None
        self.reachable = False

    def raise_fatal(self) -> None:
        """Raise the fatal error that a callback has received, if any.

        Raises:
            FatalError: a callback received a fatal error.
        """
        if self._fatal is not None:
            raise self._fatal

    def on_error(self, error: KafkaError) -> None:
        """Handle an error, as librdkafka's `error_cb`."""
        # One unreachable broker of several isn't a fault. If all are unreachable, the last broker's error is the most
        # precise one.
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001 - librdkafka's own name
            self._last_error = error
            # An expired certificate of one broker must not stop the consumer while other brokers work.
            if not refuses_certificate(error):
                self.recorded(error, "consuming")
            return
        self.reachable = False
        self.trouble(self._last_error or error)

    def on_stats(self, document: str) -> None:
        """Read statistics, as librdkafka's `stats_cb`."""
        brokers = json.loads(document).get("brokers", {}).values()
        self.reachable = any(broker.get("state") == "UP" for broker in brokers)

    def trouble(self, error: KafkaError) -> None:
        """Handle an error of consuming, temporary or fatal."""
        failure = self.recorded(error, "consuming")
        if not isinstance(failure, FatalError):
            self._notices.trouble(RetryCause.BROKER, str(failure))

    def notice(self, error: KafkaException, doing: str) -> None:
        """Record a failure that is retried."""
        self._notices.trouble(RetryCause.BROKER, str(self.classified(error, doing)))

    def recorded(self, error: KafkaError | KafkaException, doing: str) -> BrokerUnavailableError | FatalError:
        """Translate an error of librdkafka. A fatal error is recorded for `raise_fatal`."""
        failure = self.classified(error, doing)
        if isinstance(failure, FatalError):
            self._fatal = failure
        return failure

    def classified(self, error: KafkaError | KafkaException, doing: str) -> BrokerUnavailableError | FatalError:
        """Translate an error of librdkafka, to be raised by the caller."""
        return kafka_failure(error, servers=self._servers, doing=doing)


class Ownership:
    """Assigned partitions, with the topic's incarnation and the committed offsets.

    The source's callbacks update this object, all on one thread.
    """

    def __init__(self) -> None:
        self._owned: dict[tuple[str, int], Partition] = {}
        self._committed: dict[Partition, int] = {}

    @property
    def partitions(self) -> frozenset[Partition]:
        """Assigned partitions."""
        return frozenset(self._owned.values())

    def find(self, topic: str | None, number: int | None) -> Partition | None:
        """Return an assigned partition by topic and number; None if it isn't assigned."""
        return self._owned.get((topic or "", -1 if number is None else number))

    def those(self, partitions: Iterable[TopicPartition]) -> frozenset[Partition]:
        """Return those of these partitions that are assigned."""
        found = (self.find(p.topic, p.partition) for p in partitions)
        return frozenset(partition for partition in found if partition is not None)

    def take(
        self, partitions: Iterable[TopicPartition], topic_id: str, committed: Mapping[tuple[str, int], CommittedOffset]
    ) -> frozenset[Partition]:
        """Record newly assigned partitions of the incarnation `topic_id`."""
        taken = frozenset(Partition(p.topic, p.partition, topic_id) for p in partitions)
        for partition in taken:
            key = (partition.topic, partition.number)
            self._owned[key] = partition
            known = committed.get(key)
            if known is not None and known.topic_id in {"", topic_id}:
                self._committed[partition] = known.offset
        return taken

    def give(self, partitions: Iterable[TopicPartition]) -> None:
        """Record that partitions are no longer assigned."""
        for partition in partitions:
            owned = self._owned.pop((partition.topic, partition.partition), None)
            if owned is not None:
                self._committed.pop(owned, None)

    def ours(self, offsets: Mapping[Partition, int]) -> dict[Partition, int]:
        """Keep the offsets of assigned partitions in their current incarnation."""
        return {p: offset for p, offset in offsets.items() if self.find(p.topic, p.number) == p}

    def confirm(self, offsets: Mapping[Partition, int]) -> None:
        """Record committed offsets."""
        self._committed.update(self.ours(offsets))

    def committed(self, partition: Partition) -> int | None:
        """Return the committed offset of a partition; None if no offset is committed."""
        return self._committed.get(partition)


class KafkaSource:
    """Consumer of the events topic. Call `subscribe`, then `poll` often, then `close`."""

    def __init__(self, config: SourceConfig, *, clock: Callable[[], float], notices: Notices) -> None:
        self._config = config
        self._callbacks = ClientCallbacks(config.servers, notices)
        self._ownership = Ownership()
        self._committing: dict[Partition, int] = {}
        self._listener: SourceListener | None = None
        self._paused = self._holding = False
        self._rebalanced = False
        self._attempts = Attempts()
        self._unfetchable = Unfetchable()
        # Constructed last: callbacks need all attributes above.
        self._offsets = OffsetReader(config.client, group=config.group)
        self._incarnation = Incarnation(config.topic, self._offsets, self._callbacks.notice, clock)
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
        """True if a broker was connected at the last check."""
        return self._callbacks.reachable

    def subscribe(self, listener: SourceListener) -> None:
        """Join the group. Returns at once; partitions are assigned during later polls."""
        self._listener = listener
        self._consumer.subscribe(
            [self._config.topic], on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
        )

    def poll(self, *, max_records: int, max_bytes: int, timeout_seconds: float) -> Polled:
        """Return records as soon as there are any; empty after the timeout.

        Raises:
            FatalError: credentials refused.
        """
        self._rebalanced = False
        self._set_pause(paused=self._paused, holding=self._attempts.at_once == 0)
        messages: list[Message] = []
        first = self._consumer.poll(timeout_seconds)
        if first is None:
            self._unfetchable.drained()
        else:
            messages.append(first)
            size = len(first)
            # Read only now, because partitions may have been assigned during the poll.
            if (at_once := self._attempts.at_once) is not None:
                max_records = min(max_records, at_once)
            while (room := max_records - len(messages)) > 0 and size < max_bytes:
                fitting = (max_bytes - size) * len(messages) // max(1, size)
                chunk = self._consumer.consume(min(room, _CHUNK_RECORDS, max(1, fitting)), 0)
                if not chunk:
                    break
                messages += chunk
                size += sum(map(len, chunk))
        self._callbacks.raise_fatal()
        polled = self._received(messages)
        if self._incarnation.check(self._ownership.partitions):
            self._join_anew()
        return polled

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Start a commit; the listener is called with the result within a later poll."""
        try:
            ours = self._ours(offsets)
            if not ours:
                self._require_listener().committed(None)
                return
            self._committing = ours
            self._consumer.commit(offsets=committable(ours, self._attempts.begun_by), asynchronous=True)
        except KafkaException as error:
            self._commit_ended(error.args[0])

    def commit_now(self, offsets: Mapping[Partition, int]) -> None:
        """Commit, and wait for the brokers' confirmation.

        Raises:
            BrokerUnavailableError: the brokers haven't confirmed the commit.
            FatalError: the brokers refuse the commit for good.
        """
        try:
            ours = self._ours(offsets)
            if not ours:
                return
            committed = self._consumer.commit(offsets=committable(ours, self._attempts.begun_by), asynchronous=False)
        except KafkaException as error:
            raise self._callbacks.classified(error, "committing offsets") from error
        for partition in committed or ():
            if partition.error is not None:
                raise self._callbacks.classified(partition.error, "committing offsets")
        self._confirm(ours)

    def _ours(self, offsets: Mapping[Partition, int]) -> dict[Partition, int]:
        """Keep the offsets of assigned partitions; none if the topic was recreated: the next poll then rejoins.

        Raises:
            KafkaException: the brokers don't answer.
        """
        ours = self._ownership.ours(offsets)
        return {} if self._incarnation.was_recreated(ours) else ours

    def pause(self) -> None:
        """Let polls return no records until `resume`."""
        self._set_pause(paused=True, holding=self._holding)

    def resume(self) -> None:
        """End a pause."""
        self._set_pause(paused=False, holding=self._holding)

    def _set_pause(self, *, paused: bool, holding: bool) -> None:
        before, after = self._paused or self._holding, paused or holding
        self._paused, self._holding = paused, holding
        if after != before:
            (self._consumer.pause if after else self._consumer.resume)(self._consumer.assignment())

    def positions(self) -> list[PartitionOffsets]:
        """Return the bounds and the group's offsets of all partitions of the topic, assigned or not.

        Raises:
            BrokerUnavailableError: the brokers don't answer now.
            FatalError: the user may not read them.
        """
        try:
            return self._offsets.positions(self._config.topic, timeout_seconds=_REQUEST_SECONDS)
        except KafkaException as error:
            raise self._callbacks.classified(error, "reading offsets") from error

    def standing(self) -> list[PartitionOffsets]:
        """Return the bounds of the assigned partitions and the group's offsets at the last fetch, without a request.

        Partitions with an unknown end are left out.
        """
        found = []
        for partition in self._ownership.partitions:
            at = TopicPartition(partition.topic, partition.number)
            begin, end = self._consumer.get_watermark_offsets(at, cached=True)
            if end >= 0:
                found.append(PartitionOffsets(partition, begin, end, self._ownership.committed(partition)))
        return found

    def close(self) -> None:
        """Leave the group. Assigned partitions are revoked first."""
        self._consumer.close()

    def _received(self, messages: list[Message]) -> Polled:
        records: list[FetchedRecord] = []
        reached: dict[Partition, int] = {}
        sought: set[Partition] = set()
        for message in messages:
            offset, error = message.offset(), message.error()
            partition = self._ownership.find(message.topic(), message.partition())
            if error is not None and not at_end(error) and (partition is None or error.code() not in UNFETCHABLE):
                self._callbacks.trouble(error)
                if error.code() == KafkaError._MAX_POLL_EXCEEDED:  # noqa: SLF001 - librdkafka's own name
                    self._attempts.stalled()
            if partition is None or offset is None or partition in sought:
                continue
            if error is not None and error.code() in UNFETCHABLE:
                self._seek(partition, self._unfetchable.failed(partition, offset, error.str()))
                sought.add(partition)  # this batch's later records were fetched before the seek
            elif offset >= self._unfetchable.expects(partition) and (error is None or at_end(error)):
                records += self._passed(partition, offset)
                if error is None:
                    records.append(record_of(message, partition, offset, max_bytes=self._config.record_max_bytes))
                else:
                    reached[partition] = offset
        if self._rebalanced:
            records = after_rewind(records)
        return Polled(tuple(self._handed(records, reached)), reached)

    def _handed(self, records: list[FetchedRecord], reached: Mapping[Partition, int]) -> list[FetchedRecord]:
        """Return the records to pass on, after recording the attempts at them."""
        if first := self._attempts.begins(records):
            self._record(first, self._attempts.beginning)
        handed = self._attempts.handing(records)
        for record in handed:
            if record.ends_consumers:
                log.warning(
                    "Consumers ended %d times in a row while they processed %s: the record becomes a dead letter.",
                    SET_ASIDE_AFTER,
                    record,
                )
        if ended := {partition: at for partition, at in reached.items() if self._attempts.at_end(partition)}:
            self._record(ended, lambda _: ())
        return handed

    def _record(self, offsets: Mapping[Partition, int], begun_by: Callable[[Partition], Iterable[str]]) -> None:
        """Commit the group's current offsets, or the first ones of a new group, with these ids in the metadata."""
        try:
            self._consumer.commit(offsets=committable(offsets, begun_by), asynchronous=False)
        except KafkaException as error:
            self._callbacks.notice(error, "recording how often records were begun")
        else:
            self._ownership.confirm(offsets)

    def _passed(self, partition: Partition, offset: int) -> list[FetchedRecord]:
        unread = self._unfetchable.passed(partition, offset)
        if unread is None or unread.unread is None:
            return []
        log.warning(
            "Kafka: %s can't be read: %s. A dead letter has its coordinates; consumption continues after it.",
            unread,
            unread.unread.why,
        )
        return [unread]

    def _seek(self, partition: Partition, offset: int) -> None:
        try:
            self._consumer.seek(TopicPartition(partition.topic, partition.number, offset))
        except KafkaException as error:
            # The next fetch fails at the same offset.
            self._callbacks.notice(error, f"reading {partition} from offset {offset}")

    # Callbacks of librdkafka: all within `poll`, `consume` or `close`, on the calling thread. Calls from a client that
    # `_join_anew` has replaced are ignored.

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._rebalanced = True
        topic_id, committed = self._incarnation.of(partitions)
        starts = [
            TopicPartition(p.topic, p.partition, start_offset(committed.get((p.topic, p.partition)), topic_id))
            for p in partitions
        ]
        consumer.incremental_assign(starts)
        # Explicit resume: librdkafka keeps a partition paused that was revoked during a pause and is assigned again.
        if starts:
            (consumer.pause if self._paused or self._holding else consumer.resume)(starts)
        taken = self._ownership.take(partitions, topic_id, committed)
        for partition in taken:
            known = committed.get((partition.topic, partition.number))
            self._attempts.assigned(partition, known.begun_by if known and known.topic_id == topic_id else ())
        self._require_listener().assigned(taken)

    def _on_revoke(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if consumer is not self._consumer:
            return
        self._rebalanced = True
        those = self._ownership.those(partitions)
        self._require_listener().revoked(those)
        # This attempt doesn't count: a consumer that stops normally wasn't ended by a record.
        recorded = {p: self._ownership.committed(p) for p in those if self._attempts.is_recorded(p)}
        if offsets := {partition: offset for partition, offset in recorded.items() if offset is not None}:
            self._record(offsets, lambda _: ())
        self._give(partitions)
        consumer.incremental_unassign(partitions)

    def _on_lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if consumer is not self._consumer:
            return
        self._rebalanced = True
        those = self._ownership.those(partitions)
        self._give(partitions)
        self._require_listener().lost(those)
        consumer.incremental_unassign(partitions)

    def _give(self, partitions: list[TopicPartition]) -> None:
        for partition in self._ownership.those(partitions):
            self._unfetchable.forget(partition)
            self._attempts.forget(partition)
        self._ownership.give(partitions)

    def _on_commit(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        self._commit_ended(error or next((p.error for p in partitions if p.error is not None), None))

    def _commit_ended(self, error: KafkaError | None) -> None:
        failure = None if error is None else self._callbacks.recorded(error, "committing offsets")
        if failure is None:
            self._callbacks.reachable = True  # statistics arrive only every two seconds
            self._confirm(self._committing)
        if not isinstance(failure, FatalError):
            self._require_listener().committed(failure)

    def _confirm(self, offsets: Mapping[Partition, int]) -> None:
        self._ownership.confirm(offsets)
        self._attempts.committed(offsets)

    def _require_listener(self) -> SourceListener:
        """Return the subscribed listener.

        Raises:
            RuntimeError: nothing subscribed yet.
        """
        if self._listener is None:
            raise RuntimeError("subscribe first")
        return self._listener

    def _join_anew(self) -> None:
        """Leave the group, and join it with a new client without state of the topic.

        Partitions of a new topic begin with leader epoch 0. While librdkafka remembers higher epochs, from elections in
        the deleted topic, it considers the new ones outdated and fetches nothing.
        """
        self._on_lost(self._consumer, [TopicPartition(p.topic, p.number) for p in self._ownership.partitions])
        left, self._consumer = self._consumer, self._client()
        left.close()
        self._require_listener().committed(None)  # the outcome of the current commit is lost with the old client
        self.subscribe(self._require_listener())


def after_rewind(records: list[FetchedRecord]) -> list[FetchedRecord]:
    """Drop records that were fetched before their partition was reassigned from an earlier offset, during this poll.

    Otherwise the later offset could be committed before the earlier records are applied.
    """
    kept: list[FetchedRecord] = []
    lowest: dict[Partition, int] = {}
    for record in reversed(records):
        if record.offset < lowest.get(record.partition, record.offset + 1):
            lowest[record.partition] = record.offset
            kept.append(record)
    return kept[::-1]
