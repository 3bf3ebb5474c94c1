"""Routes, each with the access that it needs: where its route is made, and nowhere else.

    router = area("search", needs=Scope.READ)       # every route of the router

`access_of` finds the route of a request as the router does, before its body is read. A route that is reached although
another access was checked answers with a defect, so that no difference between the two opens anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias, cast

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from headwater_server.identity import Scope


class Access(StrEnum):
    """Needs other than a scope."""

    OPEN = "open"
    """Anybody, without a credential: the route has nothing of the graph."""
    IDENTIFIED = "identified"
    """Any identity, whatever its scopes."""


Needs: TypeAlias = Access | Scope


CHECKED = "headwater.access"
"""Key in a request's scope of the access that was checked."""


class _Checked(Route):
    """Route that refuses requests for which another access was checked.

    Attributes:
        needs: access that it needs.
    """

    needs: Needs

    @cached_property
    def literal(self) -> str:
        """Beginning of all paths that it can match."""
        return self.path.partition("{")[0]

    async def handle(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Handle a request.

        Raises:
            RuntimeError: its access wasn't checked.
        """
        if scope.get(CHECKED) is not self.needs:
            raise RuntimeError(f"{self.path} needs {self.needs}, and {scope.get(CHECKED)} was checked")
        await super().handle(scope, receive, send)


class ScopedApiRoute(_Checked, APIRoute):
    """Route of the API. A class for each need, made by `api_route`."""


def api_route(needs: Needs) -> type[ScopedApiRoute]:
    """Class of the routes with this need."""
    return cast("type[ScopedApiRoute]", type("ScopedApiRoute", (ScopedApiRoute,), {"needs": needs}))


class ScopedRoute(_Checked):
    """Route of a file, a document or the log-in, outside of the API."""

    def __init__(
        self, path: str, endpoint: Callable[[Request], Awaitable[Response]], *, needs: Needs, method: str = "GET"
    ) -> None:
        super().__init__(path, endpoint, methods=[method], include_in_schema=False)
        self.needs = needs


def needs_of(route: BaseRoute) -> Needs:
    """Access that a route needs.

    Raises:
        TypeError: the route was made without saying so: a defect, never a default.
    """
    if isinstance(route, _Checked):
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
        # `matches` takes longer, and there are 40 of them.
        if isinstance(route, _Checked) and not asked["path"].startswith(route.literal):
            continue
        match, _ = route.matches(asked)
        if match is Match.FULL:
            return needs_of(route)
        if match is Match.PARTIAL and partial is None:
            partial = route
    return Access.IDENTIFIED if partial is None else needs_of(partial)
