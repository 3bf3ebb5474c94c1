"""The page at `/`: files that are built elsewhere and shipped beside this module, in `page/`.

Each file is a route of its own, so that nothing else is ever read, and other paths are answered like any other.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.routing import Route
from starlette.staticfiles import StaticFiles

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

_INDEX = "index.html"


def page_routes(folder: Path | None = None) -> list[Route]:
    """A route for each file below `folder`, and `/` for its index.html; none where the page wasn't built."""
    folder = folder or Path(str(files("headwater_server").joinpath("page")))
    if not (folder / _INDEX).is_file():
        return []
    static = StaticFiles(directory=folder)
    names = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    return [_route(static, "/", _INDEX), *(_route(static, f"/{name}", name) for name in names)]


def _route(static: StaticFiles, path: str, name: str) -> Route:
    async def serve(request: Request) -> Response:
        response = await static.get_response(name, request.scope)
        # Ask every time whether it still holds: a newer release's page and API belong together.
        response.headers["Cache-Control"] = "no-cache"
        return response

    return Route(path, serve, methods=["GET"], include_in_schema=False)
