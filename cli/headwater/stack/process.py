"""A child process that ends with its owner (see `guard.py`), and waiting until it is ready."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from headwater.errors import HeadwaterError
from headwater.stack import guard
from headwater.stack.paths import PRIVATE_UMASK

# Neo4j checkpoints its store at a stop; a full page cache takes seconds to write.
GRACE_SECONDS = 30.0

# Signal numbers are below this on every system.
_SIGNALS = 65


class GuardedProcess:
    """A running program and its guard. Ends with `stop()`, or with this Python process."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        output: Path,
        log: Path | None = None,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        delete: Path | None = None,
        private: bool = False,
    ) -> None:
        """Start the program.

        Args:
            name: Name of the process in an error.
            output: File for the program's output; an existing file is replaced.
            log: Log file that the program itself writes; None: it writes none. The file is emptied before the start.
            environment: The program's whole environment; None: that of this process.
            folder: The program's working folder; None: that of this process.
            delete: A folder to remove when the program has ended.
            private: Whether only this user can read the program's files and output.
        """
        self.name = name
        self.log = log or output
        self._output = output
        for path in {self.log, output}:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
            if private:
                path.chmod(0o600)
        arguments = [str(output), str(GRACE_SECONDS), str(delete or "-"), "--", *command]
        self._guard = subprocess.Popen(
            # -I -S: nothing of the user's environment, and a start in 15 ms.
            [sys.executable, "-I", "-S", guard.__file__, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=folder,
            start_new_session=True,
            umask=PRIVATE_UMASK if private else -1,
        )
        assert self._guard.stdout is not None  # noqa: S101  Popen was asked to make one
        first_line = self._guard.stdout.readline()
        if not first_line:
            self.stop()
            raise HeadwaterError(f"{name} could not be started: {command[0]} doesn't exist or isn't executable.")
        self.pid = int(first_line)

    def ended(self) -> bool:
        """True if the program has ended."""
        return self._guard.poll() is not None

    def exit_status(self) -> int | None:
        """Exit status of the program, as `subprocess` reports it (negative: by that signal); None while it runs."""
        status = self._guard.poll()
        # The guard exits with the program's status. The kernel keeps one byte of it: -9 becomes 247.
        return status - 256 if status is not None and status >= 256 - _SIGNALS else status

    def wait_until(self, ready: Callable[[], bool], *, timeout_seconds: float, cancelled: Callable[[], bool]) -> None:
        """Wait until `ready()`.

        Raises:
            HeadwaterError: The program ended, or was not ready in time; the message has the end of its log.
        """
        deadline = time.monotonic() + timeout_seconds
        while not ready():
            if cancelled():
                raise HeadwaterError(f"{self.name} was stopped while starting.")
            if self.ended():
                raise HeadwaterError(f"{self.name} ended while starting.\n{self.log_tail()}", fix=f"See {self.log}.")
            if time.monotonic() > deadline:
                raise HeadwaterError(
                    f"{self.name} was not ready after {timeout_seconds:.0f} s.\n{self.log_tail()}",
                    fix=f"See {self.log}.",
                )
            time.sleep(0.1)

    def stop(self) -> None:
        """End the program and wait for its end. Repeated calls do nothing."""
        self.request_stop()
        self._guard.wait()
        if self._guard.stdout is not None:
            self._guard.stdout.close()

    def request_stop(self) -> None:
        """Ask the program to end, without waiting, so that several programs can end at the same time."""
        assert self._guard.stdin is not None  # noqa: S101  Popen was asked to make one
        self._guard.stdin.close()

    def log_tail(self, lines: int = 15) -> str:
        """Last lines of the program's log and of its output."""
        tails = [_tail(path, lines) for path in dict.fromkeys((self.log, self._output))]
        return "\n".join(tail for tail in tails if tail)


def _tail(path: Path, lines: int) -> str:
    with contextlib.suppress(FileNotFoundError):
        return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
    return ""
