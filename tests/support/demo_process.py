"""A demo as a user runs it: `headwater demo` as a process, in a data folder and on ports of its own."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from headwater.stack import state
from headwater.stack.ports import Ports
from support.waiting import eventually, patience


@dataclass(slots=True)
class DemoUnderTest:
    """A demo's process.

    Attributes:
        data: Its HEADWATER_DATA_DIR.
        seen: Every process that it ever had, to find those that outlive it.
    """

    data: Path
    process: subprocess.Popen[str]
    seen: set[psutil.Process] = field(default_factory=set)

    @classmethod
    def start(cls, data: Path, *arguments: str) -> DemoUnderTest:
        folder = data / "demo"
        folder.mkdir(parents=True)
        # The ports of "the last demo": not the standard ones, which may be a developer's own.
        kafka, controller, bolt, http = random.sample(range(20_000, 32_000), 4)
        state.remember_ports(folder, Ports(kafka, controller, bolt, http))
        process = subprocess.Popen(
            command("demo", *arguments),
            env=environment(data),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        return cls(data, process)

    def until(self, condition: Callable[[], bool], what: str, *, seconds: float) -> None:
        def holds() -> bool:
            if condition():
                return True
            self.look()
            if self.process.poll() is not None:
                output, errors = self.process.communicate()
                pytest.fail(f"the demo ended with {self.process.returncode} before {what}\n{output}\n{errors}")
            return False

        eventually(holds, seconds, every=0.1, expecting=what)

    def look(self) -> set[psutil.Process]:
        """The processes that it has now."""
        try:
            now = set(psutil.Process(self.process.pid).children(recursive=True))
        except psutil.NoSuchProcess:
            return set()
        self.seen |= now
        return now

    def committed(self, query: str) -> int:
        commits = self.data / "demo" / "flights" / "checkpoints" / query / "commits"
        return sum(entry.name.isdecimal() for entry in commits.glob("*"))

    def child(self, *words: str) -> psutil.Process | None:
        """The process whose command line ends so; not its guard, whose line ends so too but begins with -I."""
        for process, line in self.command_lines():
            if line[-len(words) :] == list(words) and "-I" not in line:
                return process
        return None

    def command_lines(self) -> Iterator[tuple[psutil.Process, list[str]]]:
        """Its processes that can still be asked, and what they run."""
        for process in self.look():
            with contextlib.suppress(psutil.Error):
                yield process, process.cmdline()

    def left(self, seconds: float) -> list[str]:
        """Command lines of its processes that still run after so long."""
        _, alive = psutil.wait_procs(self.seen, timeout=patience(seconds))
        found = []
        for process in alive:
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.status() != psutil.STATUS_ZOMBIE:
                    found.append(" ".join(process.cmdline())[:200])
        return found


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "headwater", *arguments]


def environment(data: Path) -> dict[str, str]:
    return {**os.environ, "HEADWATER_DATA_DIR": str(data)}


def run(data: Path, arguments: Sequence[str], *, seconds: float = 120) -> str:
    """Stdout of a command that must succeed."""
    done = subprocess.run(
        command(*arguments),
        env=environment(data),
        capture_output=True,
        text=True,
        timeout=patience(seconds),
        check=False,
    )
    assert done.returncode == 0, f"headwater {' '.join(arguments)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
