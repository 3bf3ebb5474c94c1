"""Log-in of an assistant: the official client finds a real provider, registers itself, and gets a token."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from headwater_server.settings import ServeSettings
from support.api import client_with_login
from support.oidc_issuer import be_patient
from support.oidc_provider import AUDIENCE, RealProvider, running_provider
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

    from headwater_server.asking import Graph

pytestmark = pytest.mark.stack

BACK = "http://127.0.0.1/back"


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[RealProvider]:
    be_patient(monkeypatch)
    with running_provider() as found:
        yield found


class Kept:
    """Storage of an assistant's registration and tokens."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """A browser, in which a person logs in."""

    def __init__(self) -> None:
        self._browser = httpx2.AsyncClient(trust_env=False, timeout=patience(60))
        self._back = httpx2.URL()

    async def open(self, url: str) -> None:
        """Go where the provider leads, until it leads back to the assistant."""
        at = httpx2.URL(url)
        while not str(at).startswith(BACK):
            answer = await self._browser.get(at)
            assert answer.is_redirect, answer.text
            at = answer.url.join(answer.headers["location"])
        self._back = at

    async def come_back(self) -> AuthorizationCodeResult:
        """The provider's answer."""
        return AuthorizationCodeResult.model_validate(dict(self._back.params))

    async def close(self) -> None:
        """Close the browser."""
        await self._browser.aclose()


def test_an_assistant_logs_in_and_asks(read_demo: Driver, graph: Graph, provider: RealProvider) -> None:
    kept = Kept()

    async def conversation(url: str) -> Any:
        person = Person()
        registration = OAuthClientMetadata(
            client_name="assistant",
            redirect_uris=[AnyUrl(BACK)],
            grant_types=["authorization_code", "refresh_token"],
            token_endpoint_auth_method="none",
            application_type="native",
        )
        log_in = OAuthClientProvider(url, registration, kept, person.open, person.come_back)
        async with (
            httpx2.AsyncClient(trust_env=False, auth=log_in, timeout=patience(60)) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            result = await client.call_tool("show", {"name": "flights.departed"})
        await person.close()
        return result

    serve = ServeSettings(port=0, oidc_issuer=provider.issuer, oidc_audience=AUDIENCE)
    with client_with_login(dataclasses.replace(graph, serve=serve)) as client:
        url = f"{str(client.base_url).rstrip('/')}/mcp"
        refused = client.post("/mcp")
        assert refused.status_code == 401
        assert "resource_metadata=" in refused.headers["www-authenticate"]
        result = asyncio.run(conversation(url))
    assert not result.is_error, result
    assert result.structured_content["dataset"]["title"] == "flights.departed"
    assert kept.client is not None
    assert kept.tokens is not None
