"""Identity of a request: by which credential, what it allows, and what is refused."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from fastapi.routing import APIRoute
from starlette.datastructures import Headers
from starlette.routing import Route

from headwater_server.access import configured_authentication
from headwater_server.app import create_app
from headwater_server.identity import Identity, IdentitySource, Scope
from headwater_server.identity.authentication import Authentication
from headwater_server.identity.credentials import CredentialError, CredentialFault, ProviderUnavailableError
from headwater_server.identity.lists import networks_in
from headwater_server.identity.proxy import SECRET_HEADER, TrustedProxy
from headwater_server.identity.tokens import TokenVerifier, create_token, revoke_token
from headwater_server.middleware import identify
from headwater_server.scoped import Access, ScopedRoute, access_of, api_route, needs_of
from headwater_server.settings import AccessSettingsError, ServeSettings
from support.api import FakeGraph, client_of, fake_graph
from support.openlineage import FakeSink, run_event
from support.waiting import patience

if TYPE_CHECKING:
    import httpx

NOW = datetime(2026, 11, 28, tzinfo=UTC)
ME = "/api/v1/me"
UPSTREAM = "/api/v1/assets/orders/upstream"
PROXY_SECRET = "0123456789abcdef-proxy"


@dataclass
class FakeVerifier:
    """Knows the tokens of a provider, or doesn't answer."""

    known: dict[str, Identity] = field(default_factory=dict)
    away: bool = False

    async def identify(self, token: str) -> Identity | None:
        if self.away:
            raise ProviderUnavailableError
        return self.known.get(token)


@dataclass
class FakeSessions:
    """Has sessions in memory."""

    cookie = "session"
    known: dict[str, Identity] = field(default_factory=dict)

    async def identity(self, cookie: str) -> Identity | None:
        return self.known.get(cookie)


def identity(source: IdentitySource, subject: str, *scopes: Scope, **given: Any) -> Identity:
    return Identity(source, subject, scopes=frozenset(scopes or {Scope.READ}), **given)


