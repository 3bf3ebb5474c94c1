"""Log-in of people at a real OIDC provider, by a client of HTTP that keeps cookies as a browser does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from headwater_server.identity import sessions
from support.api import client_with_login, fake_graph
from support.oidc_issuer import be_patient
from support.oidc_provider import PAGE, RealProvider, running_provider
from support.waiting import patience

ME = "/api/v1/me"
COOKIE = "headwater_session"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture
def provider() -> Iterator[RealProvider]:
    with running_provider() as found:
        yield found


@contextmanager
def browsing(provider: RealProvider, **settings: Any) -> Iterator[httpx.Client]:
    """A browser, and the page's server under its base URL."""
    client_id, secret = PAGE
    login = {"oidc_issuer": provider.issuer, "oidc_client_id": client_id, "oidc_client_secret": secret}
    with client_with_login(fake_graph(declare=True), **login, **settings) as client:
        provider.control(redirects=[str(client.base_url).rstrip("/")], groups={"ann": ["pipelines", "staff"]})
        with browser(client) as found:
            yield found


def browser(client: httpx.Client) -> httpx.Client:
    return httpx.Client(base_url=client.base_url, trust_env=False, follow_redirects=True, timeout=patience(60))


def log_in(client: httpx.Client, path: str = "/") -> httpx.Response:
    answer = client.get("/login", params={"return": path})
    assert answer.status_code == 200, answer.text
    return answer


def callback_of(answer: httpx.Response) -> httpx.Response:
    return next(each for each in answer.history if each.url.path == "/login/callback")


def test_a_person_logs_in_and_out(provider: RealProvider) -> None:
    with browsing(provider) as client:
        refused = client.get(ME)
        assert (refused.status_code, refused.headers["x-headwater-login"]) == (401, "login")
        answer = log_in(client, "/docs?a=b")
        assert str(answer.url) == f"{str(client.base_url).rstrip('/')}/docs?a=b"

        begun, ended = answer.history[0], callback_of(answer)
        challenge = begun.headers["location"]
        assert "code_challenge_method=S256" in challenge
        assert {"nonce", "state", "code_challenge"} <= set(httpx.URL(challenge).params)
        for set_by in (begun, ended):
            cookie = set_by.headers["set-cookie"]
            assert "HttpOnly" in cookie
            assert "SameSite=lax" in cookie
            assert "Path=/" in cookie
            assert "Domain" not in cookie
            assert set_by.headers["cache-control"] == "no-store"
        assert len(client.cookies[COOKIE]) == 43, "256 bits"

        me = client.get(ME).json()
        assert (me["source"], me["subject"], me["groups"]) == ("session", "ann", ["pipelines", "staff"])
        assert me["scopes"] == ["read"]

        before = client.cookies[COOKIE]
        log_in(client)
        assert client.cookies[COOKIE] != before, "a new id at each log-in"
        with browser(client) as old:
            assert old.get(ME, headers={"Cookie": f"{COOKIE}={before}"}).status_code == 401

        session = client.cookies[COOKIE]
        location = client.post("/logout").json()["location"]
        assert COOKIE not in client.cookies
        with browser(client) as old:
            assert old.get(ME, headers={"Cookie": f"{COOKIE}={session}"}).status_code == 401, "it ended on the server"

        # At the provider, too: else the next log-in would be the same person's, without being asked.
        asked = client.get(location)
        form = dict(re.findall(r'name="([^"]+)" value="([^"]+)"', asked.text))
        action = re.search(r'action="([^"]+)"', asked.text)
        assert action is not None
        ended = client.post(action[1], data={**form, "logout": "yes"})
        assert ended.url.query == b"logged-out"
        provider.control(user="bob")
        log_in(client)
        assert client.get(ME).json()["subject"] == "bob"


def test_a_group_that_is_taken_away(provider: RealProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "CHECK_SECONDS", 0)
    monkeypatch.setattr(sessions, "RETRY_SECONDS", 0)
    with browsing(provider) as client:
        log_in(client)
        assert client.get(ME).json()["groups"] == ["pipelines", "staff"]
        provider.control(groups={"ann": ["staff"]})
        assert client.get(ME).json()["groups"] == ["staff"]
        provider.control(away=True)
        assert client.get(ME).json()["groups"] == ["staff"], "until the end of the last token"
        provider.control(away=False, groups={"ann": []})
        assert client.get(ME).json()["groups"] == []
