"""The page at `/`, and that of the API at `/docs`: built from `web/`, shipped beside this module in `page/`.

Each file has a separate route, so that no other file is ever read; other paths are answered as unknown paths.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from headwater_server.scoped import Access, ScopedRoute

_PAGES = {"/": "index.html", "/docs": "docs.html"}


def page_routes(folder: Path | None = None) -> list[Route]:
    """A route for each file below `folder`, and for `/` and `/docs`, of those that were built."""
    folder = folder or Path(str(files("headwater_server").joinpath("page")))
    static = StaticFiles(directory=folder)
    names = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    named = {path: name for path, name in _PAGES.items() if name in names} | {f"/{name}": name for name in names}
    return [_route(static, path, name) for path, name in named.items()]


def _route(static: StaticFiles, path: str, name: str) -> Route:
    async def serve(request: Request) -> Response:
        response = await static.get_response(name, request.scope)
        # Ask every time whether it still holds: a newer release's page and API belong together.
        response.headers["Cache-Control"] = "no-cache"
        return response

    return ScopedRoute(path, serve, needs=Access.OPEN, recorded=False)