PROXY = TrustedProxy(
    networks_in("127.0.0.0/8"), (PROXY_SECRET.encode(),), "X-User", "X-Groups", frozenset({Scope.READ})
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens.json"


def token(file: Path, name: str, *scopes: Scope, expires: datetime | None = None, **given: Any) -> str:
    return create_token(file, name, scopes or [Scope.READ], now=NOW, expires=expires, **given)[1]


@contextmanager
def asking(authentication: Authentication, graph: FakeGraph | None = None) -> Iterator[tuple[httpx.Client, FakeGraph]]:
    graph = graph or fake_graph()
    with client_of(graph, create_app(graph, authentication)) as client:
        yield client, graph


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def refused(client: httpx.Client, operator: str, reason: CredentialFault) -> float:
    """Number of requests that were refused for a reason."""
    metrics = client.get("/metrics", headers=bearer(operator)).text
    name = f'headwater_serve_refused_credentials_total{{reason="{reason}"}} '
    return float(next(line for line in metrics.splitlines() if line.startswith(name)).removeprefix(name))


def test_each_credential_is_its_identity(file: Path, subtests: pytest.Subtests) -> None:
    ends = datetime.now(UTC) + timedelta(hours=1)
    authentication = Authentication(
        tokens=TokenVerifier(file),
        bearer=FakeVerifier({"jwt": identity(IdentitySource.OIDC, "ann", groups=frozenset({"g"}), expires=ends)}),
        sessions=FakeSessions({"s1": identity(IdentitySource.SESSION, "bob", tenant="b", shown_name="Bob Ray")}),
        proxy=PROXY,
    )
    cases: list[tuple[dict[str, str], dict[str, Any]]] = [
        (bearer(token(file, "ci", Scope.WRITE, tenant="a")), {"source": "token", "subject": "ci", "tenant": "a"}),
        ({"Authorization": f"bearer  {token(file, 'cd')}"}, {"source": "token", "scopes": ["read"]}),
        (bearer("jwt"), {"source": "oidc", "subject": "ann", "groups": ["g"], "tenant": "default"}),
        ({"Cookie": "a=b; session=s1"}, {"source": "session", "subject": "bob", "name": "Bob Ray", "tenant": "b"}),
        (
            {"X-User": "cay", "X-Groups": "y, x,,", SECRET_HEADER: PROXY_SECRET},
            {"source": "proxy", "subject": "cay", "name": "", "groups": ["x", "y"], "expires": None, "login": None},
        ),
        ({"Authorization": "Basic Og==", "Cookie": "session=s1"}, {"source": "session"}),
    ]
    with asking(authentication) as (client, _):
        for headers, expected in cases:
            with subtests.test(expected=expected):
                answer = client.get(ME, headers=headers)
                assert answer.status_code == 200, answer.text
                assert expected.items() <= answer.json().items()


def test_what_is_no_valid_credential_is_refused(file: Path, subtests: pytest.Subtests) -> None:
    verifier = FakeVerifier({"old": identity(IdentitySource.OIDC, "ann", expires=NOW)})
    authentication = Authentication(tokens=TokenVerifier(file), bearer=verifier, sessions=FakeSessions(), proxy=PROXY)
    expired = token(file, "expired", expires=NOW)
    revoked = token(file, "revoked")
    revoke_token(file, "revoked", now=NOW)
    valid = token(file, "valid", Scope.OPERATE)
    proxied = {"X-User": "cay", SECRET_HEADER: PROXY_SECRET}
    cases: list[tuple[list[tuple[str, str]], int, CredentialFault]] = [
        ([], 401, CredentialFault.MISSING),
        ([("Authorization", "")], 401, CredentialFault.MISSING),
        ([("Authorization", f"Basic {valid}")], 401, CredentialFault.MISSING),
        ([("Authorization", "Bearer")], 401, CredentialFault.UNKNOWN),
        ([("Authorization", "Bearer hw_0")], 401, CredentialFault.UNKNOWN),
        ([("Authorization", f"Bearer {valid},{valid}")], 401, CredentialFault.UNKNOWN),
        ([("Authorization", f"Bearer {expired}")], 401, CredentialFault.EXPIRED),
        ([("Authorization", f"Bearer {revoked}")], 401, CredentialFault.REVOKED),
        ([("Authorization", "Bearer nobodys")], 401, CredentialFault.UNKNOWN),
        ([("Authorization", "Bearer old")], 401, CredentialFault.EXPIRED),
        ([("Cookie", "session=ended")], 401, CredentialFault.EXPIRED),
        ([("X-User", "cay")], 401, CredentialFault.PROXY_SECRET),
        ([("X-User", "cay"), (SECRET_HEADER, "")], 401, CredentialFault.PROXY_SECRET),
        ([("X-User", "cay"), (SECRET_HEADER, PROXY_SECRET[:-1])], 401, CredentialFault.PROXY_SECRET),
        ([("X-User", "cay"), (SECRET_HEADER, PROXY_SECRET), (SECRET_HEADER, "x")], 401, CredentialFault.PROXY_SECRET),
        ([(SECRET_HEADER, PROXY_SECRET)], 401, CredentialFault.MISSING),
        ([("X-User", ""), (SECRET_HEADER, PROXY_SECRET)], 401, CredentialFault.MISSING),
        ([*proxied.items(), ("X-User", "ann")], 400, CredentialFault.SEVERAL),
        ([*proxied.items(), ("X-Groups", "a"), ("X-Groups", "b")], 400, CredentialFault.SEVERAL),
        ([*proxied.items(), ("Authorization", f"Bearer {valid}")], 400, CredentialFault.SEVERAL),
        ([("Authorization", f"Bearer {valid}"), ("Cookie", "session=ended")], 400, CredentialFault.SEVERAL),
        ([("Authorization", f"Bearer {valid}"), ("Authorization", f"Bearer {valid}")], 400, CredentialFault.SEVERAL),
        ([("Cookie", "session=a; session=b")], 400, CredentialFault.SEVERAL),
        ([("Authorization", f"Bearer {valid}")], 403, CredentialFault.SCOPE),
    ]
    problems = {400: "credentials", 401: "unauthenticated", 403: "forbidden"}
    with asking(authentication) as (client, _):
        for headers, status, fault in cases:
            with subtests.test(headers=headers):
                before = refused(client, valid, fault)
                answer = client.get(UPSTREAM, headers=headers)
                assert (answer.status_code, answer.json()["type"]) == (status, f"urn:headwater:{problems[status]}")
                assert refused(client, valid, fault) == before + 1
                challenge = answer.headers.get("www-authenticate", "")
                assert challenge.startswith('Bearer realm="headwater"') == (status != 400)
                assert ("error=" in challenge) == (status != 400 and fault is not CredentialFault.MISSING)
                for _, secret in headers:
                    assert len(secret) < 8 or secret.rpartition(" ")[2] not in answer.text
        verifier.away = True
        answer = client.get(UPSTREAM, headers=bearer("jwt"))
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:headwater:provider-unavailable")
        assert answer.headers["retry-after"]


def test_a_proxys_headers_count_only_from_its_networks(subtests: pytest.Subtests) -> None:
    cases = [
        ("10.0.0.0/24", "10.0.0.9", True),
        ("10.0.0.0/24", "10.0.1.9", False),
        ("10.0.0.7", "10.0.0.7", True),
        ("10.0.0.7", "10.0.0.8", False),
        ("10.0.0.7, fd00::/8", "fd00::1", True),
        ("10.0.0.7, fd00::/8", "fe80::1%eth0", False),
        ("10.0.0.7", "::ffff:10.0.0.7", True),
        ("0.0.0.0/0", "::1", False),
        ("0.0.0.0/0", "", False),
    ]
    headers = Headers({"X-User": "cay", SECRET_HEADER: PROXY_SECRET})
    for networks, address, near in cases:
        with subtests.test(networks=networks, address=address):
            proxy = replace(PROXY, networks=networks_in(networks))
            found = proxy.identify({"client": (address, 1)}, headers)
            assert (found is not None) is near
            if not near:
                # Not even a wrong secret is a mistake there: the headers mean nothing.
                assert proxy.identify({"client": (address, 1)}, Headers({"X-User": "cay"})) is None
    assert PROXY.identify({"client": None}, headers) is None


def test_a_client_that_is_not_the_proxy_cannot_name_a_user(file: Path) -> None:
    authentication = Authentication(
        tokens=TokenVerifier(file), proxy=replace(PROXY, networks=networks_in("192.0.2.0/24"))
    )
    with asking(authentication) as (client, _):
        client.headers.update({"X-User": "root", "X-Forwarded-For": "192.0.2.1", SECRET_HEADER: PROXY_SECRET})
        assert client.get(ME).status_code == 401
        own = client.get(ME, headers=bearer(token(file, "ci"))).json()
        assert (own["source"], own["subject"]) == ("token", "ci")


def test_a_secret_of_the_proxy_can_be_replaced() -> None:
    settings = ServeSettings(proxy_networks="127.0.0.1", proxy_secret=f"{PROXY_SECRET}, {'n' * 16}")
    proxy = configured_authentication(settings).proxy
    assert proxy is not None
    assert PROXY_SECRET not in repr(proxy)
    assert PROXY_SECRET not in repr(settings)
    for secret in (PROXY_SECRET, "n" * 16):
        headers = Headers({"X-Forwarded-User": "cay", SECRET_HEADER: secret})
        assert proxy.identify({"client": ("127.0.0.1", 1)}, headers) is not None
    with pytest.raises(CredentialError):
        proxy.identify({"client": ("127.0.0.1", 1)}, Headers({"X-Forwarded-User": "cay", SECRET_HEADER: "n" * 15}))


def test_without_a_way_to_log_in_everybody_on_this_machine_may_ask() -> None:
    with client_of(fake_graph()) as client:
        answer = client.get(ME, headers={**bearer("anything"), "X-Forwarded-User": "x"}).json()
    assert (answer["source"], answer["subject"], set(answer["scopes"])) == ("anonymous", "", set(Scope))


def test_on_a_network_without_a_way_to_log_in_nobody_may_ask() -> None:
    with client_of(fake_graph(host="0.0.0.0", allowed_hosts="*")) as client:
        assert client.get(UPSTREAM).status_code == 401
        assert client.get("/livez").status_code == 200


def test_anonymous_reads_let_everybody_read_and_nobody_write(file: Path) -> None:
    writer = token(file, "writer", Scope.WRITE)
    graph = fake_graph(
        host="0.0.0.0", allowed_hosts="*", allow_anonymous_reads=True, tokens_file=str(file), intake=True
    )
    sink = FakeSink()
    with client_of(replace(graph, sink=sink)) as client:
        assert client.get(ME).json()["scopes"] == ["expressions", "operate", "read"]
        assert client.get("/metrics").status_code == 200
        answer = client.post("/api/v1/lineage", json=run_event())
        assert (answer.status_code, answer.json()["type"]) == (401, "urn:headwater:unauthenticated")
        assert client.get(ME, headers=bearer("hw_wrong")).status_code == 401, "a wrong credential is no anonymous one"
        assert not sink.taken
        assert client.post("/api/v1/lineage", json=run_event(), headers=bearer(writer)).status_code == 201


def test_what_is_open_needs_no_credential(file: Path, subtests: pytest.Subtests) -> None:
    with asking(Authentication(tokens=TokenVerifier(file))) as (client, _):
        for path in ("/livez", "/readyz", "/", "/docs", "/page.js", "/openapi.json"):
            with subtests.test(path=path):
                assert client.get(path).status_code == 200
                assert client.head(path, headers=bearer("hw_wrong")).status_code == 200
        for path in (
            "/metrics",
            "/api/v1/nothing",
            "/nothing",
            "/favicon.ico",
            "/%61pi/v1/me",
            "/api/v1/assets/%2e%2e",
        ):
            with subtests.test(path=path):
                assert client.get(path).status_code == 401
                assert client.request("DELETE", path).status_code == 401


def test_a_scope_opens_its_own_routes_alone(file: Path, subtests: pytest.Subtests) -> None:
    requests: list[tuple[str, str, Scope]] = [
        ("GET", UPSTREAM, Scope.READ),
        ("HEAD", UPSTREAM, Scope.READ),
        ("POST", "/api/v1/impact/analyze", Scope.READ),
        ("GET", "/metrics", Scope.OPERATE),
        ("POST", "/api/v1/lineage", Scope.WRITE),
        ("POST", "/api/v1/lineage/batch", Scope.WRITE),
        ("POST", "/api/v1/declarations", Scope.DECLARE),
    ]
    graph = fake_graph(intake=True, declare=True)
    with asking(Authentication(tokens=TokenVerifier(file)), graph) as (client, _):
        for scope in Scope:
            secret = token(file, scope.value, scope)
            assert client.get(ME, headers=bearer(secret)).status_code == 200
            assert client.get("/api/v1/nothing", headers=bearer(secret)).status_code == 404
            for method, path, needed in requests:
                with subtests.test(scope=scope, path=path):
                    answer = client.request(method, path, headers=bearer(secret))
                    assert (answer.status_code == 403) == (scope is not needed)
                    assert answer.status_code != 401


def test_no_byte_of_a_body_is_read_without_the_scope(file: Path) -> None:
    secrets = ["", token(file, "reader")]
    with asking(Authentication(tokens=TokenVerifier(file)), fake_graph(intake=True)) as (client, _):
        for secret, status in zip(secrets, (401, 403), strict=True):
            for path in ("/api/v1/lineage", "/api/v1/declarations"):
                with socket.create_connection(("127.0.0.1", client.base_url.port or 0), patience(10)) as connection:
                    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    sent = f"Authorization: Bearer {secret}\r\n" if secret else ""
                    connection.sendall(f"{head}{sent}Content-Length: 9999\r\n\r\n".encode())
                    assert connection.recv(100).startswith(f"HTTP/1.1 {status}".encode())


def test_an_identity_asks_its_own_tenant(file: Path) -> None:
    graph = fake_graph(intake=True)
    sink = FakeSink()
    with asking(Authentication(tokens=TokenVerifier(file)), replace(graph, sink=sink)) as (client, _):
        for tenant, expected in (("a", "a"), ("b", "b"), (None, "default")):
            headers = bearer(token(file, f"of-{tenant}", Scope.READ, Scope.WRITE, tenant=tenant))
            graph.readers.clear()
            client.get(UPSTREAM, headers=headers)
            assert {reader.tenant for reader in graph.readers} == {expected}
            refused = client.get(UPSTREAM, headers=headers, params={"tenant": "b"})
            assert refused.status_code == 422, "a tenant is never a parameter"
            sink.taken.clear()
            # With parameters it takes the way through FastAPI, where they are refused; without, the direct one.
            assert client.post("/api/v1/lineage", json=run_event(), headers=headers).status_code == 201
            assert client.post("/api/v1/lineage/batch", json=[run_event(2)], headers=headers).status_code == 201
            assert {event.tenant for event in sink.taken} == {expected}


def test_credentials_are_never_logged(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    secret = token(file, "ci", Scope.WRITE)
    with caplog.at_level("DEBUG"), asking(Authentication(tokens=TokenVerifier(file), proxy=PROXY)) as (client, _):
        for headers in (bearer(secret), bearer(secret + "0"), {"X-User": "u", SECRET_HEADER: PROXY_SECRET + "0"}):
            assert client.get(UPSTREAM, headers=headers).status_code in {401, 403}
    assert secret not in caplog.text
    assert PROXY_SECRET not in caplog.text


NEEDED: dict[str, Access | Scope] = {
    "/livez": Access.OPEN,
    "/readyz": Access.OPEN,
    "/metrics": Scope.OPERATE,
    "/api/v1/me": Access.IDENTIFIED,
    "/api/v1/lineage": Scope.WRITE,
    "/api/v1/lineage/batch": Scope.WRITE,
    "/api/v1/declarations": Scope.DECLARE,
    "POST /api/v1/incidents": Scope.INCIDENTS,
    "/api/v1/incidents/{id}/actions": Scope.INCIDENTS,
}
"""Paths, with the method before them where others of the path need something else."""


def test_every_route_says_what_it_needs() -> None:
    app = create_app(fake_graph())
    for route in app.routes:
        assert isinstance(route, Route)
        needed = needs_of(route)  # raises, if it doesn't say
        if isinstance(route, APIRoute):
            method = "".join(route.methods or ())
            expected = NEEDED.get(f"{method} {route.path}") or NEEDED.get(route.path, Scope.READ)
            assert needed is expected, route.path
        else:
            assert needed is (Access.IDENTIFIED if route.path == "/mcp" else Access.OPEN), route.path


def test_a_route_without_a_need_is_a_defect() -> None:
    async def nothing(_request: Any) -> Any:
        return None

    app = create_app(fake_graph())
    app.add_route("/api/v1/forgotten", nothing)
    with pytest.raises(TypeError, match="/api/v1/forgotten"):
        access_of(app.routes, {"type": "http", "method": "GET", "path": "/api/v1/forgotten"})
    with client_of(fake_graph(), app) as client:
        assert client.get("/api/v1/forgotten").status_code == 500


def test_a_route_answers_nothing_if_another_access_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever makes `access_of` find another route than the router."""
    monkeypatch.setattr(identify, "access_of", lambda _routes, _scope: Access.OPEN)
    with client_of(fake_graph()) as client:
        for path in (UPSTREAM, "/metrics", ME):
            assert client.get(path).status_code == 500
        assert client.get("/livez").status_code == 200


def test_the_access_is_that_of_the_route_that_answers() -> None:
    """The first full match, as the router's; else the first whose path matches."""

    async def nothing(_request: Any) -> Any:
        return None

    routes = [
        ScopedRoute("/a/{id:path}/up", nothing, needs=Scope.READ),
        ScopedRoute("/a/b", nothing, needs=Access.OPEN),
        api_route(Scope.WRITE)("/a/b", nothing, methods=["POST"], response_model=None),
        ScopedRoute("/a/{id:path}", nothing, needs=Scope.OPERATE),
    ]

    def access(method: str, path: str) -> Access | Scope:
        return access_of(routes, {"type": "http", "method": method, "path": path})

    assert access("GET", "/a/b") is Access.OPEN
    assert access("HEAD", "/a/b") is Access.OPEN
    assert access("POST", "/a/b") is Scope.WRITE
    assert access("DELETE", "/a/b") is Access.OPEN  # 405
    assert access("GET", "/a/b/up") is Scope.READ
    assert access("GET", "/a/c") is Scope.OPERATE
    assert access("GET", "/c") is Access.IDENTIFIED


def test_settings_that_contradict_each_other_are_refused(subtests: pytest.Subtests) -> None:
    oidc = {"oidc_issuer": "https://login.example.org", "oidc_audience": "headwater"}
    page = {**oidc, "oidc_client_id": "page", "public_url": "http://localhost:8470"}
    for given, match in [
        ({"proxy_networks": "10.0.0.1"}, "secret"),
        ({"proxy_networks": "10.0.0.1", "proxy_secret": "short"}, "secret"),
        ({"proxy_networks": "10.0.0.1", "proxy_secret": f"{PROXY_SECRET},short"}, "secret"),
        ({"proxy_secret": PROXY_SECRET}, "network"),
        ({"oidc_audience": "headwater"}, "no OIDC provider"),
        ({"oidc_client_id": "page"}, "no OIDC provider"),
        ({"public_url": "http://localhost:8470"}, "no OIDC provider"),
        ({**oidc, "oidc_client_secret": PROXY_SECRET}, "no client"),
        ({**oidc, "public_url": "http://lineage.example.org"}, "HTTPS"),
        ({**oidc, "oidc_client_id": "page"}, "by which browsers and MCP clients reach"),
        ({**page, "public_url": "http://lineage.example.org"}, "HTTPS"),
        ({**page, "public_url": "https://lineage.example.org/?a"}, "query"),
        ({**page, "public_url": "https://lineage.example.org"}, "host name"),
        ({**page, "oidc_login_scopes": "profile"}, "openid"),
        ({"oidc_issuer": "https://login.example.org"}, "no setting that uses the provider"),
        ({"oidc_issuer": "http://login.example.org", "oidc_audience": "headwater"}, "HTTPS"),
    ]:
        with subtests.test(given=given), pytest.raises(AccessSettingsError, match=match) as error:
            configured_authentication(ServeSettings.model_validate(given))
        assert PROXY_SECRET not in str(error.value)
    for given in (
        {"proxy_networks": "10.0.0.1/8"},
        {"proxy_networks": "host"},
        {"proxy_scopes": "read, all"},
        {"tls_client_scopes": "everything"},
        {"proxy_user_header": "X User"},
        {"oidc_algorithms": "RS256,HS256"},
        {"oidc_algorithms": "none"},
        {"oidc_algorithms": ""},
        {"oidc_scopes": "headwater:read"},
    ):
        with subtests.test(given=given), pytest.raises(ValueError, match=next(iter(given))):
            ServeSettings.model_validate(given)
