"""Publishing from a command, to the topic that the settings name; errors of Kafka end the command."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any, Final

from headwater.connection import require_servers
from headwater.errors import CheckFailedError, UnreachableError
from headwater.kafka_errors import asking_kafka
from headwater.settings import Settings
from headwater_openlineage.intake.sink import Settled, SinkFullError, Undeliverable
from headwater_producers.publisher import (
    BufferFullError,
    FailedEvent,
    FailureKind,
    Publisher,
    PublisherClosedError,
    PublisherSettings,
)
from headwater_schemas.events import LineageEvent
from headwater_schemas.record import record_of

_SECONDS: Final = 60.0


def publish(settings: Settings, events: Iterable[LineageEvent]) -> int:
    """Publish events, wait until the brokers have them, and return their number.

    Raises:
        UnreachableError: not all events were acknowledged within a minute.
        CheckFailedError: the brokers refused some events.
        ConfigurationError: the brokers refuse the client, or no client accepts the settings.
    """
    names, servers = settings.topic.names(), require_servers(settings.kafka)
    count = 0
    with (
        asking_kafka(settings.kafka, doing=f"publishing to {names.events}"),
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


class PublisherSink:
    """Sink of the intake of OpenLineage events, to the events topic. The caller closes the publisher afterwards."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher

    def send(self, events: Sequence[LineageEvent], settled: Settled) -> None:
        """Accept the events of one document.

        Raises:
            EncodeError: an event breaks the contract.
            SinkFullError: too many events are waiting, or the publisher is closed.
        """
        records = [record_of(event) for event in events]
        try:
            self._publisher.publish_records(records, _UnsettledEvents(len(records), settled).settled)
        except (BufferFullError, PublisherClosedError) as error:
            raise SinkFullError(str(error)) from error

    def problem(self) -> str | None:
        """Reason why events don't reach the topic; None if no problem is known."""
        return self._publisher.problem


class _UnsettledEvents:
    """Counter of one document's events that are neither acknowledged nor undeliverable yet.

    Args:
        settled: called once, after the last event, with the undeliverable events.
    """

    __slots__ = ("_failures", "_left", "_lock", "_settled")

    def __init__(self, count: int, settled: Settled) -> None:
        self._left = count
        self._settled = settled
        self._failures: list[Undeliverable] = []
        self._lock = threading.Lock()

    def settled(self, failure: FailedEvent | None) -> None:
        """Record that an event is acknowledged or undeliverable. Called from any thread."""
        with self._lock:
            if failure is not None:
                for_good = failure.kind is FailureKind.TOO_LARGE
                self._failures.append(Undeliverable(failure.event_id, failure.reason, for_good=for_good))
            self._left -= 1
            if self._left:
                return
        self._settled(self._failures)


def publisher_settings(settings: Settings, **others: Any) -> PublisherSettings:
    """Settings for publishing from a command; `others` are further settings by name."""
    return PublisherSettings(
        **settings.kafka.model_dump(),
        **{"client_id": "headwater-cli", **others},
        max_message_bytes=settings.topic.max_message_bytes,
        topic_partitions=settings.topic.partitions,
        topic_replication_factor=settings.topic.replication_factor,
        registry=settings.registry if settings.registry.url else None,
    )
