"""Connection settings that commands share: Kafka's client, Neo4j, and Headwater's own topics."""

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
    audit_spec,
    topic_specs,
)


class Section(BaseModel):
    """Section of the settings: immutable, and unknown names are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def require_servers(kafka: KafkaSettings) -> str:
    """The brokers' addresses.

    Raises:
        NotConfiguredError: no Kafka is configured.
    """
    try:
        return kafka.require_servers()
    except SettingsRefusedError:
        raise NotConfiguredError(
            "No Kafka is configured, and no stack of this data folder is running.",
            fix="Start one with `headwater up`, or set HEADWATER_KAFKA_BOOTSTRAP_SERVERS=host:9092.",
        ) from None


def client_config(kafka: KafkaSettings) -> dict[str, str]:
    """The connection as configuration of librdkafka, with secrets in clear: pass it to a client, never to a log.

    Raises:
        NotConfiguredError: no Kafka is configured.
        ConfigurationError: no client accepts these settings.
    """
    require_servers(kafka)
    try:
        return kafka.client_config()
    except SettingsRefusedError as error:
        raise ConfigurationError(f"Kafka: {error.message}.", fix=f"Check {error.setting}.") from None


class Neo4jSettings(Section):
    """Connection to Neo4j."""

    uri: Address | None = None
    """`bolt://host:7687`, `neo4j+s://…`. There is no default: the usual address may be somebody else's database."""
    user: str = "neo4j"
    """The user name."""
    password: SecretStr = SecretStr("")
    """The user's password. Put it into the environment rather than into a file that others can read."""
    database: str = "neo4j"
    """The name of the database in the server."""

    def require_uri(self) -> str:
        """The address of the database.

        Raises:
            NotConfiguredError: no address is configured.
        """
        if self.uri is None:
            raise NotConfiguredError(
                "No Neo4j is configured, and no stack of this data folder is running.",
                fix="Start one with `headwater up`, or set HEADWATER_NEO4J_URI=bolt://host:7687.",
            )
        return self.uri


class TopicSettings(Section):
    """Headwater's own topics: their names, and how missing ones are created."""

    prefix: TopicPrefix = "lineage"
    """First part of every topic name: `<prefix>.events`, `<prefix>.events.dlq`, `<prefix>.schemas`."""
    partitions: Annotated[int, Field(ge=1)] = DEFAULT_PARTITIONS
    """Number of partitions of the events topic. This is also the maximum number of consumers that share the work."""
    replication_factor: Annotated[int, Field(ge=BROKER_DEFAULT)] = BROKER_DEFAULT
    """Replicas of all three topics. -1: the broker's default."""
    max_message_bytes: Annotated[int, Field(ge=65_536, le=1_000_000_000)] = DEFAULT_MAX_MESSAGE_BYTES
    """The largest record batch that the events topic accepts."""

    def names(self) -> TopicNames:
        """The topics' names."""
        return TopicNames(self.prefix)

    def audit(self) -> TopicSpec:
        """Required settings of the topic of the audit."""
        return audit_spec(self.names(), replication_factor=self.replication_factor)

    def specs(self) -> tuple[TopicSpec, ...]:
        """Required settings of the topics."""
        return topic_specs(
            self.names(),
            partitions=self.partitions,
            replication_factor=self.replication_factor,
            max_message_bytes=self.max_message_bytes,
        )
