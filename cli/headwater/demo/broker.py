"""Topics of the demo, and progress of producers and consumer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from confluent_kafka import KafkaException

from headwater_consumers.kafka.offsets import OffsetReader
from headwater_schemas.topics import TopicNames, TopicSpec, ensure_topics, topic_specs

TOPICS = TopicNames()
DEPARTED = "flights.departed"
ENRICHED = "flights.enriched"
ROUTES = "flights.routes"
PARTITIONS = {DEPARTED: 4, ENRICHED: 3, ROUTES: 2}

_REQUEST_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class EventProgress:
    """Progress of the lineage events.

    Attributes:
        acknowledged: Records on the events topic.
        processed: Records whose offset the consumer has committed.
        dead_lettered: Records on the dead-letter topic.
    """

    acknowledged: int = 0
    processed: int = 0
    dead_lettered: int = 0

    @property
    def caught_up(self) -> bool:
        """True if nothing is left to process."""
        return self.processed >= self.acknowledged


class Broker:
    """The demo's Kafka."""

    def __init__(self, bootstrap_servers: str, group: str) -> None:
        # A broken connection raises an exception; librdkafka's own log lines would disturb the live display.
        self.client: dict[str, str | int] = {"bootstrap.servers": bootstrap_servers, "log_level": 2}
        self._group = group
        self._offsets = self.reader()

    def create_topics(self) -> None:
        """Create Headwater's topics and the topics of the flights.

        Raises:
            headwater_schemas.errors.BrokerUnavailableError: The broker does not answer.
        """
        flights = (TopicSpec(name, partitions) for name, partitions in PARTITIONS.items())
        ensure_topics(self.client, (*topic_specs(TOPICS), *flights))

    def ends(self, topic: str) -> dict[int, int]:
        """Return the end offset of each partition: the number of its records so far.

        Raises:
            KafkaException: The broker does not answer.
        """
        found = self._offsets.bounds(topic, timeout_seconds=_REQUEST_SECONDS)
        return {each.partition.number: each.end for each in found}

    def progress(self, reader: OffsetReader) -> EventProgress | None:
        """Read the progress of the lineage events; None while the broker doesn't answer.

        A new broker has no coordinator for the group yet, and a busy one is slow: the demo continues.
        """
        try:
            positions = reader.positions(TOPICS.events, timeout_seconds=_REQUEST_SECONDS)
            return EventProgress(
                acknowledged=sum(position.end for position in positions),
                processed=sum(position.committed or 0 for position in positions),
                dead_lettered=total(self.ends(TOPICS.dead_letters)),
            )
        except KafkaException:
            return None

    def reader(self) -> OffsetReader:
        """Make a reader of the consumer group's committed offsets."""
        return OffsetReader(self.client, group=self._group)


def total(ends: Mapping[int, int]) -> int:
    """Number of records in all partitions of a topic."""
    return sum(ends.values())
