"""Routes with the access that each needs, which is declared where the route is made.

    router = area("search", needs=Scope.READ)       # every route of the router

`access_of` finds the route of a request before its body is read, as the router does later. If the router then chooses a
route that needs another access than the checked one, the request is refused as a defect.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeAlias, cast

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from headwater_server.identity import Scope


class Access(StrEnum):
    """Access that a route can need instead of a scope."""

    OPEN = "open"
    """Anybody, without a credential: the route shows nothing of the graph."""
    IDENTIFIED = "identified"
    """Any identity, whatever its scopes."""


Needs: TypeAlias = Access | Scope


CHECKED = "headwater.access"
"""Key in a request's scope: the checked access."""


class _Checked(Route):
    """Route that refuses requests for which another access was checked.

    Attributes:
        recorded: True if the audit records every request; False if it records only refusals, because the route shows
            nothing of the graph.
    """

    needs: Needs
    recorded: bool

    @cached_property
    def literal(self) -> str:
        """Common prefix of all paths that the route matches."""
        return self.path.partition("{")[0]

    async def handle(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Handle a request.

        Raises:
            RuntimeError: the access of the route wasn't checked.
        """
        if scope.get(CHECKED) is not self.needs:
            raise RuntimeError(f"{self.path} needs {self.needs}, and {scope.get(CHECKED)} was checked")
        await super().handle(scope, receive, send)


class ScopedApiRoute(_Checked, APIRoute):
    """Route of the API. `api_route` makes a class for each need."""


def api_route(needs: Needs, *, recorded: bool = True) -> type[ScopedApiRoute]:
    """Make the class of routes with this need."""
    members = {"needs": needs, "recorded": recorded}
    return cast("type[ScopedApiRoute]", type("ScopedApiRoute", (ScopedApiRoute,), members))


class ScopedRoute(_Checked):
    """Route of a file, a document or the log-in, outside of the API."""

    def __init__(
        self,
        path: str,
        endpoint: Callable[[Request], Awaitable[Response]] | ASGIApp,
        *,
        needs: Needs,
        method: str = "GET",
        recorded: bool = True,
    ) -> None:
        super().__init__(path, endpoint, methods=[method], include_in_schema=False)
        self.needs, self.recorded = needs, recorded


def is_recorded(route: BaseRoute | None) -> bool:
    """Return True if the audit records every request to a route, or to no route; False if only refusals."""
    return not isinstance(route, _Checked) or route.recorded


def needs_of(route: BaseRoute) -> Needs:
    """Access that a route needs.

    Raises:
        TypeError: the route doesn't declare its access: a defect; there is no default.
    """
    if isinstance(route, _Checked):
        return route.needs
    raise TypeError(f"the route {route} doesn't declare the access that it needs")


def access_of(routes: Iterable[BaseRoute], scope: AsgiScope) -> Needs:
    """Access that a request needs. If no route has the request's path, any identity gets the 404.

    Args:
        routes: all routes, in the order in which the router tries them.
        scope: the request; its path as routes see it (`middleware.requests.Paths`).
    """
    route, _ = route_of(routes, scope)
    return Access.IDENTIFIED if route is None else needs_of(route)


def route_of(routes: Iterable[BaseRoute], scope: AsgiScope) -> tuple[BaseRoute | None, Mapping[str, Any]]:
    """Route of a request, and the parameters of its path as sent; None if no route has the path.

    Args:
        routes: all routes, in the order in which the router tries them.
        scope: the request; its path as routes see it (`middleware.requests.Paths`).
    """
    # `middleware.answers.Head` passes HEAD on as GET.
    asked = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
    partial: tuple[BaseRoute | None, Mapping[str, Any]] = None, {}
    for route in routes:
        # A comparison of prefixes first: `matches` takes longer, and there are 40 routes.
        if isinstance(route, _Checked) and not asked["path"].startswith(route.literal):
            continue
        match, child = route.matches(asked)
        found = route, child.get("path_params", {})
        if match is Match.FULL:
            return found
        if match is Match.PARTIAL and partial[0] is None:
            partial = found
    return partial
