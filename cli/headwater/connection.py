"""Settings of what every command speaks to: Kafka, Neo4j, and Headwater's own topics there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from headwater_schemas.topics import (
    BROKER_DEFAULT,
    DEFAULT_MAX_MESSAGE_BYTES,
    DEFAULT_PARTITIONS,
    TopicNames,
    TopicSpec,
    topic_specs,
)


class Section(BaseModel):
    """A group of settings: immutable, and closed to names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class KafkaSettings(Section):
    """How to reach Kafka."""

    bootstrap_servers: str = "localhost:9092"
    cluster_name: str | None = None
    """Stands for the broker list in dataset namespaces, `kafka://<cluster_name>`. Default: the sorted broker list."""
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = None
    sasl_username: str | None = None
    sasl_password: SecretStr | None = None
    ssl_ca_location: Path | None = None
    """PEM file of the certificate authorities to trust. Default: the system's."""

    def client_config(self) -> dict[str, str]:
        """These settings as librdkafka spells them, the password in clear: hand it to a client, never to a log."""
        rendered = {
            "bootstrap.servers": self.bootstrap_servers,
            "security.protocol": self.security_protocol,
            "sasl.mechanism": self.sasl_mechanism,
            "sasl.username": self.sasl_username,
            "sasl.password": self.sasl_password.get_secret_value() if self.sasl_password else None,
            "ssl.ca.location": str(self.ssl_ca_location) if self.ssl_ca_location else None,
        }
        return {name: value for name, value in rendered.items() if value is not None}


class Neo4jSettings(Section):
    """How to reach Neo4j."""

    uri: str = "bolt://localhost:7687"
    user: str = "neo4j"
    password: SecretStr = SecretStr("")
    database: str = "neo4j"


class TopicSettings(Section):
    """Headwater's own topics: their names, and what they are created with where they are missing."""

    prefix: Annotated[str, Field(min_length=1)] = "lineage"
    """First part of every topic name: `<prefix>.events`, `<prefix>.events.dlq`, `<prefix>.schemas`."""
    partitions: Annotated[int, Field(ge=1)] = DEFAULT_PARTITIONS
    """Of the events topic; as many consumers can share the work."""
    replication_factor: Annotated[int, Field(ge=BROKER_DEFAULT)] = BROKER_DEFAULT
    """Of all three topics. -1: the broker's default."""
    max_message_bytes: Annotated[int, Field(ge=1_024)] = DEFAULT_MAX_MESSAGE_BYTES
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
