"""SchemaStore: writers' schemas by fingerprint, both released schemas and schemas published on the schemas topic.

Kafka acknowledges a publisher's schema before the publisher sends its first event. So a reader of an event finds
its schema in the topic, read to its end. Two kinds of schemas are skipped: those that can't be parsed, and those beyond
the first 1,000.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition

from headwater_schemas.avro_schema import AvroSchema, released_schemas
from headwater_schemas.errors import FatalError, LineageError, SchemasUnavailableError
from headwater_schemas.kafka.errors import concerns_group, credentials_refused, kafka_failure, refuses_credentials

if TYPE_CHECKING:
    from confluent_kafka import Message
    from confluent_kafka.admin import TopicMetadata

logger = logging.getLogger(__name__)

# A missing fingerprint is looked up again after this time: garbage with a valid header must not cost a round trip per
# record, but a schema that is published late (before a dead letter's replay) must be found.
ASK_AGAIN_SECONDS = 60.0
_UNKNOWN_TOPIC = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION}  # noqa: SLF001
_MOST_SCHEMAS = 1_000
_POLL_SECONDS = 0.2
_REFRESH_SECONDS = 10.0
_SLICE_SECONDS = 0.5


class SchemaStore:
    """Schemas by fingerprint. Safe to use from many threads; only one thread at a time refreshes.

    Args:
        consumer_conf: librdkafka settings, at least `bootstrap.servers`. No group is joined and nothing is committed.
        make_consumer: `confluent_kafka.Consumer`, or a substitute.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        consumer_conf: Mapping[str, Any],
        topic: str,
        *,
        make_consumer: Callable[[dict[str, Any]], Consumer] = Consumer,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._conf = consumer_conf
        self._topic = topic
        self._make_consumer = make_consumer
        self._clock = clock
        self._schemas = {schema.fingerprint: schema for schema in released_schemas()}
        self._absent: dict[bytes, float] = {}
        self._next_offset: dict[int, int] = {}
        self._consumer: Consumer | None = None
        self._refused: KafkaError | None = None
        self._lock = threading.Lock()

    def find(self, fingerprint: bytes) -> AvroSchema | None:
        """Return the schema with this fingerprint of 8 bytes; None if the topic, read to its end, has no usable one.

        After a look-up in vain, the topic isn't read again for this fingerprint for `ASK_AGAIN_SECONDS`.

        Raises:
            SchemasUnavailableError: the schema isn't known here, and the topic can't be read to its end now.
            CredentialsRefusedError: the schema isn't known here, and the brokers refuse the credentials, or don't allow
                this user to read the topic.
        """
        if (schema := self._schemas.get(fingerprint)) is not None:
            return schema
        with self._lock:
            if fingerprint not in self._schemas and self._worth_asking(fingerprint):
                self._refresh()
                if fingerprint not in self._schemas:
                    self._absent[fingerprint] = self._clock()
            return self._schemas.get(fingerprint)

    def close(self) -> None:
        """Close the connection, if one was opened."""
        with self._lock:
            if self._consumer is not None:
                self._consumer.close()
                self._consumer = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _worth_asking(self, fingerprint: bytes) -> bool:
        asked = self._absent.get(fingerprint)
        if asked is None:
            # Fingerprints come from outside: forget them all before they fill the memory.
            if len(self._absent) >= 10_000:
                self._absent.clear()
            return True
        return self._clock() - asked >= ASK_AGAIN_SECONDS

    def _refresh(self) -> None:
        """Read the topic from the end of the last refresh to the topic's current end."""
        deadline = self._clock() + _REFRESH_SECONDS
        try:
            consumer = self._connected()
            ends = self._ends(consumer, deadline)
            self._assign(consumer, ends)
            while any(self._next_offset[partition] < end for partition, end in ends.items()):
                if self._clock() >= deadline:
                    raise SchemasUnavailableError(f"topic {self._topic} can't be read to its end in time")
                self._take(consumer.poll(_POLL_SECONDS))
        except KafkaException as failure:
            error = failure.args[0]
            if error.code() in _UNKNOWN_TOPIC:
                return  # no schema was ever published
            raise self._unreachable(error) from failure

    def _connected(self) -> Consumer:
        if self._consumer is None:
            self._refused = None
            conf: dict[str, Any] = {
                "log_level": 2,  # errors are raised instead
                **self._conf,
                "group.id": "headwater-schemas",  # librdkafka requires a group; assigning partitions doesn't join it
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "enable.partition.eof": True,
                "fetch.wait.max.ms": 50,  # the broker's answer waits this long if there is nothing new
                "error_cb": self._note_refusal,
            }
            self._consumer = self._make_consumer(conf)
        return self._consumer

    def _note_refusal(self, error: KafkaError) -> None:
        if refuses_credentials(error):
            self._refused = error

    def _ends(self, consumer: Consumer, deadline: float) -> dict[int, int]:
        """Return the offset after the last record of each partition."""
        metadata = self._metadata(consumer, deadline)
        if metadata.error is not None:
            raise KafkaException(metadata.error)
        ends = {}
        for partition in metadata.partitions:
            where = TopicPartition(self._topic, partition)
            _, ends[partition] = consumer.get_watermark_offsets(where, timeout=self._seconds_left(deadline))
        return ends

    def _metadata(self, consumer: Consumer, deadline: float) -> TopicMetadata:
        while True:
            try:
                found: TopicMetadata = consumer.list_topics(self._topic, timeout=_SLICE_SECONDS).topics[self._topic]
            except KafkaException as failure:
                if failure.args[0].code() in _UNKNOWN_TOPIC:
                    raise
                # Serves the callback that distinguishes refused credentials from a broker that isn't there.
                self._take(consumer.poll(0))
                if self._refused is not None or self._clock() + _SLICE_SECONDS > deadline:
                    raise
            else:
                return found

    def _seconds_left(self, deadline: float) -> float:
        return max(0.1, deadline - self._clock())

    def _assign(self, consumer: Consumer, ends: Mapping[int, int]) -> None:
        for partition, end in ends.items():
            # A recreated topic begins again at 0.
            if self._next_offset.setdefault(partition, 0) > end:
                self._next_offset[partition] = 0
        consumer.assign(
            [
                TopicPartition(self._topic, partition, self._next_offset[partition] or OFFSET_BEGINNING)
                for partition in ends
            ]
        )

    def _take(self, message: Message | None) -> None:
        if message is None:
            return
        error, partition, offset = message.error(), message.partition(), message.offset()
        at_end = error is not None and error.code() == KafkaError._PARTITION_EOF  # noqa: SLF001 - librdkafka's name
        if concerns_group(error):
            return
        if error is not None and not at_end:
            raise KafkaException(error)
        if partition is None or offset is None:
            return
        if at_end:
            # If compaction removed the last records, only this end-of-partition message shows that the end is reached.
            self._next_offset[partition] = max(self._next_offset[partition], offset)
            return
        self._next_offset[partition] = offset + 1
        value = message.value()
        if value is None:
            return
        try:
            schema = AvroSchema.published(value.decode())
        except ValueError as problem:  # UnicodeDecodeError is one
            logger.warning(
                "The record in topic %s, partition %d, at offset %d isn't a usable schema and is skipped: %s. Events "
                "written with this schema become dead letters",
                self._topic,
                partition,
                offset,
                problem,
            )
            return
        if len(self._schemas) >= _MOST_SCHEMAS:
            logger.warning("Topic %s has more than %d schemas; the others are skipped", self._topic, _MOST_SCHEMAS)
            return
        # The fingerprint is computed from the schema; the record's key isn't checked.
        self._schemas.setdefault(schema.fingerprint, schema)

    def _unreachable(self, error: KafkaError) -> LineageError:
        servers = self._conf.get("bootstrap.servers")
        if self._refused is not None:
            return credentials_refused(self._refused, servers=str(servers))
        if isinstance(
            failure := kafka_failure(error, servers=str(servers), doing=f"reading {self._topic}"), FatalError
        ):
            return failure
        return SchemasUnavailableError(f"topic {self._topic} at {servers} can't be read: {error.str()}")
