"""`headwater mcp`: the questions as tools for an assistant, over stdin and stdout."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast

from anyio import AsyncFile, to_thread
from mcp.server.stdio import stdio_server

from headwater.auditing import opened_audit
from headwater.console import JsonOption, console
from headwater.logs import LogFormatOption, start_logging
from headwater.options import TenantOption
from headwater.remote.choice import Chosen, chosen_server
from headwater.remote.server import Server
from headwater.remote.tools import Elsewhere
from headwater.served_graph import policy_and_exemptions, served_graph
from headwater.settings import Settings, connected_settings, load_settings
from headwater.stopping import stopped_by_signals
from headwater_consumers.materializer.garbage import rare_collections
from headwater_server.app import create_app, openapi_document
from headwater_server.identity.authentication import Authentication
from headwater_server.mcp.asks import Asks, InProcess
from headwater_server.mcp.protocol import mcp_server
from headwater_server.mcp.tools import bound_tools

# Like a server on a loopback address without log-in: anybody who can start this command can read the whole graph.
_WITHOUT_LOG_IN: Final[Mapping[str, Any]] = {"host": "127.0.0.1", "allowed_hosts": "", "allow_anonymous_reads": False}
_SENDER: Final[Mapping[str, Any]] = {
    "asgi": {"version": "3.0"},
    "http_version": "1.1",
    "scheme": "http",
    "headers": [(b"host", b"localhost")],
}
_CHUNK_BYTES: Final = 65_536


def command(
    *,
    tenant: TenantOption = None,
    log_format: LogFormatOption = None,
    json_output: JsonOption = False,
) -> None:
    """Give an assistant the questions as tools of the Model Context Protocol, over stdin and stdout.

    The assistant starts and ends this command. The tools only read. After `headwater login`, or with HEADWATER_URL,
    they ask this server, and see what you may see there. Otherwise they ask the database, and see the whole graph of
    the tenant, as every command with the database's password. `headwater serve` has the same tools at /mcp.
    """
    chosen = chosen_server(tenant)
    with contextlib.ExitStack() as ends:
        if chosen is None:
            settings = connected_settings({"analysis.tenant": tenant, "log.format": log_format}, neo4j=True)
            asks = ends.enter_context(_database_asks(settings))
        else:
            settings = load_settings({"log.format": log_format})
            start_logging(settings.log)
            console.using({"Server": f"{chosen.url} ({chosen.origin})"})
            with contextlib.closing(Server(chosen)) as server:
                server.me()  # fails at once if the server refuses the credential, not only at the first call
            asks = _server_asks(chosen)
        lines = Lines(sys.stdin.fileno(), settings.serve.body_max_bytes)
        with contextlib.closing(lines), stopped_by_signals(lines.end):
            asyncio.run(_served(asks, lines, settings.serve.mcp_answer_max_bytes))


AsksOf: TypeAlias = Callable[[str], Asks]
"""Function from the name of a tool to the `Asks` that answers the tool's questions."""


@contextlib.contextmanager
def _database_asks(settings: Settings) -> Iterator[contextlib.AbstractAsyncContextManager[AsksOf]]:
    judging = policy_and_exemptions(settings.serve)
    start_logging(settings.log)
    audit = opened_audit(settings, "mcp")
    if audit is not None:
        console.until_end.callback(audit.writer.close)
    settings = settings.model_copy(update={"serve": settings.serve.model_copy(update=_WITHOUT_LOG_IN)})
    graph = served_graph(settings, judging, audit=audit)
    with contextlib.closing(graph.driver), rare_collections():
        app = create_app(graph, Authentication())
        yield contextlib.nullcontext(lambda name: InProcess(app, _SENDER, name))


@contextlib.asynccontextmanager
async def _server_asks(chosen: Chosen) -> AsyncIterator[AsksOf]:
    async with Elsewhere(chosen) as elsewhere:
        yield lambda _name: elsewhere


async def _served(asks: contextlib.AbstractAsyncContextManager[AsksOf], lines: Lines, most_bytes: int) -> None:
    """Serve until stdin ends."""
    async with asks as asks_of, stdio_server(cast("AsyncFile[str]", lines)) as (incoming, outgoing):
        tools = bound_tools(openapi_document())
        server = mcp_server(tools, lambda _context, name: asks_of(name), most_bytes=most_bytes)
        await server.run(incoming, outgoing, server.create_initialization_options())


class Lines:
    """Lines of a file, until its end or a call of `end`.

    The SDK's reader waits in a thread that can't be interrupted, so a signal wouldn't end the process while stdin is
    open.

    Args:
        most_bytes: maximum size of a line. A longer line is replaced by an empty one, which isn't a message.
    """

    def __init__(self, file: int, most_bytes: int) -> None:
        self._file = file
        self._most_bytes = most_bytes
        self._woken, self._waker = os.pipe()

    async def __aiter__(self) -> AsyncIterator[str]:
        """Lines without their ends, decoded as UTF-8; invalid bytes are replaced."""
        pending, skipped = bytearray(), False
        try:
            while chunk := await to_thread.run_sync(self._read, abandon_on_cancel=True):
                *whole, rest = chunk.split(b"\n")
                for part in whole:
                    too_long = skipped or len(pending) + len(part) > self._most_bytes
                    yield "" if too_long else (pending + part).decode(errors="replace")
                    pending.clear()
                    skipped = False
                skipped = skipped or len(pending) + len(rest) > self._most_bytes
                pending = bytearray() if skipped else pending + rest
        finally:
            self.end()

    def end(self) -> None:
        """End the lines. May be called from any thread or signal handler."""
        os.write(self._waker, b"\n")

    def close(self) -> None:
        """Close the pipe of `end`."""
        os.close(self._woken)
        os.close(self._waker)

    def _read(self) -> bytes:
        ready, _, _ = select.select([self._file, self._woken], [], [])
        return b"" if self._woken in ready else os.read(self._file, _CHUNK_BYTES)
