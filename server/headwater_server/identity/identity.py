"""`Identity` of an asker: name, tenant, and the scopes that the credential gives."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

IDENTITY = "headwater.identity"
"""Key of the identity in a request's ASGI scope."""


class Scope(StrEnum):
    """Actions that a credential can allow. Each route needs one."""

    READ = "read"
    """Ask questions."""
    EXPRESSIONS = "expressions"
    """See expressions, SQL, file paths and error texts in answers."""
    WRITE = "write"
    """Send lineage events."""
    DECLARE = "declare"
    """Send declarations."""
    INCIDENTS = "incidents"
    """Open and change incidents."""
    OPERATE = "operate"
    """Read metrics and the audit."""
    ADMINISTER = "administer"
    """See rules that decide about other identities."""


class IdentitySource(StrEnum):
    """Ways in which an identity is established."""

    SERVER = "server"
    """The server itself, when it checks its graph; never a request."""
    ANONYMOUS = "anonymous"
    TOKEN = "token"  # noqa: S105 - the name of a way
    OIDC = "oidc"
    SESSION = "session"
    PROXY = "proxy"
    CERTIFICATE = "certificate"


@dataclass(frozen=True, slots=True)
class Identity:
    """Identity of an asker.

    Attributes:
        source: way in which the identity was established.
        subject: name that is unique within the source: a token's name, an OIDC `sub`, a certificate's subject.
        tenant: the only tenant whose graph the identity may ask; None: the server's tenant.
        groups: groups of the subject, from its provider or its token.
        scopes: scopes of the credential; policies can only remove permissions.
        expires: end of the credential; None if it doesn't expire.
        shown_name: display name of a person. It isn't unique, and no decision depends on it; empty if unknown.
    """

    source: IdentitySource
    subject: str
    tenant: str | None = None
    groups: frozenset[str] = frozenset()
    scopes: frozenset[Scope] = frozenset()
    expires: datetime | None = None
    shown_name: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """Unique name among all sources: `token:ci`, `oidc:248289761001`."""
        return f"{self.source}:{self.subject}"


SERVER = Identity(IdentitySource.SERVER, "", scopes=frozenset(Scope))
"""Identity of the server itself, for health checks and rules that it checks in the background."""

ANONYMOUS = Identity(IdentitySource.ANONYMOUS, "", scopes=frozenset(Scope))
"""Identity of everybody if no way to log in is configured: only on a loopback address."""

ANONYMOUS_READER = Identity(
    IdentitySource.ANONYMOUS, "", scopes=frozenset({Scope.READ, Scope.EXPRESSIONS, Scope.OPERATE})
)
"""Identity of everybody without a credential if `serve.allow_anonymous_reads` is set."""

NOBODY = Identity(IdentitySource.ANONYMOUS, "")
"""Identity of every asker of an open route, whose credential isn't checked."""


def identity_of(scope: MutableMapping[str, Any]) -> Identity:
    """Return the identity of a request.

    Raises:
        KeyError: no middleware established an identity: a defect; there is no default.
    """
    found: Identity = scope[IDENTITY]
    return found
