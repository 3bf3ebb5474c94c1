"""Log-in of people on the page at the OIDC provider: authorization code with PKCE.

    browser ─ /login ─▶ here          state, nonce and code verifier are kept; the browser gets a secret in a cookie
    browser ─▶ provider               the person logs in there
    browser ─ /login/callback ─▶ here state and cookie are compared; the code becomes an ID token, which is verified;
                                      a session begins

The cookie binds a log-in to the browser that began it. Without the cookie, an attacker could make a visitor's browser
finish the attacker's log-in. A state can be used only once.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client

from headwater_schemas.clock import utc_now
from headwater_schemas.visible import visible
from headwater_server.identity.credentials import CredentialError, CredentialFault, ProviderUnavailableError
from headwater_server.identity.identity import IdentitySource
from headwater_server.identity.oidc import InvalidTokenError, JwtVerifier
from headwater_server.identity.provider import Metadata, Provider
from headwater_server.identity.sessions import Grant, Sessions

log = logging.getLogger("headwater.serve")

UNDER_WAY_SECONDS = 600
"""Maximum time between the start and the end of a log-in."""
MOST_UNDER_WAY = 10_000
_MOST_EXCHANGES = 16
"""Maximum number of concurrent requests to the token endpoint: anybody who begins a log-in can cause one."""
_EXCHANGE_SECONDS = 10.0
_SECRET_BYTES = 32
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")
_LONGEST_CODE = 4_096
_LONGEST_PATH = 2_048
_MOST_OF_AN_ERROR = 100


class LoginError(CredentialError):
    """The log-in can't be completed. The message is shown to the person."""

    def __init__(self, detail: str) -> None:
        super().__init__(CredentialFault.LOGIN, f"{detail} Open the page again to log in.")


@dataclass(frozen=True, slots=True)
class Client:
    """Registration of Headwater as a client of the provider.

    Attributes:
        secret: secret of the client; empty for a public client.
        scopes: requested scopes, separated by spaces; `openid` is among them.
        public_url: URL of this server for browsers, without a slash at the end.
    """

    client_id: str
    secret: str = field(repr=False)
    scopes: str
    public_url: str

    @property
    def redirect_uri(self) -> str:
        """URL to which the provider sends browsers back."""
        return f"{self.public_url}/login/callback"

    @property
    def secure(self) -> bool:
        """True if browsers reach this server by HTTPS."""
        return self.public_url.startswith("https:")

    def cookie(self, name: str) -> str:
        """Name of a cookie. Browsers accept `__Host-` only from this host, over HTTPS, and for all paths."""
        return f"__Host-headwater_{name}" if self.secure else f"headwater_{name}"


@dataclass(frozen=True, slots=True)
class _UnderWay:
    """A log-in that a browser has begun."""

    browser: bytes
    nonce: str = field(repr=False)
    code_verifier: str = field(repr=False)
    return_path: str
    ends: datetime


