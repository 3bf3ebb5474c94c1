"""The registry's client, against a small registry in this process."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from headwater_schemas.avro_schema import current_schema
from headwater_schemas.errors import CredentialsRefusedError, RegistryRefusedError, SchemasUnavailableError
from headwater_schemas.registry import ASK_AGAIN_SECONDS, RegistryClient, RegistrySettings


class Registry(HTTPServer):
    """Answers from a script: (method, path) to (status, body)."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[tuple[str, str], tuple[int, Any]] = {}
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        self.server.requests.append((self.command, self.path, dict(self.headers), body))
        status, answer = self.server.answers.get((self.command, self.path), (404, {"error_code": 40403}))
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815 - http.server's name

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def registry() -> Iterator[Registry]:
    with Registry() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def client(registry: Registry, **settings: Any) -> RegistryClient:
    return RegistryClient(RegistrySettings(url=registry.url, **settings))


def test_a_schema_is_asked_for_once(registry: Registry) -> None:
    registry.answers["GET", "/schemas/ids/7"] = (200, {"schema": current_schema().text})
    asking = client(registry)
    for _ in range(3):
        found = asking.schema(7)
        assert found is not None
        assert found.fingerprint == current_schema().fingerprint
    assert len(registry.requests) == 1


def test_what_is_no_avro_schema_is_absent_and_asked_for_again_later(
    subtests: pytest.Subtests, registry: Registry
) -> None:
    cases = [
        (404, {"error_code": 40403}),
        (200, {"schema": "syntax = proto3", "schemaType": "PROTOBUF"}),
        (200, {"schema": "{"}),
        (200, b"<html>"),
    ]
    for answer in cases:
        with subtests.test(answer=answer):
            now = [0.0]
            registry.requests.clear()
            registry.answers["GET", "/schemas/ids/7"] = answer
            asking = RegistryClient(RegistrySettings(url=registry.url), clock=partial(now.__getitem__, 0))
            assert asking.schema(7) is None
            assert asking.schema(7) is None
            assert len(registry.requests) == 1
            now[0] = ASK_AGAIN_SECONDS
            registry.answers["GET", "/schemas/ids/7"] = (200, {"schema": current_schema().text})
            assert asking.schema(7) is not None


def test_registering_gives_the_id(registry: Registry) -> None:
    registry.answers["POST", "/subjects/a%2Fb-value/versions"] = (200, {"id": 12})
    credentials = {"username": "u", "password": SecretStr("p")}
    assert client(registry, **credentials).register("a/b-value", current_schema()) == 12
    _, _, headers, body = registry.requests[0]
    assert body == {"schema": current_schema().text}
    assert headers["Authorization"] == "Basic dTpw"


def test_a_refused_schema_is_fatal_and_says_why(registry: Registry) -> None:
    registry.answers["POST", "/subjects/s/versions"] = (409, {"message": "incompatible"})
    with pytest.raises(RegistryRefusedError, match=r"409.*incompatible.*HEADWATER_REGISTRY_URL"):
        client(registry).register("s", current_schema())


def test_refused_credentials_are_fatal_and_name_the_setting(subtests: pytest.Subtests, registry: Registry) -> None:
    for status in [401, 403]:
        with subtests.test(status=status):
            registry.answers["GET", "/schemas/ids/7"] = (status, {})
            with pytest.raises(CredentialsRefusedError, match="HEADWATER_REGISTRY_PASSWORD"):
                client(registry).schema(7)


def test_a_registry_in_trouble_is_transient(subtests: pytest.Subtests, registry: Registry) -> None:
    for status in [500, 503, 429]:
        with subtests.test(status=status):
            registry.answers["GET", "/schemas/ids/7"] = (status, {})
            asking = client(registry)
            with pytest.raises(SchemasUnavailableError, match=str(status)):
                asking.schema(7)
            registry.answers["GET", "/schemas/ids/7"] = (200, {"schema": current_schema().text})
            assert asking.schema(7) is not None, "trouble must not be remembered as absence"


def test_an_unreachable_registry_is_transient() -> None:
    settings = RegistrySettings(url="http://127.0.0.1:1", timeout_seconds=2)
    with pytest.raises(SchemasUnavailableError, match=r"127\.0\.0\.1:1"):
        RegistryClient(settings).schema(7)


def test_credentials_in_the_address_are_refused_and_not_printed() -> None:
    with pytest.raises(ValidationError, match="contain a user or a password") as caught:
        RegistrySettings(url="http://user:hunter2@127.0.0.1:1")
    assert "hunter2" not in str(caught.value)


def test_only_http_urls_are_taken() -> None:
    with pytest.raises(ValidationError):
        RegistrySettings(url="file:///etc/passwd")
