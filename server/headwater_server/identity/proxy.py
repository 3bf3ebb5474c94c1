"""People whom a proxy has logged in, and whom it names in headers.

The headers count only in requests from one of the proxy's networks that have its secret. The proxy has to set or remove
all three headers in every request; otherwise clients could send their own.
"""

from __future__ import annotations

import hmac
import ipaddress
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.types import Scope as AsgiScope

from headwater_server.identity.credentials import CredentialError, CredentialFault
from headwater_server.identity.identity import Identity, IdentitySource, Scope
from headwater_server.identity.lists import Network, items

SECRET_HEADER = "X-Headwater-Proxy-Secret"  # noqa: S105 - the name of a header
LEAST_SECRET_CHARS = 16


@dataclass(frozen=True, slots=True)
class TrustedProxy:
    """A proxy that names users.

    Attributes:
        secrets: accepted secrets; the proxy sends one of them.
        groups_header: header with the user's groups, separated by commas.
    """

    networks: tuple[Network, ...]
    secrets: tuple[bytes, ...] = field(repr=False)
    user_header: str
    groups_header: str
    scopes: frozenset[Scope]

    def identify(self, scope: AsgiScope, headers: Headers) -> Identity | None:
        """Return the user whom the proxy names in a request; None if the request isn't the proxy's, or names nobody.

        Raises:
            CredentialError: the request comes from the proxy's network and names a user, but lacks the proxy's secret;
                or it names several users.
        """
        named = headers.getlist(self.user_header)
        if not named or not self._is_from_proxy(scope):
            return None
        given = headers.getlist(SECRET_HEADER)
        # Every secret is compared, so that the duration reveals nothing.
        equal = [hmac.compare_digest(each.encode("latin-1"), secret) for secret in self.secrets for each in given[:1]]
        if len(given) != 1 or not any(equal):
            raise CredentialError(
                CredentialFault.PROXY_SECRET,
                f"A user named in {self.user_header} needs the proxy's secret in {SECRET_HEADER}.",
            )
        listed = headers.getlist(self.groups_header)
        for header, values in ((self.user_header, named), (self.groups_header, listed)):
            if len(values) > 1:
                # If the proxy only added its header to the client's, the client could choose the user.
                raise CredentialError(CredentialFault.SEVERAL, f"The request has the header {header} more than once.")
        if not (user := named[0].strip()):
            return None
        groups = frozenset(group for text in listed for group in items(text))
        return Identity(IdentitySource.PROXY, user, groups=groups, scopes=self.scopes)

    def _is_from_proxy(self, scope: AsgiScope) -> bool:
        """Return True if the connection comes from one of the networks."""
        try:
            address = ipaddress.ip_address((scope.get("client") or ("",))[0].partition("%")[0])
        except ValueError:
            return False
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address.version == network.version and address in network for network in self.networks)
