"""What every command speaks to: Kafka as a client has it, settings of Neo4j and of Headwater's own topics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from headwater.errors import ConfigurationError
from headwater_schemas.errors import KafkaSettingsError
from headwater_schemas.topics import (
    BROKER_DEFAULT,
    DEFAULT_MAX_MESSAGE_BYTES,
    DEFAULT_PARTITIONS,
    TopicNames,
    TopicPrefix,
    TopicSpec,
    topic_specs,
)

if TYPE_CHECKING:
    from headwater_schemas.kafka import KafkaSettings


class Section(BaseModel):
    """A group of settings: immutable, and closed to names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def client_config(kafka: KafkaSettings) -> dict[str, str]:
    """The connection as librdkafka spells it, secrets in clear: hand it to a client, never to a log.

    Raises:
        ConfigurationError: No client can be made of these settings.
    """
    try:
        return kafka.client_config()
    except KafkaSettingsError as error:
        raise ConfigurationError(f"Kafka: {error}.", fix=f"Check {error.setting}.") from None


class Neo4jSettings(Section):
    """How to reach Neo4j."""

    uri: str = "bolt://localhost:7687"
    user: str = "neo4j"
    password: SecretStr = SecretStr("")
    database: str = "neo4j"


class TopicSettings(Section):
    """Headwater's own topics: their names, and what they are created with where they are missing."""

    prefix: TopicPrefix = "lineage"
    """First part of every topic name: `<prefix>.events`, `<prefix>.events.dlq`, `<prefix>.schemas`."""
    partitions: Annotated[int, Field(ge=1)] = DEFAULT_PARTITIONS
    """Of the events topic; as many consumers can share the work."""
    replication_factor: Annotated[int, Field(ge=BROKER_DEFAULT)] = BROKER_DEFAULT
    """Of all three topics. -1: the broker's default."""
    max_message_bytes: Annotated[int, Field(ge=65_536, le=1_000_000_000)] = DEFAULT_MAX_MESSAGE_BYTES
    """The largest record batch that the events topic takes."""

    def names(self) -> TopicNames:
        """The topics' names."""
        return TopicNames(self.prefix)

    def specs(self) -> tuple[TopicSpec, ...]:
        """The topics as they should be."""
        return topic_specs(
            self.names(),
            partitions=self.partitions,
            replication_factor=self.replication_factor,
            max_message_bytes=self.max_message_bytes,
        )
