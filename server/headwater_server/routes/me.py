"""Route for the asker's own identity."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import Request
from starlette.responses import Response

from headwater_server.asking import Graph, answered, area
from headwater_server.identity import IdentitySource, Scope, identity_of
from headwater_server.identity.authentication import Authentication
from headwater_server.middleware.identify import LOGIN_PATH
from headwater_server.scoped import Access

router = area("identity", needs=Access.IDENTIFIED)


@dataclass(frozen=True, slots=True)
class Me:
    """Identity of the asker, as the server knows it.

    Attributes:
        source: way in which the identity was established.
        subject: name that is unique within the source; empty: anonymous.
        name: name of a person for display, from its provider; empty: not known.
        tenant: the only tenant whose lineage the asker can query and change.
        groups: groups of the asker, sorted.
        scopes: actions that the credential allows, sorted.
        expires: end of the credential; null: it doesn't expire.
        filtered: true if answers leave out everything that the asker may not see; some questions are then refused.
        login: address at which people log in, relative to the page's; null: there is no log-in.
    """

    source: IdentitySource
    subject: str
    name: str
    tenant: str
    groups: list[str]
    scopes: list[Scope]
    expires: datetime | None
    filtered: bool
    login: str | None


@router.get("/me", response_model=Me, operation_id="me")
async def me(request: Request) -> Response:
    """Identity of the request's credential, and the actions that it allows."""
    identity = identity_of(request.scope)
    graph: Graph = request.app.state.graph
    authentication: Authentication = request.app.state.authentication
    decision = graph.decision(identity)
    shown = Me(
        identity.source,
        identity.subject,
        identity.shown_name,
        graph.tenant_of(identity),
        sorted(identity.groups),
        sorted(identity.scopes),
        identity.expires,
        decision is not None and not decision.allowed,
        None if authentication.login is None else LOGIN_PATH,
    )
    return answered(request, shown)
