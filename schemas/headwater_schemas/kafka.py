"""KafkaSettings: how to reach a Kafka cluster, for everything here that does."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class KafkaSettings(BaseModel):
    """A cluster and the credentials for it. Immutable, closed to unknown names, and never shows a secret.

    Attributes:
        bootstrap_servers: `host:port,…`.
        cluster_name: stands for the broker list in dataset namespaces, `kafka://<cluster_name>`.
        security_protocol: how to talk to it.
        sasl_mechanism, sasl_username, sasl_password: for SASL_PLAINTEXT and SASL_SSL.
        ssl_ca_location: PEM file of the certificate authorities to trust; None: the system's.
        ssl_certificate_location, ssl_key_location, ssl_key_password: this client's certificate, for mutual TLS.
        client_properties: further librdkafka settings by their own names, e.g. for OAuth. They win over the rest.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    bootstrap_servers: str = Field(default="localhost:9092", min_length=1)
    cluster_name: str | None = None
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI"] | None = None
    sasl_username: str | None = None
    sasl_password: SecretStr | None = None
    ssl_ca_location: Path | None = None
    ssl_certificate_location: Path | None = None
    ssl_key_location: Path | None = None
    ssl_key_password: SecretStr | None = None
    client_properties: dict[str, SecretStr] = Field(default_factory=dict)

    def client_config(self) -> dict[str, str]:
        """The connection as librdkafka spells it, secrets in clear: hand it to a client, never to a log."""
        rendered: dict[str, str | Path | SecretStr | None] = {
            "bootstrap.servers": self.bootstrap_servers,
            "security.protocol": self.security_protocol,
            "sasl.mechanism": self.sasl_mechanism,
            "sasl.username": self.sasl_username,
            "sasl.password": self.sasl_password,
            "ssl.ca.location": self.ssl_ca_location,
            "ssl.certificate.location": self.ssl_certificate_location,
            "ssl.key.location": self.ssl_key_location,
            "ssl.key.password": self.ssl_key_password,
            **self.client_properties,
        }
        return {
            name: value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            for name, value in rendered.items()
            if value is not None
        }
