"""Access tokens of a real OIDC provider."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from headwater_server.identity import provider as providers
from support.api import client_of, fake_graph
from support.oidc_issuer import be_patient
from support.oidc_provider import AUDIENCE, RealProvider, running_provider
from support.waiting import eventually

if TYPE_CHECKING:
    import httpx

ME = "/api/v1/me"


@pytest.fixture
def provider() -> Iterator[RealProvider]:
    with running_provider() as found:
        yield found


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between requests to the provider that a test can wait for."""
    be_patient(monkeypatch)
    monkeypatch.setattr(providers, "PAUSE_SECONDS", 0.2)
    monkeypatch.setattr(providers, "RETRY_SECONDS", 0.2)


@contextmanager
def serving(issuer: str, **settings: Any) -> Iterator[httpx.Client]:
    with client_of(fake_graph(oidc_issuer=issuer, oidc_audience=AUDIENCE, **settings)) as client:
        yield client


def asked(client: httpx.Client, token: str) -> httpx.Response:
    return client.get(ME, headers={"Authorization": f"Bearer {token}"})


def test_tokens_of_a_real_provider(provider: RealProvider) -> None:
    provider.control(groups={"program": ["pipelines", "staff"]})
    with serving(provider.issuer, oidc_clock_skew_seconds=0) as client, running_provider() as another:
        answer = asked(client, provider.token(scope="headwater:read headwater:operate"))
        assert answer.status_code == 200, answer.text
        assert answer.json() | {"expires": ""} == {
            "source": "oidc",
            "subject": "program",
            "name": "",
            "tenant": "default",
            "groups": ["pipelines", "staff"],
            "scopes": ["operate", "read"],
            "filtered": False,
            "login": None,
            "expires": "",
        }
        assert asked(client, provider.token()).json()["scopes"] == ["read"]
        assert asked(client, provider.token("urn:other")).status_code == 401, "wrong audience"
        assert asked(client, another.token()).status_code == 401, "wrong issuer"
        refused = asked(client, "e30.e30.")
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == 'Bearer realm="headwater", error="invalid_token"'

        brief = provider.token("urn:headwater:brief")
        eventually(lambda: asked(client, brief).status_code == 401, 10, expecting="the token expires")

        # Groups are those of the token: whoever loses one, has it until the token ends.
        provider.control(groups={"program": ["staff"]})
        assert asked(client, provider.token()).json()["groups"] == ["staff"]


def test_a_real_provider_rotates_its_key(provider: RealProvider) -> None:
    with serving(provider.issuer) as client:
        before = provider.token()
        assert asked(client, before).status_code == 200
        provider.control(rotate=True)
        after = provider.token()
        eventually(lambda: asked(client, after).status_code == 200, expecting="the new key is known")
        assert asked(client, before).status_code == 401, "its key is gone"


def test_a_real_provider_goes_away(provider: RealProvider) -> None:
    token = provider.token()
    provider.control(away=True)
    with serving(provider.issuer) as client:
        answer = asked(client, token)
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:headwater:provider-unavailable")
        assert client.get("/livez").status_code == 200, "the server starts without it"
        provider.control(away=False)
        eventually(lambda: asked(client, token).status_code == 200, expecting="the provider is asked again")
        provider.stop()
        assert asked(client, token).status_code == 200, "by the keys that it had"
        with serving(provider.issuer) as new:
            assert asked(new, token).status_code == 503
