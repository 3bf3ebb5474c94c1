"""A `headwater` command as a process of its own, watched and signalled from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from headwater.errors import HeadwaterError

START_SECONDS = 60.0
"""A cold start beside other work on two cores."""
_LOOK_SECONDS = 0.02
PROGRAM = ("-m", "headwater")


class CommandProcess:
    """A running `headwater COMMAND --json`. What it says goes to files, so that no pipe fills up.

    Args:
        settings: variables of its environment.
        folder: of its own.
        arguments: the command and its options.
        program: what Python runs as `headwater`.

    Attributes:
        folder: its own.
        name: of its folder.
    """

    def __init__(
        self, settings: Mapping[str, str], folder: Path, *arguments: str, program: Sequence[str] = PROGRAM
    ) -> None:
        self.folder, self.name = folder, folder.name
        self._out, self._err = folder / "out", folder / "err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, *program, *arguments, "--json"],
                env={**os.environ, "HEADWATER_DATA_DIR": str(folder), **settings},
                stdout=out,
                stderr=err,
                cwd=folder,
                start_new_session=True,
            )

    @property
    def stderr(self) -> str:
        """Its stderr so far."""
        return self._err.read_text(encoding="utf-8")

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on its stdout."""
        document: dict[str, Any] = json.loads(self._out.read_text(encoding="utf-8"))
        return document

    @property
    def runs(self) -> bool:
        """True until the process ends."""
        return self.process.poll() is None

    def wait(self, seconds: float = START_SECONDS) -> int:
        """Its exit status.

        Raises:
            HeadwaterError: it runs on.
        """
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise HeadwaterError(f"It still runs after {seconds} s. Its stderr: {self.stderr}") from None

    def stop(self, number: signal.Signals = signal.SIGTERM, *, seconds: float = START_SECONDS) -> int:
        """Signal it, and its exit status.

        Raises:
            HeadwaterError: it runs on.
        """
        self.process.send_signal(number)
        return self.wait(seconds)

    def kill(self) -> None:
        """SIGKILL: nothing of it gets to do anything any more."""
        self.process.kill()
        self.process.wait(30)

    def end(self) -> None:
        """Make sure that it has ended."""
        if self.runs:
            self.kill()

    def until(self, condition: Callable[[], bool], what: str, *, seconds: float = START_SECONDS) -> None:
        """Wait for it, while the process lives.

        Raises:
            HeadwaterError: it ended, or the time is over; with its stderr.
        """
        deadline = time.monotonic() + seconds
        while not condition():
            if not self.runs:
                raise HeadwaterError(f"It ended with {self.process.returncode}. Its stderr: {self.stderr}")
            if time.monotonic() > deadline:
                raise HeadwaterError(f"It shows no {what} after {seconds} s. Its stderr: {self.stderr}")
            time.sleep(_LOOK_SECONDS)