class Login:
    """Log-in at one provider, and its sessions. For one event loop.

    Args:
        verifier: verifier of the provider's ID tokens.
        client: registration of this server at the provider.
        max_seconds: longest time from a log-in to the end of its session.
        clock: function that returns the current time, with a time zone.
    """

    def __init__(
        self,
        provider: Provider,
        verifier: JwtVerifier,
        client: Client,
        max_seconds: int,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.client = client
        self.sessions = Sessions(client.cookie("session"), max_seconds, self._renewed, clock)
        self._provider = provider
        self._verifier = verifier
        self._clock = clock
        # In the order of their starts, which is also the order of their ends.
        self._under_way: dict[str, _UnderWay] = {}
        self._exchanges = 0

    async def begin(self, return_path: str, browser: str | None) -> tuple[str, str]:
        """Begin a log-in.

        Args:
            return_path: path to show afterwards; only within this server.
            browser: secret in the browser's cookie; None without a cookie.

        Returns:
            URL of the provider for the browser, and the secret for its cookie.

        Raises:
            ProviderUnavailableError: the provider's endpoints aren't known, and can't be fetched now.
        """
        endpoint = (await self._provider.metadata()).authorization_endpoint
        if endpoint is None:
            raise ProviderUnavailableError("The provider has no log-in for people.")
        # A valid secret is kept, because several tabs of a browser may log in at the same time.
        if browser is None or not _SECRET.fullmatch(browser):
            browser = secrets.token_urlsafe(_SECRET_BYTES)
        state, nonce, code_verifier = (secrets.token_urlsafe(_SECRET_BYTES) for _ in range(3))
        self._make_room()
        ends = self._clock() + timedelta(seconds=UNDER_WAY_SECONDS)
        self._under_way[state] = _UnderWay(_hash(browser), nonce, code_verifier, local_path(return_path), ends)
        async with self._oauth() as oauth:
            url, _ = oauth.create_authorization_url(endpoint, state=state, code_verifier=code_verifier, nonce=nonce)
        return url, browser

    async def complete(self, query: Mapping[str, str], browser: str | None) -> tuple[str, str]:
        """Complete a log-in.

        Args:
            query: query parameters of the provider's redirect.
            browser: secret in the browser's cookie; None without a cookie.

        Returns:
            Id of the new session, and the URL to show.

        Raises:
            LoginError: another browser began the log-in, or the provider refuses it.
            ProviderUnavailableError: the provider can't be asked now.
        """
        begun = self._under_way.pop(query.get("state", ""), None)
        if begun is None or self._clock() >= begun.ends:
            raise LoginError("This log-in wasn't begun here, has been completed already, or took too long.")
        if browser is None or not hmac.compare_digest(_hash(browser), begun.browser):
            raise LoginError("This log-in was begun in another browser, or the browser accepts no cookies.")
        if query.get("iss", self._provider.issuer) != self._provider.issuer:
            raise LoginError("Another provider answered.")
        if "error" in query:
            log.warning(
                "The OIDC provider refused a log-in: %s. Nobody was logged in.",
                visible(query["error"][:_MOST_OF_AN_ERROR]),
            )
            raise LoginError("The provider refused the log-in.")
        code = query.get("code", "")
        if not 0 < len(code) <= _LONGEST_CODE:
            raise LoginError("The provider gave no code.")
        answer = await self._exchanged(grant_type="authorization_code", code=code, code_verifier=begun.code_verifier)
        try:
            grant = await self._grant(answer, nonce=begun.nonce)
        except InvalidTokenError as error:
            log.warning("ID token of a log-in refused: %s. Nobody was logged in.", error.reason)
            raise LoginError("The provider's ID token isn't valid here.") from None
        if grant is None:
            raise LoginError("The provider gave no ID token.")
        log.info("%s logged in.", visible(grant.identity.name))
        return self.sessions.begin(grant), self.client.public_url + begun.return_path

    async def end(self, session: str) -> str:
        """End a session; return the URL to end the provider's session, or the page's URL."""
        grant = self.sessions.end(session)
        page = f"{self.client.public_url}/?logged-out"
        try:
            endpoint = (await self._provider.metadata()).end_session_endpoint
        except ProviderUnavailableError:
            endpoint = None
        if grant is None or endpoint is None:
            return page
        given = {
            "id_token_hint": grant.id_token,
            "client_id": self.client.client_id,
            "post_logout_redirect_uri": page,
        }
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(given)}"

    async def _renewed(self, grant: Grant) -> Grant | None:
        """Return the next grant; None if the provider gives none, so that the session ends."""
        try:
            answer = await self._exchanged(grant_type="refresh_token", refresh_token=grant.refresh_token)
            found = await self._grant(answer, before=grant)
        except InvalidTokenError as error:
            log.warning("New ID token of a session refused: %s. The session ends.", error.reason)
            return None
        except LoginError:
            return None
        # Without an ID token the groups are unknown: the previous identity counts until its end.
        return found or Grant(grant.identity, grant.id_token, _refresh_token(answer, grant))

    async def _grant(
        self, answer: Mapping[str, Any], *, nonce: str | None = None, before: Grant | None = None
    ) -> Grant | None:
        """Return the grant in an answer of the token endpoint; None without an ID token.

        Args:
            nonce: expected nonce of a log-in's ID token.

        Raises:
            InvalidTokenError: the ID token isn't valid.
            ProviderUnavailableError: the keys are needed, and can't be fetched now.
        """
        id_token = answer.get("id_token")
        if not isinstance(id_token, str):
            return None
        claims = await self._verifier.claims(id_token, self.client.client_id)
        # A token with several audiences names the authorized one (`azp`).
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", "" if several else self.client.client_id) != self.client.client_id:
            raise InvalidTokenError("the ID token is for another client")
        if nonce is not None and not hmac.compare_digest(_hash(str(claims.get("nonce", ""))), _hash(nonce)):
            raise InvalidTokenError("the ID token is of another log-in")
        if before is not None and claims["sub"] != before.identity.subject:
            raise InvalidTokenError("the ID token is another person's")
        scopes = self._verifier.scopes({"scope": answer.get("scope") or ""})
        return Grant(
            self._verifier.identity(IdentitySource.SESSION, claims, scopes), id_token, _refresh_token(answer, before)
        )

    async def _exchanged(self, **given: Any) -> Mapping[str, Any]:
        """Return the answer of the token endpoint.

        Raises:
            LoginError: the endpoint refuses the request.
            ProviderUnavailableError: the endpoint can't be asked now.
        """
        metadata = await self._provider.metadata()
        if metadata.token_endpoint is None or self._exchanges >= _MOST_EXCHANGES:
            raise ProviderUnavailableError("Too many people log in at the same time.")
        self._exchanges += 1
        try:
            async with asyncio.timeout(_EXCHANGE_SECONDS), self._oauth(metadata) as oauth:
                answer: Mapping[str, Any] = await oauth.fetch_token(metadata.token_endpoint, **given)
        except OAuthError as error:
            log.warning(
                "The OIDC provider refused to give a token: %s. The log-in or session ends. If all do, check "
                "HEADWATER_SERVE_OIDC_CLIENT_ID, HEADWATER_SERVE_OIDC_CLIENT_SECRET and HEADWATER_SERVE_PUBLIC_URL.",
                visible(str(error.error)[:_MOST_OF_AN_ERROR]),
            )
            raise LoginError("The provider refused the log-in.") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError, ValueError, TypeError) as error:
            # Only its type: its text may contain parts of the answer.
            log.warning(
                "The OIDC provider's token endpoint can't be reached: %s. Log-ins are answered 503; sessions continue "
                "until their last token ends.",
                type(error).__name__,
            )
            raise ProviderUnavailableError from None
        finally:
            self._exchanges -= 1
        return answer

    def _oauth(self, metadata: Metadata | None = None) -> AsyncOAuth2Client:
        method = "none"
        if self.client.secret:
            ways = () if metadata is None else metadata.token_endpoint_auth_methods_supported
            basic = "client_secret_basic" in ways or "client_secret_post" not in ways
            method = "client_secret_basic" if basic else "client_secret_post"
        return AsyncOAuth2Client(
            client_id=self.client.client_id,
            client_secret=self.client.secret or None,
            token_endpoint_auth_method=method,
            # No scopes for a refresh: a provider that granted fewer scopes would refuse the full list.
            scope=self.client.scopes if metadata is None else None,
            redirect_uri=self.client.redirect_uri,
            code_challenge_method="S256",
            **self._provider.client_options(),
        )

    def _make_room(self) -> None:
        """Remove expired log-ins, and the oldest ones if there are too many."""
        now = self._clock()
        for state, begun in list(self._under_way.items()):
            if now < begun.ends and len(self._under_way) < MOST_UNDER_WAY:
                break
            del self._under_way[state]


def _refresh_token(answer: Mapping[str, Any], before: Grant | None) -> str | None:
    """Return the refresh token in an answer. Without a new one, the previous one stays valid."""
    found = answer.get("refresh_token", None if before is None else before.refresh_token)
    return found if isinstance(found, str) else None


def local_path(text: str) -> str:
    r"""Return a path within this server, with query and fragment; `/` for any other text, such as another site's URL.

    Browsers read `//host` and `/\host` as another site, and remove control characters first.
    """
    if not text.startswith("/") or text.startswith("//") or len(text) > _LONGEST_PATH:
        return "/"
    if not text.isascii() or not text.isprintable() or "\\" in text or " " in text:
        return "/"
    # A return to the log-in would be a loop.
    return "/" if text.partition("?")[0].startswith(("/login", "/logout")) else text


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
