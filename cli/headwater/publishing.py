"""Publishing from a command: events to the topic that the settings name, and trouble as what ends a command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from headwater.connection import require_servers
from headwater.errors import CheckFailedError, UnreachableError
from headwater.kafka_errors import asking_kafka
from headwater.settings import Settings
from headwater_producers.publisher import Publisher, PublisherSettings
from headwater_schemas.events import LineageEvent

_SECONDS: Final = 60.0


def publish(settings: Settings, events: Iterable[LineageEvent]) -> int:
    """Publishes events and waits until the brokers have them; how many there were.

    Raises:
        UnreachableError: they didn't all arrive in a minute.
        CheckFailedError: the brokers refused some.
        ConfigurationError: the brokers refuse the client, or no client can be made of the settings.
    """
    names, servers = settings.topic.names(), require_servers(settings.kafka)
    count = 0
    with (
        asking_kafka(servers, doing=f"publishing to {names.events}"),
        Publisher(publisher_settings(settings), names) as publisher,
    ):
        for event in events:
            publisher.publish(event)
            count += 1
        report = publisher.flush(_SECONDS)
    if report.failed:
        first = report.failed[0]
        raise CheckFailedError(f"{len(report.failed)} events were refused, {first.event_id} with: {first.reason}.")
    if report.outstanding:
        raise UnreachableError(
            f"{report.outstanding} of {count} events didn't arrive: {report.problem or f'{servers} took too long'}.",
            fix="Run it again once Kafka answers; events that arrive twice have no further effect.",
        )
    return count


def publisher_settings(settings: Settings) -> PublisherSettings:
    """Where a command publishes to, and how."""
    return PublisherSettings(
        **settings.kafka.model_dump(),
        client_id="headwater-cli",
        max_message_bytes=settings.topic.max_message_bytes,
        topic_partitions=settings.topic.partitions,
        topic_replication_factor=settings.topic.replication_factor,
        registry=settings.registry if settings.registry.url else None,
    )
