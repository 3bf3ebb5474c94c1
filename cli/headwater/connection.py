"""What every command speaks to: Kafka as a client has it, settings of Neo4j and of Headwater's own topics."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from headwater.errors import ConfigurationError, NotConfiguredError
from headwater_schemas.errors import SettingsRefusedError
from headwater_schemas.kafka.settings import Address, KafkaSettings
from headwater_schemas.topics import (
    BROKER_DEFAULT,
    DEFAULT_MAX_MESSAGE_BYTES,
    DEFAULT_PARTITIONS,
    TopicNames,
    TopicPrefix,
    TopicSpec,
    topic_specs,
)


class Section(BaseModel):
    """A group of settings: immutable, and closed to names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def require_servers(kafka: KafkaSettings) -> str:
    """The brokers' addresses.

    Raises:
        NotConfiguredError: Nothing says which.
    """
    try:
        return kafka.require_servers()
    except SettingsRefusedError:
        raise NotConfiguredError(
            "No Kafka is configured, and no stack of this data folder is running.",
            fix="Start one with `headwater up`, or set HEADWATER_KAFKA_BOOTSTRAP_SERVERS=host:9092.",
        ) from None


def client_config(kafka: KafkaSettings) -> dict[str, str]:
    """The connection as librdkafka spells it, secrets in clear: hand it to a client, never to a log.

    Raises:
        NotConfiguredError: Nothing says where Kafka is.
        ConfigurationError: No client can be made of these settings.
    """
    require_servers(kafka)
    try:
        return kafka.client_config()
    except SettingsRefusedError as error:
        raise ConfigurationError(f"Kafka: {error.message}.", fix=f"Check {error.setting}.") from None


class Neo4jSettings(Section):
    """How to reach Neo4j."""

    uri: Address | None = None
    """`bolt://host:7687`, `neo4j+s://…`. There is no default: another's database may be at the usual address."""
    user: str = "neo4j"
    """Who connects."""
    password: SecretStr = SecretStr("")
    """That user's. Better in the environment than in a file that others read."""
    database: str = "neo4j"
    """Its name in the server."""

    def require_uri(self) -> str:
        """Where the database is.

        Raises:
            NotConfiguredError: nothing says so.
        """
        if self.uri is None:
            raise NotConfiguredError(
                "No Neo4j is configured, and no stack of this data folder is running.",
                fix="Start one with `headwater up`, or set HEADWATER_NEO4J_URI=bolt://host:7687.",
            )
        return self.uri


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
