"""Answers as JSON, cacheable: the same JSON as `--json` of the command line.

A 200 of GET has a weak ETag of its content; a request that names it in `If-None-Match` is answered 304. Weak, since the
same answer is sent with and without gzip.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.requests import Request

# Keep it, and ask every time whether it still holds.
_HEADERS = {"Cache-Control": "private, no-cache"}


def answered(request: Request, answer: Any) -> Response:
    """The response that says `answer`, a dataclass of plain values."""
    kind: Any = type(answer)
    content = _adapter(kind).dump_json(answer)
    if request.method != "GET":
        return Response(content, media_type="application/json", headers={"Cache-Control": "no-store"})
    tag = f'W/"{hashlib.blake2b(content, digest_size=16).hexdigest()}"'
    headers = {**_HEADERS, "ETag": tag}
    if _names(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type="application/json", headers=headers)


@cache
def _adapter(kind: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _names(condition: str, tag: str) -> bool:
    """Whether `If-None-Match` has the tag, by weak comparison (RFC 9110, 8.8.3.2)."""
    opaque = tag.removeprefix("W/")
    tags = [each.strip().removeprefix("W/") for each in condition.split(",")]
    return opaque in tags or tags == ["*"]
