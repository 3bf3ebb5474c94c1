"""Filter of requests: refuses other hosts' names, bodies with two lengths, and requests of other sites' pages.

- Host: a web site may point one of its names at 127.0.0.1, and a browser then considers this server part of that site
  (DNS rebinding). Such a request has the site's name in `Host`.
- Length: a body with Content-Length and Transfer-Encoding may end at different positions for a proxy and for this
  server. Its rest would then count as another request (RFC 9112, 6.1).
- Site: another site's page could make a visitor's browser send endless questions, although the page can't read the
  answers, or change something with the visitor's session. Browsers mark each request with its initiator (Fetch
  Metadata). Links from other sites are allowed, because the visitor follows them deliberately. Browsers from before
  2023 send no Fetch Metadata; with changes they send the initiator's origin.
"""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater_server.problems import ProblemType, problem


class Hosts:
    """Refuses requests for another host, and requests with two lengths.

    Args:
        names: allowed host names in lower case, without ports; None: any.
    """

    def __init__(self, app: ASGIApp, names: frozenset[str] | None) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, headers: Headers) -> Response | None:
        if "content-length" in headers and "transfer-encoding" in headers:
            why = "A body has one length: send Content-Length or Transfer-Encoding, not both."
            return problem(ProblemType.QUESTION, why, headers={"Connection": "close"})
        if self._names is not None and host_of(headers.get("host", "")) not in self._names:
            return problem(
                ProblemType.HOST,
                "The `Host` isn't a name of this server; HEADWATER_SERVE_ALLOWED_HOSTS can allow further names.",
            )
        return None


def host_of(header: str) -> str:
    """Host name in a `Host` header: `Localhost:8470` ⇒ `localhost`, `[::1]:8470` ⇒ `::1`."""
    header = header.strip().lower()
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0]


# `same-site` is another application: on another port of this host, or on another host of the same domain.
_OTHERS = frozenset({"cross-site", "same-site"})


class Sites:
    """Refuses requests from another site's page, unless a person follows a link or types an address."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] == "http" and not _is_allowed(scope["method"], Headers(scope=scope)):
            refusal = problem(
                ProblemType.CROSS_SITE,
                "A page of another site may link to this server; its scripts, frames and forms may not send requests.",
                headers={"Connection": "close"},
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_allowed(method: str, headers: Headers) -> bool:
    """Return True for requests of this server's page, navigation by a person, and clients other than browsers."""
    site = headers.get("sec-fetch-site", "").strip().lower()
    if not site and method not in {"GET", "HEAD"} and (origin := headers.get("origin")) is not None:
        return origin.strip().lower().partition("://")[2] == headers.get("host", "").strip().lower()
    if site not in _OTHERS:
        return True
    mode, target = (headers.get(f"sec-fetch-{name}", "").strip().lower() for name in ("mode", "dest"))
    return method in {"GET", "HEAD"} and (mode, target) == ("navigate", "document")
