"""`Identity`: who asks, in which tenant, and the scopes that the credential gives."""

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
    """See which rule decides for others."""


class Source(StrEnum):
    """Ways in which an identity is established."""

    SERVER = "server"
    """The server itself, which checks its graph; never a request."""
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
        source: how it was established.
        subject: name that is unique within the source: a token's name, an OIDC `sub`, a certificate's subject.
        tenant: the only tenant whose graph it may ask; None: the server's.
        groups: groups of the subject, from its provider or its token.
        scopes: what the credential allows; policies can only take from it.
        expires: end of the credential; None: it has none.
        shown_name: name of a person for display, which decides nothing and isn't unique; empty: not known.
    """

    source: Source
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


SERVER = Identity(Source.SERVER, "", scopes=frozenset(Scope))
"""The server itself: health, and the rules that it checks in the background."""

ANONYMOUS = Identity(Source.ANONYMOUS, "", scopes=frozenset(Scope))
"""Everybody, where no way to log in is configured: only on a loopback address."""

ANONYMOUS_READER = Identity(Source.ANONYMOUS, "", scopes=frozenset({Scope.READ, Scope.EXPRESSIONS, Scope.OPERATE}))
"""Everybody without a credential, where `serve.allow_anonymous_reads` is set."""

NOBODY = Identity(Source.ANONYMOUS, "")
"""Whoever asks for what is open to all: its credential isn't looked at."""


def identity_of(scope: MutableMapping[str, Any]) -> Identity:
    """Return the identity of a request.

    Raises:
        KeyError: no middleware established one: a defect, never a default.
    """
    found: Identity = scope[IDENTITY]
    return found
