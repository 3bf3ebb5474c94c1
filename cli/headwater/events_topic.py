"""Events topic of a consumer group: progress, last event, and end offsets for the freshness of answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from headwater.connection import client_config
from headwater.errors import HeadwaterError
from headwater_analysis.freshness import TopicEnd, TopicEnds
from headwater_consumers.kafka.offsets import OffsetReader
from headwater_schemas.kafka.client import answer, quiet
from headwater_schemas.kafka.settings import KafkaSettings

_REQUEST_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class EventsTopicState:
    """The events topic and one consumer group.

    Attributes:
        group: consumer group whose committed offsets count.
        records: number of offsets between beginning and end, summed over the partitions.
        lag: number of offsets between the group's committed offset (or the beginning) and the end, summed over the
            partitions.
        last_event: timestamp of the latest record; None without records.
    """

    topic: str
    group: str
    partitions: int
    records: int
    lag: int
    last_event: datetime | None

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "topic": self.topic,
            "group": self.group,
            "partitions": self.partitions,
            "records": self.records,
            "lag": self.lag,
            "last_event": None if self.last_event is None else self.last_event.isoformat(),
        }


def topic_state(client: Mapping[str, Any], topic: str, group: str) -> EventsTopicState | None:
    """Ask the brokers; return None if the topic doesn't exist.

    Raises:
        KafkaException: the brokers don't answer a request within 5 s, or refuse it.
    """
    client = quiet(client)
    try:
        positions = OffsetReader(client, group=group).positions(topic, timeout_seconds=_REQUEST_SECONDS)
    except KafkaException as error:
        if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            return None
        raise
    partitions = [TopicPartition(topic, position.partition.number) for position in positions]
    return EventsTopicState(
        topic,
        group,
        partitions=len(positions),
        records=sum(position.end - position.begin for position in positions),
        lag=sum(position.pending for position in positions),
        last_event=_latest(client, partitions),
    )


def _latest(client: Mapping[str, Any], partitions: list[TopicPartition]) -> datetime | None:
    admin = AdminClient(dict(client))  # referenced until the answers have arrived: deleting the client loses them
    newest: OffsetSpec = OffsetSpec.max_timestamp()  # type: ignore[no-untyped-call]
    futures = admin.list_offsets(
        dict.fromkeys(partitions, newest),
        isolation_level=IsolationLevel.READ_UNCOMMITTED,
        request_timeout=_REQUEST_SECONDS,
    )
    latest = max((answer(future, _REQUEST_SECONDS).timestamp for future in futures.values()), default=-1)
    return None if latest < 0 else datetime.fromtimestamp(latest / 1000, UTC)


_ENDS_SECONDS = 3.0
_KEPT_SECONDS = 5.0


def topic_ends(kafka: KafkaSettings) -> TopicEnds:
    """Make a function that reads end offsets from the brokers; it returns None if they refuse or take over 3 s."""

    def ends(topic: str) -> Sequence[TopicEnd] | None:
        try:
            found = OffsetReader(client_config(kafka), group="").bounds(topic, timeout_seconds=_ENDS_SECONDS)
        except (KafkaException, HeadwaterError):
            return None
        return [TopicEnd(each.partition.number, each.partition.topic_id, each.begin, each.end) for each in found]

    return ends


def kept(ends: TopicEnds, clock: Callable[[], float] = time.monotonic) -> TopicEnds:
    """Cache each answer of `ends` for five seconds, for a server with many requests."""
    known: dict[str, tuple[float, Sequence[TopicEnd] | None]] = {}

    def kept_ends(topic: str) -> Sequence[TopicEnd] | None:
        found = known.get(topic)
        if found is None or clock() - found[0] >= _KEPT_SECONDS:
            found = known[topic] = (clock(), ends(topic))
        return found[1]

    return kept_ends
