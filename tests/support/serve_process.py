"""`headwater serve` as a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.stack import StackUnderTest

# A cold start beside other suites on two cores.
START_SECONDS = 60.0
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


class ServeProcess:
    """A running `headwater serve --json`. What it says goes to files, so that no pipe fills up."""

    def __init__(self, settings: dict[str, str], folder: Path) -> None:
        self._out, self._err = folder / "out", folder / "err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "headwater", "serve", "--json"],
                env={**os.environ, "HEADWATER_DATA_DIR": str(folder), **settings},
                stdout=out,
                stderr=err,
                cwd=folder,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        """Its stderr so far."""
        return self._err.read_text(encoding="utf-8")

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on its stdout."""
        document: dict[str, Any] = json.loads(self._out.read_text(encoding="utf-8"))
        return document

    def url(self) -> str:
        """Where it serves, once it does."""
        until = time.monotonic() + START_SECONDS
        while (found := _URL.search(self.said)) is None:
            assert self.process.poll() is None, f"it ended with {self.process.returncode}: {self.said}"
            assert time.monotonic() < until, f"it doesn't serve yet: {self.said}"
            time.sleep(0.05)
        return found[1]

    def wait(self, seconds: float = START_SECONDS) -> int:
        """Its exit status."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds} s; it said: {self.said}") from None

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Signal it, and its exit status."""
        self.process.send_signal(number)
        return self.wait()


@contextlib.contextmanager
def serving(settings: dict[str, str]) -> Iterator[ServeProcess]:
    """A server that is gone at the end of the block, however it ends."""
    with tempfile.TemporaryDirectory() as folder:
        server = ServeProcess(settings, Path(folder))
        try:
            yield server
        finally:
            if server.process.poll() is None:
                server.process.kill()
                server.process.wait()
