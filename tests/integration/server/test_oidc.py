"""Access tokens of a real OIDC provider."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

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
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


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
