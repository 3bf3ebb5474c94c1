"""Lineage page at `/` and API reference at `/docs`, built from `web/` into the folder `page/`.

Each file has a separate route, so no other file is ever read; other paths are answered as unknown paths. A file is read
and compressed once, at its first request.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from mimetypes import guess_type
from pathlib import Path

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from headwater_server.asking import is_named, weak_tag
from headwater_server.scoped import Access, ScopedRoute

_PAGES = {"/": "index.html", "/docs": "docs.html"}
_GZIP_LEVEL = 6


def page_routes(folder: Path | None = None) -> list[Route]:
    """Make a route for each file below `folder`, and for `/` and `/docs` if their files were built."""
    folder = folder or Path(str(files("headwater_server").joinpath("page")))
    names = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    named = {path: name for path, name in _PAGES.items() if name in names} | {f"/{name}": name for name in names}
    return [_route(path, folder / name) for path, name in named.items()]


@dataclass(frozen=True, slots=True)
class _Content:
    plain: bytes
    compressed: bytes
    tag: str
    type: str | None


@cache
def _content(file: Path) -> _Content:
    plain = file.read_bytes()
    return _Content(plain, gzip.compress(plain, _GZIP_LEVEL, mtime=0), weak_tag(plain), guess_type(file.name)[0])


def _route(path: str, file: Path) -> Route:
    async def serve(request: Request) -> Response:
        # In a thread: the largest file takes a tenth of a second to compress.
        content = await to_thread.run_sync(_content, file)
        # Browsers revalidate every time, because the page has to match the API after an upgrade.
        headers = {"Cache-Control": "no-cache", "ETag": content.tag, "Vary": "Accept-Encoding"}
        if is_named(request, content.tag):
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(content.plain, headers=headers, media_type=content.type)
        headers["Content-Encoding"] = "gzip"
        return Response(content.compressed, headers=headers, media_type=content.type)

    return ScopedRoute(path, serve, needs=Access.OPEN, recorded=False)
