"""TLS of the server: real certificates over the real server; reloaded files, and client certificates."""

from __future__ import annotations

import contextlib
import http.client
import json
import logging
import shutil
import socket
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from headwater_server.access import configured_authentication, configured_tls
from headwater_server.app import create_app
from headwater_server.identity import Scope
from headwater_server.identity.certificates import identity_in
from headwater_server.identity.credentials import CredentialError
from headwater_server.identity.tokens import create_token
from headwater_server.server import HttpServer
from headwater_server.settings import AccessSettingsError, ServeSettings
from headwater_server.tls import ServerTls, TlsFilesError
from support.api import fake_graph
from support.certificates import Certificate, certificate
from support.waiting import eventually, patience

ME = "/api/v1/me"
REFUSED = (ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: Any


@dataclass(frozen=True)
class Client:
    """Asks a server, each time over a new connection.

    Attributes:
        server: the server.
        trusts: authority of the server's certificate.
        shows: its own certificate.
    """

    server: HttpServer
    trusts: Certificate
    shows: Certificate | None = None

    def get(self, path: str, headers: dict[str, str] | None = None) -> Answer:
        with contextlib.closing(self.connection()) as connection:
            connection.request("GET", path, headers=headers or {})
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, json.loads(answer.read()))

    def connection(self) -> http.client.HTTPSConnection:
        port = int(self.server.url.rpartition(":")[2])
        return http.client.HTTPSConnection("127.0.0.1", port, context=self.context(), timeout=patience(30))

    def context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.trusts.file))
        if self.shows is not None:
            context.load_cert_chain(self.shows.file, self.shows.key)
        return context


@pytest.fixture
def ca(tmp_path: Path) -> Certificate:
    return certificate(tmp_path, "ca", authority=True)


@pytest.fixture
def own(tmp_path: Path, ca: Certificate) -> Certificate:
    return certificate(tmp_path, "server", ca, server=True)


@contextlib.contextmanager
def serving(own: Certificate, ca: Certificate, **serve: Any) -> Iterator[Client]:
    """A server with this certificate, and a client that trusts the authority."""
    graph = fake_graph(tls_certificate=str(own.file), tls_key=str(own.key), **serve)
    authentication = configured_authentication(graph.serve)
    tls = configured_tls(graph.serve, authentication)
    with contextlib.closing(HttpServer(graph, create_app(graph, authentication, tls), tls)) as server:
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            yield Client(server, ca)
        finally:
            server.stop()
            thread.join(patience(30))
            assert not thread.is_alive()


def test_it_serves_https(own: Certificate, ca: Certificate) -> None:
    with serving(own, ca) as client:
        assert client.server.url.startswith("https://127.0.0.1:")
        answer = client.get("/livez")
        assert answer.status == 200
        assert answer.headers["strict-transport-security"] == "max-age=31536000"
        assert client.get(ME).body["source"] == "anonymous"
        with contextlib.closing(client.connection()) as kept:
            for _ in range(3):
                kept.request("GET", "/livez")
                assert kept.getresponse().read() == b'{"alive":true}'
            assert isinstance(kept.sock, ssl.SSLSocket)
            assert kept.sock.version() == "TLSv1.3"
            assert len(client.server.connections.counts) == 1
        eventually(lambda: not client.server.connections.counts)
        with pytest.raises(ssl.SSLCertVerificationError):
            replace(client, trusts=own).get("/livez")


def test_http_and_old_tls_are_no_way_in(own: Certificate, ca: Certificate) -> None:
    with serving(own, ca) as client:
        port = int(client.server.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), patience(30)) as plain:
            plain.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
            with contextlib.suppress(ConnectionResetError):
                assert b"alive" not in plain.recv(1_000)
        old = client.context()
        old.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with (
            socket.create_connection(("127.0.0.1", port), patience(30)) as raw,
            pytest.raises((ssl.SSLError, ConnectionError)),
        ):
            old.wrap_socket(raw, server_hostname="127.0.0.1")


