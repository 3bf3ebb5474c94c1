"""`Authentication`: the configured ways to log in, and the function from a request to an identity.

A request has one credential:

    Authorization: Bearer hw_…      an API token                    tokens
    Authorization: Bearer …         a token of a provider           bearer
    a session's cookie              a person, logged in on the page sessions
    a proxy's headers               a person, logged in by a proxy  proxy
    a client certificate            a program                       certificate_scopes

A request with two credentials is refused, because they could name different identities. Credentials of ways that aren't
configured are ignored, except bearer tokens: these are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.types import Scope as AsgiScope

from headwater_schemas.clock import utc_now
from headwater_server.identity.certificates import PEER_CERTIFICATE, identity_in
from headwater_server.identity.credentials import BearerVerifier, CredentialError, CredentialFault, SessionStore
from headwater_server.identity.identity import Identity, Scope
from headwater_server.identity.proxy import TrustedProxy
from headwater_server.identity.tokens import PREFIX, TokenVerifier

if TYPE_CHECKING:
    from headwater_server.identity.login import Login  # noqa: TC004 - imports Authlib, only if configured


@dataclass(frozen=True, slots=True)
class Authentication:
    """Configured ways to log in; None for a way that isn't configured.

    Attributes:
        bearer: verifier of bearer tokens that aren't API tokens.
        clock: function that returns the current time, with a time zone.
    """

    tokens: TokenVerifier | None = None
    bearer: BearerVerifier | None = None
    login: Login | None = None
    sessions: SessionStore | None = None
    proxy: TrustedProxy | None = None
    certificate_scopes: frozenset[Scope] | None = None
    clock: Callable[[], datetime] = utc_now

    @property
    def configured(self) -> bool:
        """True if there is a way to log in."""
        return any(
            way is not None for way in (self.tokens, self.bearer, self.sessions, self.proxy, self.certificate_scopes)
        )

    @property
    def only_certificates(self) -> bool:
        """True if client certificates are the only way to log in."""
        others = (self.tokens, self.bearer, self.sessions, self.proxy)
        return self.certificate_scopes is not None and all(way is None for way in others)

    async def identify(self, scope: AsgiScope) -> Identity | None:
        """Return the identity of the asker; None for a request without a credential.

        Raises:
            CredentialError: the credential isn't valid, or the request has several.
            ProviderUnavailableError: the provider that verifies the credential can't be asked now.
        """
        if not self.configured:
            return None
        headers = Headers(scope=scope)
        bearer, session = _bearer(headers), self._session(headers)
        proxied = None if self.proxy is None else self.proxy.identify(scope, headers)
        certificate = None if self.certificate_scopes is None else scope.get("state", {}).get(PEER_CERTIFICATE)
        if sum(bool(each) for each in (bearer is not None, session is not None, proxied, certificate)) > 1:
            raise CredentialError(
                CredentialFault.SEVERAL,
                "The request has more than one credential: an Authorization header, a session, a proxy's headers or a "
                "client certificate. Send one.",
            )
        found: Identity | None
        if bearer is not None:
            found = await self._by_bearer(bearer)
        elif session is not None and self.sessions is not None:
            found = await self._by_session(self.sessions, session)
        elif certificate and self.certificate_scopes is not None:
            found = identity_in(certificate, self.certificate_scopes)
        else:
            found = proxied
        if found is not None and found.expires is not None and self.clock() >= found.expires:
            raise CredentialError(CredentialFault.EXPIRED, "The credential has expired.")
        return found

    async def _by_bearer(self, token: str) -> Identity:
        if token.startswith(PREFIX):
            if self.tokens is not None:
                return self.tokens.identify(token)
        elif self.bearer is not None and (found := await self.bearer.identify(token)) is not None:
            return found
        raise CredentialError(CredentialFault.UNKNOWN, "This bearer token isn't valid here.")

    async def _by_session(self, sessions: SessionStore, cookie: str) -> Identity:
        found = await sessions.identity(cookie)
        if found is None:
            raise CredentialError(CredentialFault.EXPIRED, "The session has ended; log in again.")
        return found

    def _session(self, headers: Headers) -> str | None:
        """Return the value of the session's cookie; None without a cookie.

        Raises:
            CredentialError: there are two such cookies.
        """
        if self.sessions is None:
            return None
        found: list[str] = []
        for text in headers.getlist("cookie"):
            for pair in text.split(";"):
                name, _, value = pair.strip().partition("=")
                if name == self.sessions.cookie:
                    found.append(value)
        if len(found) > 1:
            raise CredentialError(CredentialFault.SEVERAL, "The request has the session's cookie more than once.")
        return found[0] if found else None


def _bearer(headers: Headers) -> str | None:
    """Return the bearer token of a request; None without one. Other authorization schemes are ignored.

    Raises:
        CredentialError: there are several tokens.
    """
    found = [
        token.strip()
        for scheme, _, token in (text.strip().partition(" ") for text in headers.getlist("authorization"))
        if scheme.lower() == "bearer"
    ]
    if len(found) > 1:
        raise CredentialError(CredentialFault.SEVERAL, "The request has more than one bearer token.")
    return found[0] if found else None
