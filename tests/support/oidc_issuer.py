"""An OIDC issuer on loopback whose documents and tokens a test makes up; it counts what it is asked."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from joserfc import jwt
from joserfc.jwk import ECKey, Key, OctKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from headwater_server.identity import login, provider
from support.waiting import patience

if TYPE_CHECKING:
    import pytest

DISCOVERY, KEYS, TOKEN = "/.well-known/openid-configuration", "/keys", "/token"
AUDIENCE = "headwater"
NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)


def be_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give requests to a provider the time that a busy machine may need, and no proxy."""
    monkeypatch.setattr(provider, "_FETCH_SECONDS", patience(30))
    monkeypatch.setattr(login, "_EXCHANGE_SECONDS", patience(30))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@cache
def rsa_key(kid: str) -> RSAKey:
    """A key pair, the same for each id in a process: making one takes a tenth of a second."""
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig"})


def key_for(algorithm: str, kid: str = "k1") -> Key:
    """A key pair for an algorithm."""
    if algorithm.startswith("ES"):
        curve = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}[algorithm]
        return ECKey.generate_key(curve, {"kid": kid})
    if algorithm == "Ed25519":
        return OKPKey.generate_key("Ed25519", {"kid": kid})
    if algorithm.startswith("HS"):
        return OctKey.generate_key(512, {"kid": kid})
    return rsa_key(kid)


@dataclass
class Issuer:
    """Documents of an issuer.

    Attributes:
        url: the issuer.
        keys: members of the key set.
        metadata: further members of the discovery document.
        status: status of every answer.
        granted: answer of the token endpoint, where it gives tokens or an error.
        forms: what the token endpoint was sent.
        asked: paths that were asked for, with their numbers.
        answering: cleared, requests wait until it is set.
    """

    url: str
    keys: list[dict[str, Any]] = field(default_factory=lambda: [public(rsa_key("k1"))])
    metadata: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    granted: dict[str, Any] = field(default_factory=dict)
    forms: list[dict[str, list[str]]] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    answering: threading.Event = field(default_factory=threading.Event)

    def document(self, path: str) -> Any:
        if path == KEYS:
            return {"keys": self.keys}
        if path == TOKEN:
            return self.granted
        own = {"issuer": self.url, "jwks_uri": self.url + KEYS, "token_endpoint": self.url + TOKEN}
        page = {"authorization_endpoint": self.url + "/auth"}
        return own | page | self.metadata if path == DISCOVERY else None

    def token(self, key: Key | None = None, header: dict[str, Any] | None = None, **claims: Any) -> str:
        """A token, valid at `NOW` unless its header or claims are changed; None takes a claim away."""
        at = int(NOW.timestamp())
        whole = {"iss": self.url, "aud": AUDIENCE, "sub": "ann", "iat": at, "nbf": at, "exp": at + 600, **claims}
        whole = {name: value for name, value in whole.items() if value is not None}
        return signed(whole, key or rsa_key("k1"), header or {})


def public(key: Key, **members: Any) -> dict[str, Any]:
    """Public half of a key, as a member of a set."""
    return {**key.as_dict(private=False), **members}


def signed(claims: dict[str, Any], key: Key, header: dict[str, Any]) -> str:
    """A token by any algorithm, also by those that Headwater refuses."""
    whole = {"alg": "RS256", "kid": key.kid, **header}
    whole = {name: value for name, value in whole.items() if value is not None}
    registry = JWSRegistry(algorithms=[whole["alg"]], strict_check_header=False)
    return jwt.encode(whole, claims, key, registry=registry, default_type=None)


@contextmanager
def issuer() -> Iterator[Issuer]:
    """An issuer that answers until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked[self.path] += 1
            assert found.answering.wait(patience(60))
            body = json.dumps(found.document(self.path)).encode()
            self.send_response(found.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
            found.forms.append(parse_qs(sent))
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found = Issuer(f"http://127.0.0.1:{server.server_port}")
        found.answering.set()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield found
        finally:
            found.answering.set()
            server.shutdown()
            thread.join(patience(30))