def test_a_new_certificate_is_used_without_a_restart(
    tmp_path: Path, own: Certificate, ca: Certificate, caplog: pytest.LogCaptureFixture
) -> None:
    other = certificate(tmp_path, "other-ca", authority=True)
    renewed = certificate(tmp_path, "renewed", other, server=True)
    with caplog.at_level(logging.INFO), serving(own, ca) as client, contextlib.closing(client.connection()) as kept:
        kept.request("GET", "/livez")
        kept.getresponse().read()
        # The certificate first: until its key is there the two don't belong together.
        shutil.copy(renewed.file, own.file)
        assert client.get("/livez").status == 200, "the old one stays in use"
        assert "stay in use" in caplog.text
        assert b"tls_files_up 0.0" in metrics(client)
        shutil.copy(renewed.key, own.key)
        assert replace(client, trusts=other).get("/livez").status == 200
        with pytest.raises(ssl.SSLCertVerificationError):
            client.get("/livez")
        assert b"tls_files_up 1.0" in metrics(replace(client, trusts=other))
        kept.request("GET", "/livez")
        assert kept.getresponse().read() == b'{"alive":true}', "connections stay"
        for broken in (b"", b"nonsense", ca.file.read_bytes()):
            own.file.write_bytes(broken)
            assert replace(client, trusts=other).get("/livez").status == 200
        own.file.unlink()
        assert replace(client, trusts=other).get("/livez").status == 200
    assert own.key.read_text().splitlines()[1] not in caplog.text


def metrics(client: Client) -> bytes:
    with contextlib.closing(client.connection()) as connection:
        connection.request("GET", "/metrics")
        return connection.getresponse().read()


def test_a_client_certificate_logs_in(tmp_path: Path, own: Certificate, ca: Certificate) -> None:
    robot = certificate(tmp_path, "robot", ca, subject=[("CN", "robot"), ("OU", "flights"), ("OU", "ops")])
    secret = create_token(tmp_path / "tokens", "ci", [Scope.READ], now=datetime.now(UTC), expires=None)[1]
    tokens = str(tmp_path / "tokens")
    with serving(own, ca, tls_client_ca=str(ca.file), tls_client_scopes="read,write", tokens_file=tokens) as client:
        answer = replace(client, shows=robot).get(ME)
        assert answer.status == 200
        expires = datetime.fromisoformat(answer.body.pop("expires"))
        assert expires == robot.x509.not_valid_after_utc
        assert answer.body == {
            "source": "certificate",
            "subject": "robot",
            "name": "",
            "tenant": "default",
            "groups": ["flights", "ops"],
            "scopes": ["read", "write"],
            "filtered": False,
            "login": None,
        }
        token = {"Authorization": f"Bearer {secret}"}
        assert client.get(ME, token).body["source"] == "token"
        assert client.get(ME).status == 401
        assert replace(client, shows=robot).get(ME, token).status == 400


def test_other_client_certificates_end_the_handshake(
    tmp_path: Path, own: Certificate, ca: Certificate, caplog: pytest.LogCaptureFixture
) -> None:
    other = certificate(tmp_path, "other-ca", authority=True)
    strange = {
        "of another authority": certificate(tmp_path, "strange", other),
        "of a false authority": certificate(tmp_path, "false", certificate(tmp_path, "ca-2", authority=True)),
        "expired": certificate(tmp_path, "expired", ca, lasts=timedelta(hours=-1)),
        "of a server": certificate(tmp_path, "of-server", ca, server=True),
        "signed by itself": certificate(tmp_path, "itself"),
    }
    tokens = str(tmp_path / "tokens")
    with serving(own, ca, tls_client_ca=str(ca.file), tokens_file=tokens) as client:
        for what, shown in strange.items():
            with pytest.raises(REFUSED):
                replace(client, shows=shown).get("/livez")
            eventually(lambda: "TLS handshake with 127.0.0.1 failed" in caplog.text, expecting=what)
            caplog.clear()
        assert client.get("/livez").status == 200


