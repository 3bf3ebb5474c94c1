"""Routes, each with the access that it needs: where its route is made, and nowhere else.

    router = area("search", needs=Scope.READ)       # every route of the router

`access_of` finds the route of a request as the router does, with the routes' own `matches`, so that no spelling of a
path leads to a route whose need wasn't checked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from enum import StrEnum
from typing import TypeAlias, cast

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope as AsgiScope

from headwater_server.identity import Scope


class Access(StrEnum):
    """Needs other than a scope."""

    OPEN = "open"
    """Anybody, without a credential: the route has nothing of the graph."""
    IDENTIFIED = "identified"
    """Any identity, whatever its scopes."""


Needs: TypeAlias = Access | Scope


class ScopedApiRoute(APIRoute):
    """Route of the API. A class for each need, made by `api_route`.

    Attributes:
        needs: access that it needs.
    """

    needs: Needs


def api_route(needs: Needs) -> type[ScopedApiRoute]:
    """Class of the routes with this need."""
    return cast("type[ScopedApiRoute]", type("ScopedApiRoute", (ScopedApiRoute,), {"needs": needs}))


class ScopedRoute(Route):
    """Route of a file or document outside of the API, for GET.

    Attributes:
        needs: access that it needs.
    """

    def __init__(self, path: str, endpoint: Callable[[Request], Awaitable[Response]], *, needs: Needs) -> None:
        super().__init__(path, endpoint, methods=["GET"], include_in_schema=False)
        self.needs = needs


def needs_of(route: BaseRoute) -> Needs:
    """Access that a route needs.

    Raises:
        TypeError: the route was made without saying so: a defect, never a default.
    """
    if isinstance(route, ScopedApiRoute | ScopedRoute):
        return route.needs
    raise TypeError(f"the route {route} doesn't say what access it needs")


def access_of(routes: Iterable[BaseRoute], scope: AsgiScope) -> Needs:
    """Access that a request needs. Where there is no route, any identity may learn so.

    Args:
        routes: all routes, in the order in which the router tries them.
        scope: the request; its path as routes see it (`middleware.requests.Paths`).
    """
    # As `middleware.answers.Head` passes it on.
    asked = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
    partial: BaseRoute | None = None
    for route in routes:
        match, _ = route.matches(asked)
        if match is Match.FULL:
            return needs_of(route)
        if match is Match.PARTIAL and partial is None:
            partial = route
    return Access.IDENTIFIED if partial is None else needs_of(partial)
