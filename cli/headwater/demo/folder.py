"""Folder of a demo: `demo/` in the data folder.

    kafka/ neo4j/ …      the stack's data
    flights/             inputs and outputs of the Spark jobs, and their checkpoints
    logs/                one file per process
    work/                Spark's scratch space, and markers that a query's topic is complete

The next demo replaces everything except the remembered ports, so that the addresses stay the same.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import ConfigurationError
from headwater.stack import paths

_KEPT = ("demo.lock", "ports.json")


@dataclass(frozen=True, slots=True)
class DemoFolder:
    """The folder of one demo."""

    root: Path

    @classmethod
    def default(cls) -> DemoFolder:
        """Folder of this user's demo."""
        return cls(paths.demo_dir())

    @property
    def home(self) -> Path:
        """`FLIGHTS_HOME` of the jobs."""
        return self.root / "flights"

    @property
    def logs(self) -> Path:
        """Folder of logs, one for each process."""
        return self.root / "logs"

    @property
    def work(self) -> Path:
        """Scratch space."""
        return self.root / "work"

    @property
    def settings_file(self) -> Path:
        """An empty `HEADWATER_CONFIG`, so that the demo doesn't read the user's headwater.toml."""
        return self.work / "headwater.toml"

    def marker(self, job: str) -> Path:
        """Marker file: when it exists, the topic of this streaming query is complete."""
        return self.work / f"{job}.complete"

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Lock the folder against other demos.

        Raises:
            ConfigurationError: another demo uses the folder.
        """
        paths.private_folder(self.root)
        with (self.root / "demo.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConfigurationError(
                    f"Another demo is running in {self.root}.",
                    fix="Wait for it, or set HEADWATER_DATA_DIR to run one elsewhere.",
                ) from None
            yield

    def empty(self) -> None:
        """Remove the files of the last demo, whose stack must be down."""
        for entry in self.root.iterdir():
            if entry.name in _KEPT:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        for folder in (self.home, self.logs, self.work):
            folder.mkdir()
        self.settings_file.touch()
