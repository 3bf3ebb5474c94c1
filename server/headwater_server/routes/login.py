"""Routes for log-in and log-out of people on the page, if a client of the OIDC provider is configured."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from headwater_server.identity.credentials import CredentialError
from headwater_server.identity.login import UNDER_WAY_SECONDS, Login
from headwater_server.metrics import AuthenticationMetrics
from headwater_server.middleware.identify import refusal
from headwater_server.scoped import Access, ScopedRoute

_NOT_KEPT = {"Cache-Control": "no-store"}


def login_routes(login: Login, metrics: AuthenticationMetrics) -> list[ScopedRoute]:
    """Make the routes of the log-in. All are open: the person has no session yet, or ends it."""
    browser_cookie, session_cookie = login.client.cookie("login"), login.sessions.cookie

    def keep(response: Response, name: str, value: str, seconds: int) -> None:
        response.set_cookie(
            name, value, max_age=seconds, path="/", secure=login.client.secure, httponly=True, samesite="lax"
        )

    async def begin(request: Request) -> Response:
        """Send the browser to the provider; `return` is the path that is shown afterwards."""
        url, browser = await login.begin(request.query_params.get("return", "/"), request.cookies.get(browser_cookie))
        response = RedirectResponse(url, HTTPStatus.SEE_OTHER, _NOT_KEPT)
        keep(response, browser_cookie, browser, UNDER_WAY_SECONDS)
        return response

    async def callback(request: Request) -> Response:
        """Begin a session if the provider confirms the log-in. An earlier session of the browser ends."""
        session, url = await login.complete(request.query_params, request.cookies.get(browser_cookie))
        if (before := request.cookies.get(session_cookie)) is not None:
            login.sessions.end(before)
        response = RedirectResponse(url, HTTPStatus.SEE_OTHER, _NOT_KEPT)
        keep(response, session_cookie, session, login.sessions.max_seconds)
        return response

    async def end(request: Request) -> Response:
        """End the session. The page then sends the browser to `location`, which ends the provider's session."""
        location = await login.end(request.cookies.get(session_cookie, ""))
        response = JSONResponse({"location": location}, headers=_NOT_KEPT)
        keep(response, session_cookie, "", 0)
        return response

    def answering(endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            try:
                return await endpoint(request)
            except CredentialError as error:
                metrics.refused(error.fault)
                return refusal(error, Access.OPEN, {})

        return answer

    return [
        ScopedRoute("/login", answering(begin), needs=Access.OPEN),
        ScopedRoute("/login/callback", answering(callback), needs=Access.OPEN),
        ScopedRoute("/logout", answering(end), needs=Access.OPEN, method="POST"),
    ]
