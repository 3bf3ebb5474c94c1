"""`headwater serve` as a process of its own."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from headwater_benchmarks.soak.process import CommandProcess

_URL = re.compile(r"Lineage on (http://\S+)/,")


class ServeProcess(CommandProcess):
    """A running `headwater serve`."""

    def __init__(self, settings: Mapping[str, str], folder: Path, *arguments: str) -> None:
        super().__init__(settings, folder, "serve", *arguments)

    def url(self) -> str:
        """URL that the server listens on, once it does."""
        self.until(lambda: _URL.search(self.stderr) is not None, "an address")
        return str(_URL.findall(self.stderr)[0])


@contextlib.contextmanager
def serving(settings: Mapping[str, str], *arguments: str) -> Iterator[ServeProcess]:
    """A server that is gone at the end of the block, however it ends; `arguments` are options of the command."""
    with tempfile.TemporaryDirectory() as folder:
        server = ServeProcess(settings, Path(folder), *arguments)
        try:
            yield server
        finally:
            server.end()
