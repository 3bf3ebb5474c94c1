"""Calls of an assistant's tools to a remote `headwater serve`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, Self

import httpx2
import msgspec

from headwater.console import shortened
from headwater.remote.choice import Chosen
from headwater.remote.server import connection
from headwater_server.mcp.asks import Answer

_LONGEST: Final = 300


class Elsewhere:
    """Client that asks a remote server (`headwater_server.mcp.asks.Asks`); an asynchronous context manager.

    If the server doesn't answer, or its answer isn't a JSON object, the result is a problem of type
    `urn:headwater:server-unreachable`, with status 503.
    """

    def __init__(self, chosen: Chosen) -> None:
        self._url = chosen.url
        self._client = httpx2.AsyncClient(**connection(chosen))

    async def __aenter__(self) -> Self:
        """Return the object itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def __call__(self, method: str, path: str, parameters: Sequence[tuple[str, str]], body: Any) -> Answer:
        """Send a request; see `Asks`."""
        try:
            response = await self._client.request(method, self._url + path, params=list(parameters), json=body)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            return self._unreachable(str(error) or type(error).__name__)
        try:
            found = msgspec.json.decode(response.content)
        except msgspec.DecodeError:
            found = None
        if not isinstance(found, dict):
            return self._unreachable(f"status {response.status_code}, and no answer of a `headwater serve`")
        return Answer(response.status_code, response.content)

    def _unreachable(self, reason: str) -> Answer:
        problem = {
            "type": "urn:headwater:server-unreachable",
            "title": "The server can't be asked",
            "detail": f"{self._url} gave no answer: {shortened(reason, _LONGEST)}. Try again later.",
        }
        return Answer(503, json.dumps(problem).encode())
