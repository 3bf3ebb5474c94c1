"""`headwater serve` as a process of its own."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from headwater_benchmarks.soak.process import CommandProcess
from support.stack import StackUnderTest

_URL = re.compile(r"Lineage on (http://\S+)/,")


def environment(stack: StackUnderTest, **settings: str) -> dict[str, str]:
    """The settings of a server of this stack's graph; further ones as `serve__port`."""
    chosen = {
        "neo4j__uri": stack.neo4j_uri,
        "neo4j__user": stack.neo4j_user,
        "neo4j__password": stack.neo4j_password,
        "serve__port": "0",
        **settings,
    }
    return {f"HEADWATER_{name.replace('__', '_').upper()}": value for name, value in chosen.items()}


class ServeProcess(CommandProcess):
    """A running `headwater serve`."""

    def __init__(self, settings: dict[str, str], folder: Path, *arguments: str) -> None:
        super().__init__(settings, folder, "serve", *arguments)

    def url(self) -> str:
        """Where it serves, once it does."""
        self.until(lambda: _URL.search(self.stderr) is not None, "an address")
        return str(_URL.findall(self.stderr)[0])


@contextlib.contextmanager
def serving(settings: dict[str, str], *arguments: str) -> Iterator[ServeProcess]:
    """A server that is gone at the end of the block, however it ends; `arguments` are options of the command."""
    with tempfile.TemporaryDirectory() as folder:
        server = ServeProcess(settings, Path(folder), *arguments)
        try:
            yield server
        finally:
            server.end()
