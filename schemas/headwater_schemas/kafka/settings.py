"""KafkaSettings: connection to a Kafka cluster, for every part of Headwater."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic_core import PydanticCustomError

from headwater_schemas.errors import SettingsRefusedError

PREFIX = "HEADWATER_KAFKA_"
# librdkafka's two names of the bootstrap property.
_BROKERS = ("bootstrap.servers", "metadata.broker.list")
_NEEDS_PASSWORD = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def _as_text(properties: Any) -> Any:
    # Spell numbers and booleans of JSON and TOML as librdkafka does.
    if not isinstance(properties, dict):
        return properties
    return {name: str(value).lower() if isinstance(value, int | float) else value for name, value in properties.items()}


def _no_user_info(address: str) -> str:
    if "@" in address:
        raise PydanticCustomError(
            "user_info", "an address can't contain a user or a password (before an @): they have settings of their own"
        )
    return address


Address = Annotated[str, AfterValidator(_no_user_info)]
"""Address of a server. An address with credentials is refused, because addresses are logged and shown."""

ClientProperties = Annotated[dict[str, SecretStr], BeforeValidator(_as_text)]
"""librdkafka's settings by its own names."""


class KafkaSettings(BaseModel):
    """A Kafka cluster and its credentials. Immutable; rejects unknown names; never shows a secret.

    Attributes:
        bootstrap_servers: `host:port,…`. There is no default: the usual address may be somebody else's broker.
        cluster_name: name that replaces the broker list in dataset namespaces, `kafka://<cluster_name>`.
        cluster_names: names of several clusters, by cluster id or by brokers; see `naming.declared_cluster`. In the
            environment a JSON object, `{"b1:9092,b2:9092": "orders"}`.
        security_protocol: protocol of the connection.
        sasl_mechanism, sasl_username, sasl_password: authentication for SASL_PLAINTEXT and SASL_SSL.
        ssl_ca_location: PEM file of the certificate authorities to trust; None: the system's.
        ssl_certificate_location, ssl_key_location, ssl_key_password: this client's certificate, for mutual TLS.
        client_properties: further librdkafka properties, e.g. for OAuth. They win over the other settings. In the
            environment a JSON object, `{"sasl.oauthbearer.method": "oidc"}`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    bootstrap_servers: Address | None = Field(default=None, min_length=1)
    cluster_name: str | None = None
    cluster_names: dict[str, str] = Field(default_factory=dict)
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI"] | None = None
    sasl_username: str | None = None
    sasl_password: SecretStr | None = None
    ssl_ca_location: Path | None = None
    ssl_certificate_location: Path | None = None
    ssl_key_location: Path | None = None
    ssl_key_password: SecretStr | None = None
    client_properties: ClientProperties = Field(default_factory=dict)

    def require_servers(self) -> str:
        """Return the bootstrap servers in the form that clients accept.

        Raises:
            SettingsRefusedError: no bootstrap servers are set.
        """
        named = (self.client_properties.get(name) for name in _BROKERS)
        if (servers := next((each for each in named if each is not None), None)) is not None:
            return servers.get_secret_value()
        if self.bootstrap_servers is None:
            raise SettingsRefusedError("no Kafka broker is set", setting=_variable("bootstrap.servers"))
        return self.bootstrap_servers

    def client_config(self) -> dict[str, str]:
        """Return the connection in librdkafka's spelling, secrets in clear: for a client, never for a log.

        Raises:
            SettingsRefusedError: no client accepts these settings; the error names the setting at fault.
        """
        servers = self.require_servers()
        rendered: dict[str, str | Path | SecretStr | None] = {
            "bootstrap.servers": servers,
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
        config = {
            name: value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            for name, value in rendered.items()
            if value is not None
        }
        _check(config)
        return config


def _check(config: dict[str, str]) -> None:
    """Check for values that librdkafka would refuse without naming Headwater's setting."""
    protocol = config["security.protocol"].upper()
    if protocol.startswith("SASL"):
        _check_sasl(protocol, config)
    for name in ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location"):
        path = config.get(name)
        # "probe" makes librdkafka look for the system's bundle.
        if path and path != "probe" and protocol.endswith("SSL") and not Path(path).exists():
            raise SettingsRefusedError(f"no Kafka client can be made: there is no file {path}", setting=_variable(name))


def _check_sasl(protocol: str, config: dict[str, str]) -> None:
    # `sasl.mechanisms` is librdkafka's older name of `sasl.mechanism`.
    mechanism = config.get("sasl.mechanism") or config.get("sasl.mechanisms")
    credentials = [name for name in ("sasl.username", "sasl.password") if not config.get(name)]
    if mechanism is None:
        needed = ["sasl.mechanism", *credentials]
        raise SettingsRefusedError(
            f"Kafka with {protocol} needs a mechanism, and with PLAIN and SCRAM a user and a password",
            setting=", ".join(map(_variable, needed)),
        )
    if mechanism in _NEEDS_PASSWORD and credentials:
        missing = " and ".join(name.removeprefix("sasl.") for name in credentials)
        raise SettingsRefusedError(
            f"Kafka with {protocol} and {mechanism} needs a {missing}", setting=", ".join(map(_variable, credentials))
        )


def _variable(name: str) -> str:
    """`sasl.username` ⇒ `HEADWATER_KAFKA_SASL_USERNAME`."""
    return PREFIX + name.replace(".", "_").upper()
