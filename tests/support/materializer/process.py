"""`headwater consume` as a process of its own."""

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
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.stack import StackUnderTest

# A cold start beside other suites on two cores.
START_SECONDS = 60.0
_PORT = re.compile(r"Metrics and health on http://[\d.]+:(\d+)")


def environment(stack: StackUnderTest, prefix: str, **settings: str) -> dict[str, str]:
    """The settings of a consumer of this stack's topics with this prefix; further ones as `materializer__group`."""
    chosen = {
        "kafka__bootstrap_servers": stack.bootstrap_servers,
        "neo4j__uri": stack.neo4j_uri,
        "neo4j__user": stack.neo4j_user,
        "neo4j__password": stack.neo4j_password,
        "topic__prefix": prefix,
        "materializer__group": prefix,
        **settings,
    }
    return {f"HEADWATER_{name.replace('__', '_').upper()}": value for name, value in chosen.items()}


class ConsumerProcess:
    """A running `headwater consume --json`. What it says goes to files, so that no pipe fills up."""

    def __init__(self, settings: dict[str, str], folder: Path, *arguments: str) -> None:
        self._out, self._err = folder / "out", folder / "err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "headwater", "consume", "--json", "--port", "0", *arguments],
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

    def wait(self, seconds: float = START_SECONDS) -> int:
        """Its exit status."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {seconds} s; it said: {self.said}") from None

    def stop(self, number: signal.Signals = signal.SIGTERM, *, seconds: float = START_SECONDS) -> int:
        """Signal it, and its exit status."""
        self.process.send_signal(number)
        return self.wait(seconds)

    def kill(self) -> None:
        """SIGKILL: nothing of it gets to do anything any more."""
        self.process.kill()
        self.process.wait(30)

    def get(self, path: str) -> tuple[int, str]:
        """Status and body of one of its paths."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metric(self, name: str) -> float:
        """Value of a series without labels, `records_consumed_total` say."""
        _, text = self.get("/metrics")
        (line,) = [line for line in text.splitlines() if line.startswith(f"headwater_materializer_{name} ")]
        return float(line.split()[-1])

    @property
    def port(self) -> int:
        """Where it serves its metrics, once it does."""
        self.until(lambda: _PORT.search(self.said) is not None, "a port")
        found = _PORT.search(self.said)
        assert found is not None
        return int(found[1])

    def until(self, condition: Callable[[], bool], what: str, *, seconds: float = START_SECONDS) -> None:
        """Wait for it, while the process lives."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert self.process.poll() is None, f"ended with {self.process.returncode}; it said: {self.said}"
            assert time.monotonic() < deadline, f"no {what} after {seconds} s; it said: {self.said}"
            time.sleep(0.02)

    def end(self) -> None:
        """Make sure that it has ended."""
        if self.process.poll() is None:
            self.kill()


@contextlib.contextmanager
def consuming(settings: dict[str, str], *arguments: str) -> Iterator[ConsumerProcess]:
    """A consumer that has ended when the block has."""
    with tempfile.TemporaryDirectory() as folder:
        consumer = ConsumerProcess(settings, Path(folder), *arguments)
        try:
            yield consumer
        finally:
            consumer.end()


def run_until_caught_up(settings: dict[str, str], *, seconds: float = 120) -> dict[str, Any]:
    """Let one consumer catch up, and its totals."""
    with consuming(settings, "--until-caught-up") as consumer:
        status = consumer.wait(seconds)
        assert status == 0, consumer.said
        return consumer.document
