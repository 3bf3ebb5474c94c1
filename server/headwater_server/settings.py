"""Settings of the HTTP server, section `serve` (`HEADWATER_SERVE_…`)."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from headwater_server.identity.lists import algorithms_in, items, networks_in, scopes_in

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_TOKEN_OF_HTTP = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


def _scope_list(text: str) -> str:
    scopes_in(text)
    return text


def _network_list(text: str) -> str:
    networks_in(text)
    return text


def _algorithm_list(text: str) -> str:
    algorithms_in(text)
    return text


def _header_name(text: str) -> str:
    if not _TOKEN_OF_HTTP.fullmatch(text):
        raise ValueError("not the name of a header")
    return text


ScopeList = Annotated[str, AfterValidator(_scope_list)]
NetworkList = Annotated[str, AfterValidator(_network_list)]
AlgorithmList = Annotated[str, AfterValidator(_algorithm_list)]
HeaderName = Annotated[str, AfterValidator(_header_name)]


class AccessSettingsError(Exception):
    """Settings of log-in or TLS contradict each other, or can't be used.

    Attributes:
        fix: advice, as an imperative sentence.
    """

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


class ServeSettings(BaseModel):
    """The HTTP server. The sections `neo4j` and `analysis` have its database and tenant."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    """The address to listen on. Any but a loopback address needs a way to log in, or `serve.allow_anonymous_reads`."""

    port: Annotated[int, Field(ge=0, le=65_535)] = 8470
    """The port. 0 takes a free port and logs it."""

    allowed_hosts: str = ""
    """Host names that requests may use for this server, separated by commas; `*` is any. Empty: the loopback names and
    `host`, so that no web site can point its own host name at this server and read the graph through a visitor's
    browser. `headwater serve` requires names if `host` isn't a loopback address."""

    threads: Annotated[int, Field(ge=1, le=256)] = 8
    """Questions answered at the same time; each uses a thread and a connection to Neo4j."""

    waiting_max: Annotated[int, Field(ge=0, le=10_000)] = 64
    """Questions that may wait for a thread. Further questions are rejected at once, with 503."""

    mcp_answer_max_bytes: Annotated[int, Field(ge=10_000, le=1_073_741_824)] = 100_000
    """Maximum size of an answer of an MCP tool. A larger answer becomes an error with advice for a narrower question.
    Many assistants accept 25,000 tokens at most, which are about 75,000 bytes."""

    timeout_max_seconds: Annotated[float, Field(gt=0, le=3_600)] = 60.0
    """Maximum time limit of one question, whatever its `timeout`."""

    page_default_items: Annotated[int, Field(ge=1, le=1_000)] = 100
    """Items on a page if a request has no `limit`."""

    page_max_items: Annotated[int, Field(ge=1, le=1_000)] = 1_000
    """The largest number of items on a page, whatever the `limit`."""

    body_max_bytes: Annotated[int, Field(ge=1_024, le=1_073_741_824)] = 1_048_576
    """Maximum size of a request's body."""

    body_timeout_seconds: Annotated[float, Field(gt=0, le=3_600)] = 10.0
    """Longest time that the body of a request may take to arrive. The request counts as a question after that."""

    bodies_per_client_max: Annotated[int, Field(ge=1, le=10_000)] = 16
    """Bodies that one client may be sending at the same time. For a further body, the oldest one is dropped."""

    head_timeout_seconds: Annotated[float, Field(gt=0, le=3_600)] = 10.0
    """Longest time that the head of a request may take to arrive, after the connection was opened, or, on a kept-alive
    connection, after the head's first byte."""

    keep_alive_seconds: Annotated[int, Field(ge=1, le=3_600)] = 5
    """Time that an idle connection is kept for the next request."""

    send_timeout_seconds: Annotated[float, Field(gt=0, le=3_600)] = 30.0
    """Time after which a connection is closed if the client reads nothing of its answer."""

    connections_max: Annotated[int, Field(ge=1, le=100_000)] = 512
    """Connections at the same time. A further connection replaces the one that has been idle for longest."""

    connections_per_client_max: Annotated[int, Field(ge=1, le=100_000)] = 256
    """Maximum number of connections of one client address; for IPv6, of one /64 network."""

    access_file: str | None = None
    """The file of Cedar policies that decide which assets an asker may see. None: every asker sees everything."""

    access_refresh_seconds: Annotated[float, Field(ge=1, le=86_400)] = 10.0
    """Age in seconds at which the visible assets of an asker are computed again, for changes of labels in the graph. A
    changed file takes effect at once."""

    policy: str | None = None
    """The policy file (TOML) for impacts. None: Headwater's default policy."""

    exemptions: str | None = None
    """The file (YAML) of findings of `headwater check` that are accepted, for `/api/v1/checks` and the metrics. None:
    no findings are accepted."""

    check_every_seconds: Annotated[float, Field(ge=0, le=604_800)] = 0.0
    """Interval at which the rules of `headwater check` are checked for the metrics `headwater_check_…`. 0: never."""

    review: bool = True
    """Compare schemas at `/api/v1/review`: the only question that takes more processor time of the server than of
    Neo4j."""

    drain_seconds: Annotated[int, Field(ge=0, le=300)] = 10
    """Longest time that requests in progress may continue when the server is stopped."""

    tokens_file: str | None = None
    """The file of API tokens, which `headwater token` writes. Changes are effective at once. None: no API tokens."""

    allow_anonymous_reads: bool = False
    """Let everybody who reaches the server read the whole graph of its tenant, and its metrics, without a credential.
    Writing always needs a credential."""

    tls_certificate: str | None = None
    """The file (PEM) with the server's certificate and its chain, for HTTPS. Read again when it changes. None: HTTP."""

    tls_key: str | None = None
    """The file (PEM) with the certificate's key, without a password. None: the key is in `serve.tls_certificate`."""

    tls_client_ca: str | None = None
    """The file (PEM) with the authorities whose client certificates log in. Read again when it changes. None: client
    certificates aren't requested."""

    tls_client_scopes: ScopeList = "read"
    """Scopes of a client certificate, separated by commas."""

    proxy_networks: NetworkList = ""
    """Addresses and networks (CIDR), separated by commas, of a proxy that logs people in and names them in headers.
    Empty: such headers are ignored. Headers from any other address are ignored, too."""

    proxy_secret: SecretStr = SecretStr("")
    """The secret that the proxy sends in the header `X-Headwater-Proxy-Secret`, at least 16 characters; or several
    accepted secrets, separated by commas, while a new secret replaces another."""

    proxy_user_header: HeaderName = "X-Forwarded-User"
    """The header in which the proxy names the user."""

    proxy_groups_header: HeaderName = "X-Forwarded-Groups"
    """The header in which the proxy names the user's groups, separated by commas."""

    proxy_scopes: ScopeList = "read"
    """Scopes of the users whom the proxy names, separated by commas."""

    oidc_issuer: str | None = None
    """The issuer of an OIDC provider, exactly as its tokens have it: `https://login.example.org/realms/main`. HTTPS, or
    HTTP on a loopback address. None: no OIDC."""

    oidc_audience: Annotated[str, Field(min_length=1)] | None = None
    """The audience of access tokens, which the provider gives for this server alone. None: no access tokens are
    accepted."""

    oidc_algorithms: AlgorithmList = "RS256,ES256"
    """Accepted algorithms of signatures, separated by commas: RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384,
    ES512 or Ed25519."""

    oidc_groups_claim: Annotated[str, Field(min_length=1)] = "groups"
    """The claim with the groups, a text or a list. Dots separate the names of nested claims: `realm_access.roles`."""

    oidc_tenant_claim: Annotated[str, Field(min_length=1)] | None = None
    """The claim with the tenant, spelled as `serve.oidc_groups_claim`. Tokens without the claim are refused. None:
    everybody asks the server's tenant."""

    oidc_clock_skew_seconds: Annotated[int, Field(ge=0, le=600)] = 60
    """Allowed difference between the clocks of the provider and this server."""

    oidc_scopes: ScopeList = "read"
    """Scopes of access tokens whose claim `scope` has no entry such as `headwater:read`, and of people who logged in on
    the page. Separated by commas."""

    oidc_client_id: Annotated[str, Field(min_length=1)] | None = None
    """The id of this server as a client of the provider, for log-ins on the page. None: nobody can log in there."""

    oidc_client_secret: SecretStr = SecretStr("")
    """The secret of the client `serve.oidc_client_id`. Empty: a public client, which has no secret."""

    oidc_login_scopes: str = "openid"
    """Scopes that are requested when people log in, separated by spaces. Many providers have groups in a scope of
    their own, and give a refresh token only for `offline_access`."""

    public_url: str | None = None
    """The URL by which browsers and MCP clients reach this server, for their log-in: `https://lineage.example.org`.
    HTTPS, or HTTP on a loopback address."""

    session_max_seconds: Annotated[int, Field(ge=60, le=604_800)] = 28_800
    """Longest time from a log-in on the page to the next. A session also ends with the provider's ID token, unless the
    provider gave a refresh token."""

    intake: bool = False
    """Accept OpenLineage events at `/api/v1/lineage` and publish them to the events topic, from senders with the scope
    `write`; section `kafka` has the brokers."""

    declare: bool = False
    """Accept declarations at `/api/v1/declarations`, from senders with the scope `declare`, and actions on incidents at
    `/api/v1/incidents`, from senders with the scope `incidents`; publish them to the events topic. Section `kafka` has
    the brokers."""

    intake_body_max_bytes: Annotated[int, Field(ge=1_024, le=1_073_741_824)] = 16_777_216
    """Maximum size of a body with events or declarations, both as it is sent and as gzip unpacks it."""

    intake_batch_max_events: Annotated[int, Field(ge=1, le=1_000_000)] = 10_000
    """The largest number of events in one batch."""

    intake_requests_max: Annotated[int, Field(ge=1, le=10_000)] = 64
    """Requests with events or declarations at the same time, including requests that wait for Kafka. Further requests
    are rejected with 503."""

    intake_buffer_max_bytes: Annotated[int, Field(ge=1_048_576, le=17_179_869_184)] = 67_108_864
    """Maximum bytes of bodies in memory, and, separately, of events that wait for Kafka. Further requests are rejected
    with 503."""

    intake_timeout_seconds: Annotated[float, Field(gt=0, le=600)] = 10.0
    """Longest time that Kafka may take to acknowledge a request's events or declarations; then the answer is 503."""

    def hosts(self) -> frozenset[str] | None:
        """Names of this server that requests may use, in lower case; None: any."""
        named = frozenset(items(self.allowed_hosts.lower()))
        if "*" in named:
            return None
        return named or LOOPBACK_NAMES | {self._address}

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
