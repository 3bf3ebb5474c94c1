"""Preparation: steps before a producer's first event.

1. The topics exist.
2. The schema of the events is on the schemas topic, acknowledged: a reader of an event finds the schema there, by its
fingerprint.
3. If a schema registry is configured: the schema is registered there, and its id is known.

Each step is repeated until it succeeds. No event is sent earlier, because nobody could read it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from confluent_kafka import KafkaException

from headwater_producers.publisher.ledger import Ledger
from headwater_producers.publisher.settings import PublisherSettings
from headwater_schemas.avro_schema import current_schema
from headwater_schemas.codec import with_registry_id
from headwater_schemas.errors import CredentialsRefusedError, FatalError, LineageError
from headwater_schemas.kafka.errors import refusal_text
from headwater_schemas.kafka.producer import AcknowledgedProducer, ProducerRecord, Undelivered
from headwater_schemas.registry import RegistryClient
from headwater_schemas.topics import TopicNames, ensure_topics

if TYPE_CHECKING:
    from confluent_kafka import KafkaError


logger = logging.getLogger(__name__)

_PROBE_SECONDS = 0.5
_ADMIN_TIMEOUT_SECONDS = 10.0


class PublisherPreparation:
    """Steps 1 to 3 before the first event, each safe to repeat.

    Args:
        on_error: callback for the producer's errors.
        poll: serves the producer's callbacks for a moment.
        stopping: set when waiting must end.
    """

    def __init__(
        self,
        settings: PublisherSettings,
        topics: TopicNames,
        *,
        ledger: Ledger,
        on_error: Callable[[KafkaError], None],
        poll: Callable[[], None],
        stopping: threading.Event,
    ) -> None:
        self._settings = settings
        self._topics = topics
        self._note = ledger.note
        self._on_error = on_error
        self._poll = poll
        self._stopping = stopping
        self._registry = RegistryClient(settings.registry) if settings.registry else None
        self._registry_id: int | None = None
        self._logged_error: str | None = None
        self.topic_bytes: int | None = None
        """`max.message.bytes` of the events topic, if it is smaller than the settings' limit; else None."""
        self.has_asked = threading.Event()
        """Set once the topic's limit has been read, or can't be read."""

    def done(self, producer: AcknowledgedProducer) -> bool:
        """Take the steps. False: a step failed, and its problem is noted."""
        try:
            if not self._topics_exist(producer):
                return False
            self.has_asked.set()
            return self._announced(producer) and self._registered()
        except CredentialsRefusedError as error:
            self._note(str(error), refusal=error)
        except LineageError as error:
            self._note(str(error))
        except KafkaException as failure:
            # This producer may not write to the topic, or the topic's name is invalid.
            self._on_error(failure.args[0])
        self._poll()
        return False

    def framed(self, value: bytes) -> bytes:
        """Frame an encoded event in the topic's wire format."""
        return value if self._registry_id is None else with_registry_id(value, self._registry_id)

    def _topics_exist(self, producer: AcknowledgedProducer) -> bool:
        if not self._settings.create_topics:
            return True
        try:
            # An admin client can't be interrupted: it is only created once a broker answers.
            producer.probe(_PROBE_SECONDS)
        except KafkaException as failure:
            self._on_error(failure.args[0])
            self._poll()
            return False
        specs = self._settings.specs(self._topics)
        try:
            report = ensure_topics(self._settings.client_config(), specs, timeout_seconds=_ADMIN_TIMEOUT_SECONDS)
        except CredentialsRefusedError:
            raise
        except FatalError as error:
            # Perhaps this user only lacks the right to create topics, and another user creates them. If not, delivery
            # fails and states the reason.
            if str(error) != self._logged_error:
                self._logged_error = str(error)
                logger.warning(
                    "Topics can't be created or checked; events are sent all the same, and wait for a missing topic: "
                    "%s",
                    error,
                )
            return True
        for found in report.differences:
            if (found.topic, found.setting) == (self._topics.events, "max.message.bytes"):
                self.topic_bytes = int(found.actual)
            logger.warning(
                "Topic %s has %s=%s, so that events can expire or be refused. Headwater doesn't change it; set it to "
                "%s",
                found.topic,
                found.setting,
                found.actual,
                found.wanted,
            )
        return True

    def _announced(self, producer: AcknowledgedProducer) -> bool:
        schema = current_schema()
        outcome: list[Undelivered | None] = []
        producer.send(ProducerRecord(self._topics.schemas, schema.hex.encode(), schema.text.encode()), outcome.append)
        while not outcome and not self._stopping.is_set():
            self._poll()
        if not outcome:
            return False
        if (failure := outcome[0]) is not None:
            self._on_error(failure.error)
            self._note(
                f"The schema can't be put on topic {self._topics.schemas}, and no event is sent before it is: "
                f"{refusal_text(failure.error)}"
            )
            return False
        return True

    def _registered(self) -> bool:
        if self._registry is not None:
            # The subject's name is the one that other clients of the registry use by default for the topic's values.
            self._registry_id = self._registry.register(f"{self._topics.events}-value", current_schema())
        return True