def test_certificates_alone_are_required(tmp_path: Path, own: Certificate, ca: Certificate) -> None:
    robot = certificate(tmp_path, "robot", ca)
    with serving(own, ca, tls_client_ca=str(ca.file)) as client:
        assert replace(client, shows=robot).get(ME).body["subject"] == "robot"
        with pytest.raises(REFUSED):
            client.get("/livez")
    with serving(own, ca, tls_client_ca=str(ca.file), allow_anonymous_reads=True) as client:
        assert client.get(ME).body["source"] == "anonymous"
        assert replace(client, shows=robot).get(ME).body["source"] == "certificate"


def test_a_new_client_ca_is_used_without_a_restart(tmp_path: Path, own: Certificate, ca: Certificate) -> None:
    robot = certificate(tmp_path, "robot", ca)
    other = certificate(tmp_path, "other-ca", authority=True)
    newer = certificate(tmp_path, "newer", other)
    clients = tmp_path / "clients.pem"
    shutil.copy(ca.file, clients)
    with serving(own, ca, tls_client_ca=str(clients)) as client:
        assert replace(client, shows=robot).get(ME).status == 200
        shutil.copy(other.file, clients)
        assert replace(client, shows=newer).get(ME).body["subject"] == "newer"
        with pytest.raises(REFUSED):
            replace(client, shows=robot).get(ME)
        clients.write_bytes(ca.file.read_bytes() + other.file.read_bytes())
        for shown in (robot, newer):
            assert replace(client, shows=shown).get(ME).status == 200


def test_an_intermediate_authority_alone_can_be_trusted(tmp_path: Path, own: Certificate, ca: Certificate) -> None:
    between = certificate(tmp_path, "between", ca, authority=True)
    robot, beside = certificate(tmp_path, "robot", between), certificate(tmp_path, "beside", ca)
    with serving(own, ca, tls_client_ca=str(between.file)) as client:
        assert replace(client, shows=robot).get(ME).body["subject"] == "robot"
        with pytest.raises(REFUSED):
            replace(client, shows=beside).get(ME)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_no_session_is_resumed_past_a_new_client_ca(
    tmp_path: Path, own: Certificate, ca: Certificate, version: ssl.TLSVersion
) -> None:
    robot = certificate(tmp_path, "robot", ca)
    other = certificate(tmp_path, "other-ca", authority=True)
    clients = tmp_path / "clients.pem"
    shutil.copy(ca.file, clients)
    with serving(own, ca, tls_client_ca=str(clients)) as client:
        context = replace(client, shows=robot).context()
        context.maximum_version = version
        port = int(client.server.url.rpartition(":")[2])

        def asked(session: ssl.SSLSession | None) -> tuple[bytes, ssl.SSLSession | None]:
            with (
                socket.create_connection(("127.0.0.1", port), patience(30)) as raw,
                context.wrap_socket(raw, server_hostname="127.0.0.1", session=session) as secured,
            ):
                secured.sendall(f"GET {ME} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
                return secured.recv(1_000), secured.session

        answer, session = asked(None)
        assert b"200 OK" in answer
        answer, session = asked(session)
        assert b"200 OK" in answer
        assert session is not None
        shutil.copy(other.file, clients)
        with contextlib.suppress(*REFUSED):
            assert asked(session)[0] == b""


def test_silent_handshakes_take_no_place_from_others(own: Certificate, ca: Certificate) -> None:
    limits = {"connections_max": 16, "head_timeout_seconds": 600}
    with serving(own, ca, **limits) as client, contextlib.ExitStack() as open_:
        port = int(client.server.url.rpartition(":")[2])
        silent = [open_.enter_context(socket.create_connection(("127.0.0.1", port), patience(30))) for _ in range(60)]
        assert client.get("/livez").status == 200
        tls = client.server.tls_connections
        assert tls is not None
        assert len(tls.handshakes) <= 32
        assert tls.evicted >= 28
        with contextlib.suppress(ConnectionResetError):
            assert silent[0].recv(10) == b""


def test_a_handshake_has_the_time_of_a_head(
    own: Certificate, ca: Certificate, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(own, ca, head_timeout_seconds=0.5) as client:
        port = int(client.server.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), patience(30)) as silent:
            with contextlib.suppress(ConnectionResetError):
                assert silent.recv(10) == b""
            eventually(lambda: "took too long" in caplog.text)


def test_an_answer_that_is_not_taken_is_given_up(own: Certificate, ca: Certificate) -> None:
    with serving(own, ca, send_timeout_seconds=0.2, keep_alive_seconds=60) as client:
        port = int(client.server.url.rpartition(":")[2])
        with (
            socket.create_connection(("127.0.0.1", port), patience(30)) as raw,
            client.context().wrap_socket(raw, server_hostname="127.0.0.1") as lazy,
        ):
            lazy.sendall(b"GET /elk-worker.min.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 8)
            eventually(lambda: client.server.connections.late)
            eventually(lambda: not client.server.connections.counts)
        assert client.get("/livez").status == 200


def test_a_refused_body_has_its_answer(own: Certificate, ca: Certificate) -> None:
    """The client still sends while it is refused, and sees the answer all the same."""
    with serving(own, ca, body_max_bytes=1_024) as client, contextlib.closing(client.connection()) as connection:
        connection.putrequest("POST", "/api/v1/impact/analyze")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", "9999999")
        connection.endheaders()
        for _ in range(20):
            connection.send(b"x" * 65_536)
        answer = connection.getresponse()
        assert answer.status == 413
        assert json.loads(answer.read())["type"] == "urn:headwater:too-large"


def test_files_that_cannot_be_used_are_refused_at_the_start(
    tmp_path: Path, own: Certificate, ca: Certificate, subtests: pytest.Subtests
) -> None:
    secret = tmp_path / "secret.key"
    secret.write_bytes(
        own.private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"password"),
        )
    )
    other = certificate(tmp_path, "other", ca, server=True)
    cases = [
        ({"tls_certificate": str(tmp_path / "none.pem"), "tls_key": str(own.key)}, "No such file"),
        ({"tls_certificate": str(own.file), "tls_key": str(other.key)}, "mismatch"),
        ({"tls_certificate": str(own.file)}, "can't be used"),
        ({"tls_certificate": str(own.file), "tls_key": str(secret)}, "has a password"),
        ({"tls_certificate": str(own.file), "tls_key": str(own.key), "tls_client_ca": str(own.key)}, "client CA"),
        ({"tls_key": str(own.key)}, "no certificate"),
        ({"tls_client_ca": str(ca.file)}, "no certificate"),
    ]
    for given, match in cases:
        serve = ServeSettings.model_validate(given)
        authentication = configured_authentication(serve)
        with subtests.test(given=given), pytest.raises((TlsFilesError, AccessSettingsError), match=match):
            configured_tls(serve, authentication)
    both = tmp_path / "both.pem"
    both.write_bytes(own.key.read_bytes() + own.file.read_bytes())
    assert ServerTls(both, None, None, required=False).check()


