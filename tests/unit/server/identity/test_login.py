"""Log-in of people and their sessions: what an issuer may answer, when a session ends, and where a browser is sent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from http.cookies import SimpleCookie
from typing import Any

import httpx
import pytest

from headwater_server.identity import Identity, IdentitySource, Scope
from headwater_server.identity.credentials import CredentialFault, ProviderUnavailableError
from headwater_server.identity.login import MOST_UNDER_WAY, UNDER_WAY_SECONDS, Client, Login, LoginError, local_path
from headwater_server.identity.oidc import JwtRules, JwtVerifier
from headwater_server.identity.provider import Provider
from headwater_server.identity.sessions import (
    CHECK_SECONDS,
    MOST_OF_SUBJECT,
    MOST_SESSIONS,
    RETRY_SECONDS,
    Grant,
    Sessions,
)
from support.api import client_of, client_with_login, fake_graph
from support.oidc_issuer import NOW, Issuer, be_patient, issuer

CLIENT_ID = "page"
SECRET = "the-secret-of-the-page"


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Issuer]:
    be_patient(monkeypatch)
    with issuer() as found:
        yield found


@dataclass
class Clock:
    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now

    def later(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def login_at(provider: Issuer, clock: Clock, client: Client | None = None, max_seconds: int = 28_800) -> Login:
    source = Provider(provider.url)
    client = client or Client(CLIENT_ID, SECRET, "openid", "https://lineage.example.org")
    return Login(source, JwtVerifier(source, JwtRules(("RS256",)), clock), client, max_seconds, clock)


async def logged_in(login: Login, provider: Issuer, **claims: Any) -> str:
    """Id of the session of a log-in whose ID token has these claims; others of the answer are those of the issuer."""
    url, browser = await login.begin("/", None)
    sent = httpx.URL(url).params
    given = {"aud": CLIENT_ID, "nonce": sent["nonce"], **claims}
    provider.granted = {"access_token": "a", "token_type": "Bearer", **provider.granted}
    provider.granted["id_token"] = provider.token(**given)
    session, _ = await login.complete({"state": sent["state"], "code": "c"}, browser)
    return session


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)


def test_an_id_token_that_is_not_of_this_log_in_is_refused(provider: Issuer, subtests: pytest.Subtests) -> None:
    at = int(NOW.timestamp())
    cases: dict[str, dict[str, Any]] = {
        "nonce of another log-in": {"nonce": "other"},
        "no nonce": {"nonce": None},
        "nonce that is a number": {"nonce": 7},
        "audience of another client": {"aud": "other"},
        "audience of the API": {"aud": "headwater"},
        "two audiences, and not for which": {"aud": [CLIENT_ID, "other"]},
        "for another client": {"aud": [CLIENT_ID, "other"], "azp": "other"},
        "one audience, for another client": {"azp": "other"},
        "another issuer": {"iss": "https://other.example"},
        "expired": {"exp": at - 60},
        "no end": {"exp": None},
        "no subject": {"sub": None},
    }

    async def story() -> None:
        login = login_at(provider, Clock())
        for name, claims in cases.items():
            with subtests.test(name):
                with pytest.raises(LoginError) as error:
                    await logged_in(login, provider, **claims)
                assert error.value.fault is CredentialFault.LOGIN
        assert await logged_in(login, provider)
        assert await logged_in(login, provider, aud=[CLIENT_ID, "other"], azp=CLIENT_ID)
        assert await logged_in(login, provider, aud=[CLIENT_ID])

    run(story())


def test_what_the_provider_sends_back_is_checked(provider: Issuer, subtests: pytest.Subtests) -> None:
    async def story() -> None:
        clock = Clock()
        login = login_at(provider, clock)
        provider.granted = {"access_token": "a", "token_type": "Bearer"}
        cases: dict[str, dict[str, str]] = {
            "no code": {},
            "an endless code": {"code": "c" * 5_000},
            "an error": {"error": "access_denied", "code": "c"},
            "another issuer": {"iss": "https://other.example", "code": "c"},
            "no ID token": {"code": "c"},
        }
        for name, query in cases.items():
            with subtests.test(name):
                url, browser = await login.begin("/", None)
                state = httpx.URL(url).params["state"]
                with pytest.raises(LoginError):
                    await login.complete({"state": state, **query}, browser)
                with pytest.raises(LoginError, match="completed already"):
                    await login.complete({"state": state, "code": "c"}, browser)
        for other in (None, "", "x" * 43):
            url, _ = await login.begin("/", None)
            with pytest.raises(LoginError, match="another browser"):
                await login.complete({"state": httpx.URL(url).params["state"], "code": "c"}, other)
        url, own = await login.begin("/", None)
        clock.later(UNDER_WAY_SECONDS)
        with pytest.raises(LoginError, match="too long"):
            await login.complete({"state": httpx.URL(url).params["state"], "code": "c"}, own)

    run(story())


def test_the_code_is_exchanged_with_its_verifier(provider: Issuer) -> None:
    async def story() -> None:
        await logged_in(login_at(provider, Clock()), provider)
        form = provider.forms[-1]
        assert form["grant_type"] == ["authorization_code"]
        assert form["redirect_uri"] == ["https://lineage.example.org/login/callback"]
        assert len(form["code_verifier"][0]) == 43
        assert "client_secret" not in form, "it is in the header"
        provider.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
        await logged_in(login_at(provider, Clock()), provider)
        assert provider.forms[-1]["client_secret"] == [SECRET]
        public = Client(CLIENT_ID, "", "openid", "https://lineage.example.org")
        await logged_in(login_at(provider, Clock(), public), provider)
        assert provider.forms[-1]["client_id"] == [CLIENT_ID]
        assert "client_secret" not in provider.forms[-1]

    run(story())


@pytest.mark.parametrize(
    ("status", "granted", "refusal"),
    [
        (400, {"error": "invalid_grant", "error_description": "expired"}, LoginError),
        (401, {"error": "invalid_client"}, LoginError),
        (500, {}, ProviderUnavailableError),
        (302, {}, LoginError),
        (200, {"id_token": 7}, LoginError),
        (200, {"id_token": "e30.e30.", "access_token": "a", "token_type": "Bearer"}, LoginError),
        (200, {"expires_in": "soon"}, ProviderUnavailableError),
        (200, {"expires_in": [1]}, ProviderUnavailableError),
    ],
)
def test_what_the_token_endpoint_answers(
    provider: Issuer, status: int, granted: dict[str, Any], refusal: type[Exception]
) -> None:
    async def story() -> None:
        login = login_at(provider, Clock())
        url, browser = await login.begin("/", None)
        provider.status, provider.granted = status, granted
        with pytest.raises(refusal):
            await login.complete({"state": httpx.URL(url).params["state"], "code": "c"}, browser)

    run(story())


def test_log_ins_under_way_are_bounded(provider: Issuer) -> None:
    async def story() -> None:
        login = login_at(provider, Clock())
        first, browser = await login.begin("/", None)
        for number in range(MOST_UNDER_WAY - 1):
            login._under_way[str(number)] = login._under_way[httpx.URL(first).params["state"]]
        await login.begin("/", browser)
        assert len(login._under_way) == MOST_UNDER_WAY
        with pytest.raises(LoginError):
            await login.complete({"state": httpx.URL(first).params["state"], "code": "c"}, browser)

    run(story())


def test_a_session_ends_with_its_token_or_before(provider: Issuer) -> None:
    async def story() -> None:
        clock = Clock()
        login = login_at(provider, clock, max_seconds=300)
        long = await logged_in(login, provider)
        found = await login.sessions.identity(long)
        assert found is not None
        assert found.expires == NOW + timedelta(seconds=300)
        brief = await logged_in(login, provider, exp=int(NOW.timestamp()) + 60)
        found = await login.sessions.identity(brief)
        assert found is not None
        assert found.expires == NOW + timedelta(seconds=120)
        clock.later(119)
        assert await login.sessions.identity(brief) is not None
        clock.later(1)
        assert await login.sessions.identity(brief) is None
        clock.later(179)
        assert await login.sessions.identity(long) is not None
        clock.later(1)
        assert await login.sessions.identity(long) is None
        assert await login.sessions.identity("") is None

    run(story())


def grant(subject: str = "ann", *, expires: datetime | None = None) -> Grant:
    identity = Identity(IdentitySource.SESSION, subject, scopes=frozenset({Scope.READ}), expires=expires)
    return Grant(identity, "an-id-token", "a-refresh-token")


def test_the_provider_is_asked_again_about_a_session_in_use(provider: Issuer) -> None:
    async def story() -> None:
        clock = Clock()
        login = login_at(provider, clock)
        provider.granted["refresh_token"] = "r1"
        session = await logged_in(login, provider, groups=["staff"])
        forms = len(provider.forms)
        clock.later(CHECK_SECONDS - 1)
        assert await login.sessions.identity(session) is not None
        assert len(provider.forms) == forms

        provider.granted |= {"id_token": provider.token(aud=CLIENT_ID, groups=[]), "refresh_token": "r2"}
        clock.later(1)
        several = await asyncio.gather(*(login.sessions.identity(session) for _ in range(20)))
        assert all(each is not None and each.groups == frozenset() for each in several)
        assert len(provider.forms) == forms + 1, "they share a request"
        assert provider.forms[-1]["refresh_token"] == ["r1"]
        assert "scope" not in provider.forms[-1]

        # Without an ID token the one before counts until its end, which is at 660 s.
        del provider.granted["id_token"]
        clock.later(CHECK_SECONDS)
        assert await login.sessions.identity(session) is not None
        assert provider.forms[-1]["refresh_token"] == ["r2"]
        clock.later(60)
        assert await login.sessions.identity(session) is None

        # Another person's token, one that isn't valid, and a refusal end a session.
        for status, granted in (
            (200, {"id_token": provider.token(aud=CLIENT_ID, sub="bob")}),
            (200, {"id_token": provider.token(aud="other")}),
            (400, {"error": "invalid_grant"}),
        ):
            clock.now, provider.status = NOW, 200
            provider.granted = {"refresh_token": "r3"}
            session = await logged_in(login, provider)
            provider.status, provider.granted = status, {"access_token": "a", "token_type": "Bearer", **granted}
            clock.later(CHECK_SECONDS)
            assert await login.sessions.identity(session) is None

    run(story())


def test_a_session_while_the_provider_is_away() -> None:
    async def story() -> None:
        clock, asked = Clock(), 0

        async def renew(_grant: Grant) -> Grant | None:
            nonlocal asked
            asked += 1
            raise ProviderUnavailableError

        sessions = Sessions("s", 3_600, renew, clock)
        session = sessions.begin(grant(expires=NOW + timedelta(seconds=600)))
        clock.later(CHECK_SECONDS)
        for _ in range(5):
            assert await sessions.identity(session) is not None
        assert asked == 1
        clock.later(RETRY_SECONDS)
        assert await sessions.identity(session) is not None
        assert asked == 2
        clock.later(600)
        with pytest.raises(ProviderUnavailableError):
            await sessions.identity(session)
        clock.later(3_600)
        assert await sessions.identity(session) is None

    run(story())


def test_a_token_that_ends_before_the_next_check_is_renewed_then() -> None:
    async def story() -> None:
        clock, seconds = Clock(), CHECK_SECONDS // 5

        async def renew(_before: Grant) -> Grant | None:
            return grant(expires=clock.now + timedelta(seconds=seconds))

        sessions = Sessions("s", 3_600, renew, clock)
        session = sessions.begin(grant(expires=NOW + timedelta(seconds=seconds)))
        for _ in range(3):
            clock.later(seconds)
            found = await sessions.identity(session)
            assert found is not None
            assert found.expires == clock.now + timedelta(seconds=seconds)

    run(story())


def test_a_session_that_ends_while_the_provider_is_asked() -> None:
    async def story() -> None:
        clock, asked, release = Clock(), asyncio.Event(), asyncio.Event()

        async def renew(before: Grant) -> Grant | None:
            asked.set()
            await release.wait()
            return before

        sessions = Sessions("s", 3_600, renew, clock)
        session = sessions.begin(grant())
        clock.later(CHECK_SECONDS)
        waiting = asyncio.create_task(sessions.identity(session))
        await asked.wait()
        sessions.end(session)
        release.set()
        assert await waiting is None

    run(story())


def test_sessions_are_bounded() -> None:
    async def never(before: Grant) -> Grant | None:
        return before

    async def story() -> None:
        clock = Clock()
        sessions = Sessions("s", 3_600, never, clock)
        first = sessions.begin(grant("zoe"))
        own = [sessions.begin(grant("ann")) for _ in range(MOST_OF_SUBJECT)]
        sessions.begin(grant("ann"))
        assert await sessions.identity(own[0]) is None, "the oldest of the same person"
        assert await sessions.identity(own[1]) is not None
        assert await sessions.identity(first) is not None
        session = sessions._by_hash[next(iter(sessions._by_hash))]
        for number in range(MOST_SESSIONS - len(sessions._by_hash)):
            sessions._by_hash[number.to_bytes(32)] = session
        sessions.begin(grant("bob"))
        assert len(sessions._by_hash) == MOST_SESSIONS
        assert await sessions.identity(first) is None
        clock.later(3_600)
        sessions.begin(grant("bob"))
        assert len(sessions._by_hash) == 1, "those that have ended are forgotten"

    run(story())


def test_only_paths_of_this_server_are_returned_to(subtests: pytest.Subtests) -> None:
    for path in ("/", "/docs", "/?a=b#/dataset/kafka:%2F%2Fb/x?depth=2", "/a//b", "/#a=https://b"):
        with subtests.test(path):
            assert local_path(path) == path
    for path in (
        "",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/a\\b",
        "https://evil.example",
        "https:evil.example",
        "javascript:alert(1)",
        "evil.example",
        "/\t/evil.example",
        "/\r\nSet-Cookie: a=b",
        "/\n/evil.example",
        "\x00/a",
        "/\x7f",
        " /a",
        "/ä",
        "/login",
        "/login?return=/",
        "/login/callback?code=a",
        "/logout",
        "/" + "a" * 2_048,
    ):
        with subtests.test(path):
            assert local_path(path) == "/"


def test_browsers_are_never_sent_elsewhere(provider: Issuer) -> None:
    async def story() -> None:
        login = login_at(provider, Clock())
        for path in ("//evil.example", "/\\evil.example", "https://evil.example", "/@evil.example", "/.evil.example"):
            url, browser = await login.begin(path, None)
            sent = httpx.URL(url)
            assert str(sent).startswith(provider.url + "/auth?")
            provider.granted = {
                "access_token": "a",
                "token_type": "Bearer",
                "id_token": provider.token(aud=CLIENT_ID, nonce=sent.params["nonce"]),
            }
            _, shown = await login.complete({"state": sent.params["state"], "code": "c"}, browser)
            assert httpx.URL(shown).host == "lineage.example.org"
            assert shown.startswith("https://lineage.example.org/")

    run(story())


def settings(provider: Issuer) -> dict[str, Any]:
    return {"oidc_issuer": provider.url, "oidc_client_id": CLIENT_ID, "oidc_client_secret": SECRET}


def test_cookies_over_https_are_of_this_host_alone(provider: Issuer) -> None:
    public: dict[str, Any] = {"public_url": "https://lineage.example.org/headwater/", "allowed_hosts": "*"}
    with client_of(fake_graph(**settings(provider), **public)) as client:
        answer = client.get("/login", headers={"Cookie": "__Host-headwater_login=a;b"})
        (cookie,) = SimpleCookie(answer.headers["set-cookie"]).items()
        assert cookie[0] == "__Host-headwater_login"
        assert len(cookie[1].value) == 43, "not what the browser sent"
        assert (cookie[1]["secure"], cookie[1]["httponly"], cookie[1]["samesite"]) == (True, True, "lax")
        assert (cookie[1]["path"], cookie[1]["domain"]) == ("/", "")
        again = client.get("/login", headers={"Cookie": f"__Host-headwater_login={cookie[1].value}"})
        assert cookie[1].value in again.headers["set-cookie"], "other tabs of the browser go on"
        redirect = httpx.URL(answer.headers["location"]).params["redirect_uri"]
        assert redirect == "https://lineage.example.org/headwater/login/callback"
        out = client.post("/logout")
        assert out.json() == {"location": "https://lineage.example.org/headwater/?logged-out"}
        assert "__Host-headwater_session=" in out.headers["set-cookie"]
        assert "Max-Age=0" in out.headers["set-cookie"]


def test_without_a_client_of_the_provider_there_is_no_log_in(provider: Issuer) -> None:
    with client_of(fake_graph(oidc_issuer=provider.url, oidc_audience="headwater")) as client:
        for method, path in (("GET", "/login"), ("GET", "/login/callback"), ("POST", "/logout")):
            answer = client.request(method, path)
            assert answer.status_code == 401
            assert "x-headwater-login" not in answer.headers


def test_secrets_of_a_log_in_are_nowhere(provider: Issuer, caplog: pytest.LogCaptureFixture) -> None:
    provider.granted = {"error": "invalid_client", "error_description": SECRET}
    with caplog.at_level(logging.DEBUG), client_with_login(fake_graph(), **settings(provider)) as client:
        begun = client.get("/login")
        sent = httpx.URL(begun.headers["location"]).params
        answer = client.get("/login/callback", params={"state": sent["state"], "code": "the-code"})
        assert answer.status_code == 401
        (flow,) = [client.cookies["headwater_login"]]
    # The test's own client logs the addresses that it asks.
    others = {"httpx", "httpcore"}
    logged = "".join(each.getMessage() for each in caplog.records if each.name.partition(".")[0] not in others)
    for secret in (SECRET, "the-code", sent["state"], sent["nonce"], flow):
        assert secret not in answer.text
        assert secret not in logged
    login = login_at(provider, Clock())
    shown = f"{login.client!r} {grant()!r} {fake_graph(**settings(provider), public_url='http://127.0.0.1').serve!r}"
    for secret in (SECRET, "an-id-token"):
        assert secret not in shown


def test_a_provider_that_is_away_answers_503(provider: Issuer) -> None:
    provider.status = 503
    with client_with_login(fake_graph(), **settings(provider)) as client:
        answer = client.get("/login")
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:headwater:provider-unavailable")
        assert client.post("/logout").status_code == 200, "whoever logs out is logged out"


def test_a_provider_without_a_log_in(provider: Issuer) -> None:
    provider.metadata["authorization_endpoint"] = None

    async def story() -> None:
        with pytest.raises(ProviderUnavailableError, match="no log-in"):
            await login_at(provider, Clock()).begin("/", None)

    run(story())


def test_a_grant_without_a_refresh_token_is_not_renewed() -> None:
    async def renew(_grant: Grant) -> Grant | None:
        raise AssertionError

    async def story() -> None:
        clock = Clock()
        sessions = Sessions("s", 3_600, renew, clock)
        session = sessions.begin(replace(grant(), refresh_token=None))
        clock.later(3_599)
        assert await sessions.identity(session) is not None

    run(story())


def test_whoever_may_read_without_a_credential_learns_where_to_log_in(provider: Issuer) -> None:
    given = {"oidc_issuer": provider.url, "oidc_client_id": CLIENT_ID, "allow_anonymous_reads": True}
    with client_with_login(fake_graph(), **given) as client:
        me = client.get("/api/v1/me").json()
        assert (me["source"], me["login"]) == ("anonymous", "login")
        assert client.get(f"/{me['login']}", follow_redirects=False).headers["Location"].startswith(provider.url)
