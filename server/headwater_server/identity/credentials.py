"""Credentials: reasons for refusing a credential, and protocols of verifiers.

CredentialError            the request is refused; its reason is counted
└── ProviderUnavailableError   the credential may be valid, but its provider can't be asked now
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from headwater_server.identity.identity import Identity


class CredentialFault(StrEnum):
    """Reasons for refusing a request because of its credential, or without a credential."""

    MISSING = "missing"
    """No credential, although the route needs one."""
    SEVERAL = "several"
    """Two credentials, or one credential twice."""
    UNKNOWN = "unknown"
    """An unknown credential, or a credential of a kind that isn't accepted."""
    EXPIRED = "expired"
    REVOKED = "revoked"
    PROXY_SECRET = "proxy_secret"  # noqa: S105 - the name of a reason
    """A request from the proxy's network that names a user, without the proxy's secret."""
    CERTIFICATE = "certificate"
    """A client certificate without a name."""
    LOGIN = "login"
    """A log-in on the page that another browser began, or that the provider refused."""
    SCOPE = "scope"
    """A valid credential, without the scope that the route needs."""
    PROVIDER = "provider"
    """The provider that verifies the credential can't be asked."""


class CredentialError(Exception):
    """The request's credential isn't accepted. The message never contains the credential.

    Attributes:
        fault: reason, from a closed list.
    """

    def __init__(self, fault: CredentialFault, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault
        self.detail = detail


class ProviderUnavailableError(CredentialError):
    """The provider doesn't answer; the same request may succeed later.

    Args:
        detail: sentence for the client, without addresses.
    """

    def __init__(self, detail: str = "The provider that verifies this credential can't be asked now.") -> None:
        super().__init__(CredentialFault.PROVIDER, detail)


class BearerVerifier(Protocol):
    """Verifier of bearer tokens that aren't API tokens of Headwater."""

    async def identify(self, token: str) -> Identity | None:
        """Return the identity of a token's holder; None for a token that isn't valid.

        Raises:
            CredentialError: the token isn't valid, with a reason that its sender may know.
            ProviderUnavailableError: the provider's keys are needed, and can't be fetched now.
        """


class SessionStore(Protocol):
    """Sessions of people who logged in on the page."""

    cookie: str

    async def identity(self, cookie: str) -> Identity | None:
        """Return the identity of a session's person; None if the session has ended or never existed.

        Raises:
            ProviderUnavailableError: the provider can't be asked now.
        """