def test_the_name_in_a_certificate(tmp_path: Path, ca: Certificate, subtests: pytest.Subtests) -> None:
    spiffe = x509.UniformResourceIdentifier("spiffe://example.org/robot")
    cases: list[tuple[list[tuple[str, str]], list[x509.GeneralName], str | None]] = [
        ([("CN", "robot")], [x509.DNSName("x.example"), spiffe], "robot"),
        ([("OU", "ops")], [x509.DNSName("x.example"), spiffe], "spiffe://example.org/robot"),
        ([("OU", "ops")], [x509.RFC822Name("a@example.org"), x509.DNSName("x.example")], "x.example"),
        ([("OU", "ops")], [x509.RFC822Name("a@example.org")], "a@example.org"),
        ([("CN", "a"), ("CN", "b")], [], None),
        ([("OU", "ops")], [], None),
        ([("CN", " ")], [], None),
    ]
    for number, (subject, also, expected) in enumerate(cases):
        with subtests.test(subject=subject, also=also):
            made = certificate(tmp_path, f"c{number}", ca, subject=subject, also=also)
            decoded = ssl._ssl._test_decode_cert(str(made.file))  # type: ignore[attr-defined]
            if expected is None:
                with pytest.raises(CredentialError):
                    identity_in(decoded, frozenset())
            else:
                assert identity_in(decoded, frozenset()).subject == expected
