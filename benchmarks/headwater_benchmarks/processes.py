"""`headwater consume`, `serve` and other commands as child processes, which can be observed and signalled."""

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from headwater.errors import HeadwaterError

START_SECONDS = 60.0
"""Time limit that is enough for a cold start under load on two cores."""
_POLL_SECONDS = 0.02
PROGRAM = ("-m", "headwater")
_PORT = re.compile(r"Metrics and health on http://[\d.]+:(\d+)")
_URL = re.compile(r"Lineage on (http://\S+)/,")


class CommandProcess:
    """A running `headwater COMMAND --json`. Its output goes to files, so that no pipe fills up.

    Args:
        settings: additional variables of the environment.
        folder: working and data folder, only for this process.
        arguments: the command and its options; of a subclass only the options.
        program: Python arguments that run `headwater`.

    Attributes:
        folder: working and data folder.
    """

    command: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, settings: Mapping[str, str], folder: Path, *arguments: str, program: Sequence[str] = PROGRAM
    ) -> None:
        self.folder, self.name = folder, folder.name
        self._out, self._err = folder / "out", folder / "err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, *program, *self.command, *arguments, "--json"],
                env={**os.environ, "HEADWATER_DATA_DIR": str(folder), **settings},
                stdout=out,
                stderr=err,
                cwd=folder,
                start_new_session=True,
            )

    @property
    def stderr(self) -> str:
        """Stderr of the process so far."""
        return self._err.read_text(encoding="utf-8")

    @property
    def document(self) -> dict[str, Any]:
        """JSON document on the stdout of the ended process."""
        document: dict[str, Any] = json.loads(self._out.read_text(encoding="utf-8"))
        return document

    @property
    def runs(self) -> bool:
        """True until the process ends."""
        return self.process.poll() is None

    def wait(self, seconds: float = START_SECONDS) -> int:
        """Wait for the end; return the exit status.

        Raises:
            HeadwaterError: the process still runs.
        """
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise HeadwaterError(f"{self.name} still runs after {seconds} s. Its stderr: {self.stderr}") from None

    def stop(self, number: signal.Signals = signal.SIGTERM, *, seconds: float = START_SECONDS) -> int:
        """Send a signal, wait for the end, and return the exit status.

        Raises:
            HeadwaterError: the process still runs.
        """
        self.process.send_signal(number)
        return self.wait(seconds)

    def kill(self) -> None:
        """Kill by SIGKILL, without any clean-up."""
        self.process.kill()
        self.process.wait(30)

    def end(self) -> None:
        """Kill the process if it hasn't ended."""
        if self.runs:
            self.kill()

    def until(self, condition: Callable[[], bool], what: str, *, seconds: float = START_SECONDS) -> None:
        """Wait until the condition is true, while the process runs.

        Raises:
            HeadwaterError: the process ended, or the time is over. The message has the stderr of the process.
        """
        deadline = time.monotonic() + seconds
        while not condition():
            if not self.runs:
                raise HeadwaterError(f"{self.name} ended with {self.process.returncode}. Its stderr: {self.stderr}")
            if time.monotonic() > deadline:
                raise HeadwaterError(f"{self.name} shows no {what} after {seconds} s. Its stderr: {self.stderr}")
            time.sleep(_POLL_SECONDS)


P = TypeVar("P", bound=CommandProcess)


class ConsumerProcess(CommandProcess):
    """A running `headwater consume`."""

    command = ("consume", "--port", "0")

    @property
    def port(self) -> int:
        """Port of the consumer's metrics, once they are served.

        Raises:
            HeadwaterError: the process ended, or didn't start in time.
        """
        self.until(lambda: _PORT.search(self.stderr) is not None, "port")
        return int(_PORT.findall(self.stderr)[0])

    def get(self, path: str) -> tuple[int, str]:
        """Request a path of the consumer's HTTP server; return status and body.

        Raises:
            OSError: the consumer doesn't answer.
            HeadwaterError: the process ended.
        """
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def ready(self) -> bool:
        """True when `/readyz` answers 200; False when nothing answers."""
        try:
            return self.get("/readyz")[0] == 200
        except OSError:
            return False

    def metric(self, name: str, **labels: str) -> float:
        """Return the sum of a metric's series with these labels."""
        _, text = self.get("/metrics")
        wanted = {f'{label}="{value}"' for label, value in labels.items()}
        return sum(
            float(line.split()[-1])
            for line in text.splitlines()
            if line.startswith((f"headwater_materializer_{name}{{", f"headwater_materializer_{name} "))
            and wanted <= set(re.findall(r'\w+="[^"]*"', line))
        )


class ServeProcess(CommandProcess):
    """A running `headwater serve`."""

    command = ("serve",)

    def url(self) -> str:
        """URL of the server, once it listens."""
        self.until(lambda: _URL.search(self.stderr) is not None, "address")
        return str(_URL.findall(self.stderr)[0])


@contextlib.contextmanager
def running(
    kind: type[P], settings: Mapping[str, str], *arguments: str, program: Sequence[str] = PROGRAM
) -> Iterator[P]:
    """Run a process in a temporary folder during the block; it is always ended afterwards."""
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as folder:
        process = kind(settings, Path(folder), *arguments, program=program)
        try:
            yield process
        finally:
            process.end()


def serving(settings: Mapping[str, str], *arguments: str) -> contextlib.AbstractContextManager[ServeProcess]:
    """Run a server during the block. `arguments` are options of the command."""
    return running(ServeProcess, settings, *arguments)
