"""Settings of the HTTP server, section `serve` (`HEADWATER_SERVE_…`)."""

from __future__ import annotations

import ipaddress
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class ServeSettings(BaseModel):
    """The HTTP server. The sections `neo4j` and `analysis` have its database and tenant."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    """The address to listen on. There is no log-in: everybody who can reach it can read the graph."""

    port: Annotated[int, Field(ge=0, le=65_535)] = 8470
    """The port. 0 takes a free one and logs which."""

    allowed_hosts: str = ""
    """Host names that requests may use for this server, separated by commas; `*` is any. Empty: the loopback names and
    `host`, so that no web site can point its own host name at this server and read the graph through a visitor's
    browser. `headwater serve` requires names if `host` isn't a loopback address."""

    threads: Annotated[int, Field(ge=1, le=256)] = 8
    """Questions answered at the same time; each uses a thread and a connection to Neo4j."""

    waiting_max: Annotated[int, Field(ge=0, le=10_000)] = 64
    """Questions that may wait for a thread. More are rejected at once, with 503."""

    timeout_max_seconds: Annotated[float, Field(gt=0, le=3_600)] = 60.0
    """The longest that one question may take, whatever its `timeout`."""

    page_default_items: Annotated[int, Field(ge=1, le=1_000)] = 100
    """Items on a page if a request has no `limit`."""

    page_max_items: Annotated[int, Field(ge=1, le=1_000)] = 1_000
    """The largest number of items on a page, whatever the `limit`."""

    body_max_bytes: Annotated[int, Field(ge=1_024, le=1_073_741_824)] = 1_048_576
    """The largest body of a request."""

    body_timeout_seconds: Annotated[float, Field(gt=0, le=3_600)] = 10.0
    """Longest time that the body of a request may take to arrive. Only then does it count as a question."""

    bodies_per_client_max: Annotated[int, Field(ge=1, le=10_000)] = 16
    """Bodies that one client may be sending at the same time. With one more, the oldest is dropped."""

    head_timeout_seconds: Annotated[float, Field(gt=0, le=3_600)] = 10.0
    """Longest time that the head of a request may take to arrive, from its connection or its first byte on."""

    keep_alive_seconds: Annotated[int, Field(ge=1, le=3_600)] = 5
    """Time that an idle connection is kept for the next request."""

    send_timeout_seconds: Annotated[float, Field(gt=0, le=3_600)] = 30.0
    """Longest time that a client may go without reading any of its answer."""

    connections_max: Annotated[int, Field(ge=1, le=100_000)] = 512
    """Connections at the same time. One more replaces the connection that has been idle for longest."""

    connections_per_client_max: Annotated[int, Field(ge=1, le=100_000)] = 256
    """Maximum number of connections of one client address; for IPv6, of one /64 network."""

    policy: str | None = None
    """The policy file (TOML) for impacts. None: Headwater's default policy."""

    exemptions: str | None = None
    """The file (YAML) of findings of `headwater check` that are accepted, for `/api/v1/checks` and the metrics. None:
    none are."""

    check_every_seconds: Annotated[float, Field(ge=0, le=604_800)] = 0.0
    """Interval at which the rules of `headwater check` are checked for the metrics `headwater_check_…`. 0: never."""

    review: bool = True
    """Compare schemas at `/api/v1/review`: the one question whose answer takes more of the server than of
    Neo4j."""

    drain_seconds: Annotated[int, Field(ge=0, le=300)] = 10
    """Longest time that requests in progress may continue when the server is stopped."""

    intake: bool = False
    """Accept OpenLineage events at `/api/v1/lineage` and publish them to the events topic. Reading the graph
    never allows it; section `kafka` has the brokers."""

    intake_token: SecretStr = SecretStr("")
    """The bearer token that a sender of events must have; several, separated by commas, while one replaces another.
    Without a token events are accepted on a loopback address only."""

    declare: bool = False
    """Accept declarations at `/api/v1/declarations` and publish them to the events topic. Neither reading
    the graph nor `serve.intake` allows it; section `kafka` has the brokers."""

    declare_token: SecretStr = SecretStr("")
    """The bearer token that a sender of declarations must have; several, separated by commas, while one replaces
    another. Without a token declarations are accepted on a loopback address only."""

    intake_body_max_bytes: Annotated[int, Field(ge=1_024, le=1_073_741_824)] = 16_777_216
    """The largest body of events or declarations, both as it is sent and as gzip unpacks it."""

    intake_batch_max_events: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """The largest number of events in one batch."""

    intake_requests_max: Annotated[int, Field(ge=1, le=10_000)] = 64
    """Requests with events or declarations at the same time, those that wait for Kafka included. More are rejected
    with 503."""

    intake_buffer_max_bytes: Annotated[int, Field(ge=1_048_576, le=17_179_869_184)] = 67_108_864
    """Bytes of bodies that are held at the same time, and again bytes of events that wait for Kafka. More are rejected
    with 503."""

    intake_timeout_seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    """Longest time that Kafka may take to acknowledge a request's events or declarations; then the answer is 503."""

    def hosts(self) -> frozenset[str] | None:
        """Names of this server that requests may use, in lower case; None: any."""
        named = frozenset(name.strip().lower() for name in self.allowed_hosts.split(",") if name.strip())
        if "*" in named:
            return None
        return named or LOOPBACK_NAMES | {self._address}

    def intake_tokens(self) -> frozenset[bytes]:
        """Tokens of senders of events; empty: none is needed."""
        return _tokens(self.intake_token)

    def declare_tokens(self) -> frozenset[bytes]:
        """Tokens of senders of declarations; empty: none is needed."""
        return _tokens(self.declare_token)

    @property
    def loopback(self) -> bool:
        """True for an address that only this machine reaches: `localhost`, any of 127.0.0.0/8, `::1`."""
        if self._address == "localhost":
            return True
        try:
            return ipaddress.ip_address(self._address).is_loopback
        except ValueError:
            return False

    @property
    def _address(self) -> str:
        return self.host.lower().strip("[]")


def _tokens(secret: SecretStr) -> frozenset[bytes]:
    return frozenset(token.strip().encode() for token in secret.get_secret_value().split(",") if token.strip())
