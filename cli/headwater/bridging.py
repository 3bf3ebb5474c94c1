"""The bridge of an OpenLineage topic beside a consumer, in the same process."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from headwater.connection import client_config
from headwater.errors import InputError
from headwater.lean_imports import without
from headwater.publishing import PublisherSink, publisher_settings
from headwater.settings import Settings
from headwater_producers.publisher import Publisher
from headwater_schemas.kafka.client import quiet
from headwater_schemas.kafka.errors import making_clients

with without("numpy", "pandas"):
    from headwater_consumers.bridge.bridge import Bridge, BridgeParts, BridgeThread
    from headwater_consumers.bridge.metrics import BridgeMetrics
    from headwater_consumers.kafka.kafka_source import KafkaSource, SourceConfig
    from headwater_consumers.kafka.notices import Notices
    from headwater_consumers.materializer.dead_letters.topic import KafkaDeadLetters

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

log = logging.getLogger("headwater.openlineage")

_LINGER_MILLISECONDS = 5
_BUFFERED_EVENTS = 10_000
_BUFFERED_BYTES = 32 * 1024 * 1024


def bridge_group(settings: Settings) -> str:
    """The consumer group of the bridge."""
    return f"{settings.materializer.group}-openlineage"


class Bridging:
    """Bridge with its parts; empty if no topic is configured.

    Args:
        settings: settings of the bridge.
        registry: metrics registry of the process.
        until_caught_up: end once what is on the topic now is committed.

    Raises:
        FatalError: no client can be made of the settings.
        InputError: the topic is one of Headwater's own.
    """

    def __init__(self, settings: Settings, registry: CollectorRegistry, *, until_caught_up: bool) -> None:
        self._until_caught_up = until_caught_up
        self.bridge: Bridge | None = None
        self._publisher: Publisher | None = None
        self._thread: BridgeThread | None = None
        topic = settings.materializer.openlineage_topic
        if topic is None:
            return
        names = settings.topic.names()
        if topic in {names.events, names.dead_letters, names.schemas}:
            raise InputError(
                f"{topic} is one of Headwater's own topics, and holds no OpenLineage events.",
                fix="Check HEADWATER_MATERIALIZER_OPENLINEAGE_TOPIC or --openlineage-topic.",
            )
        group = bridge_group(settings)
        client = quiet(client_config(settings.kafka))
        notices = Notices(_warn, time.monotonic, info=_info)
        with making_clients(str(client["bootstrap.servers"])):
            source = KafkaSource(
                SourceConfig(
                    client,
                    topic,
                    group,
                    settings.materializer.queued_max_kilobytes,
                    record_max_bytes=settings.materializer.record_max_bytes,
                ),
                clock=time.monotonic,
                notices=notices,
            )
        self._publisher = Publisher(
            publisher_settings(
                settings,
                client_id="headwater-bridge",
                linger_milliseconds=_LINGER_MILLISECONDS,
                max_buffered_events=_BUFFERED_EVENTS,
                max_buffered_bytes=_BUFFERED_BYTES,
            ),
            names,
        )
        parts = BridgeParts(
            source=source,
            sink=PublisherSink(self._publisher),
            dead_letters=KafkaDeadLetters(client, topic=names.dead_letters, group=group),
            metrics=BridgeMetrics(registry),
            notices=notices,
            tenant=settings.analysis.tenant,
            document_max_bytes=settings.openlineage.document_max_bytes,
            strict=settings.openlineage.strict,
            redacting=settings.openlineage.redact,
            drain_seconds=settings.materializer.drain_seconds,
            clock=time.monotonic,
        )
        self.bridge = Bridge(parts, until_caught_up=until_caught_up)
        log.info("Bridging OpenLineage events of %s to %s, as group %s.", topic, names.events, group)

    @contextlib.contextmanager
    def running(self, stop_all: Callable[[], None]) -> Iterator[None]:
        """Beside the block; to catch up, before it.

        Args:
            stop_all: called when the bridge ends with an error.

        Raises:
            FatalError: a person has to change a setting.
        """
        if self.bridge is None or self._publisher is None:
            yield
            return
        try:
            if self._until_caught_up:
                self.bridge.run()
                yield
            else:
                self._thread = BridgeThread(self.bridge, stop_all)
                self._thread.start()
                try:
                    yield
                finally:
                    self._thread.stop()
                if self._thread.error is not None:
                    raise self._thread.error
        finally:
            self._publisher.close(0)  # what isn't acknowledged isn't committed, and is read again

    def stop(self) -> None:
        """Have it finish what is under way. Safe from a signal handler."""
        if self.bridge is not None:
            self.bridge.stop()

    def totals(self) -> dict[str, Any]:
        """Totals of the bridge; empty if there is none."""
        return {} if self.bridge is None else self.bridge.totals.document()


def _warn(text: str) -> None:
    log.warning("%s", text)


def _info(text: str) -> None:
    log.info("%s", text)
