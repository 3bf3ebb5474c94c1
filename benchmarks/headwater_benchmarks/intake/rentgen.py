"""Data.Rentgen in the benchmark: its Kafka consumer, which writes OpenLineage events to PostgreSQL.

https://data-rentgen.readthedocs.io
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import HeadwaterError
from headwater.stack import ports
from headwater.stack.paths import cache_dir
from headwater.stack.process import GuardedProcess
from headwater_benchmarks.intake.postgres import Postgres, postgres_up, programs
from headwater_benchmarks.memory import processor_seconds_of

PACKAGE = "data-rentgen[server,consumer,postgres]"
_GOT = re.compile(r"Got (\d+) messages")
_SAVED = "Saved successfully"
_MALFORMED = "Malformed messages"
_START_SECONDS = 120.0
_LOOK_SECONDS = 0.05
_TEMPLATE = "migrated"
# Runs are partitioned by the time in their ids.
_PARTITIONS = ("--start", "2026-01-01", "--end", "2027-01-01", "--granularity", "year")


def interpreter() -> Path:
    """Python of the environment that the docs install Data.Rentgen into, in the cache."""
    return cache_dir() / "bench" / "data-rentgen" / "bin" / "python"


@dataclass(frozen=True, slots=True)
class Peer:
    """An installed Data.Rentgen.

    Attributes:
        python: of its environment.
        programs: PostgreSQL's.
        version: its own.
    """

    python: Path
    programs: Path
    version: str


def installed(python: Path | None = None) -> Peer | str:
    """Data.Rentgen, or what is missing of it.

    Args:
        python: of an environment that has it; None: `interpreter()`.
    """
    python = python or interpreter()
    asked = "import importlib.metadata as m, data_rentgen.consumer; print(m.version('data-rentgen'))"
    try:
        ran = subprocess.run([str(python), "-c", asked], capture_output=True, text=True, check=False, timeout=120)
    except OSError:
        return f"{python} isn't there: no {PACKAGE}"
    if ran.returncode:
        return f"{python} has no {PACKAGE}"
    found = programs()
    return "PostgreSQL isn't installed" if found is None else Peer(python, found, ran.stdout.strip())


class RentgenConsumer:
    """Its consumer, running."""

    def __init__(self, process: GuardedProcess) -> None:
        self.process = process

    def until(self, condition: Callable[[], bool], what: str, *, seconds: float = _START_SECONDS) -> None:
        """Wait for it, while the process lives.

        Raises:
            HeadwaterError: it ended, or the time is over; with the end of its log.
        """
        deadline = time.monotonic() + seconds
        while not condition():
            if self.process.ended() or time.monotonic() > deadline:
                raise HeadwaterError(f"Data.Rentgen shows no {what}. The end of its log: {self._text()[-2_000:]}")
            time.sleep(_LOOK_SECONDS)

    def saved(self) -> int:
        """Number of records in the database.

        Raises:
            HeadwaterError: it refused some.
        """
        text = self._text()
        if _MALFORMED in text:
            raise HeadwaterError(f"Data.Rentgen refuses events: {text[-2_000:]}")
        got = [int(count) for count in _GOT.findall(text)]
        return sum(got[: text.count(_SAVED)])

    def processor_seconds(self) -> float:
        """Processor seconds of its process so far."""
        return processor_seconds_of(self.process.pid)

    def _text(self) -> str:
        return self.process.log.read_text(encoding="utf-8", errors="replace")


class Rentgen:
    """Data.Rentgen with a PostgreSQL, whose databases are made one after the other.

    Args:
        peer: what is installed.
        server: its database server.
        folder: for its logs.
    """

    def __init__(self, peer: Peer, server: Postgres, folder: Path) -> None:
        self.server = server
        self._peer = peer
        self._folder = folder
        server.run("postgres", f"CREATE DATABASE {_TEMPLATE}")
        self._run("data_rentgen.db.migrations", "upgrade", "head")
        self._run("data_rentgen.db.scripts.create_partitions", *_PARTITIONS)

    @contextlib.contextmanager
    def consuming(self, broker: str, topic: str, database: str) -> Iterator[RentgenConsumer]:
        """Its consumer on an empty database of this name.

        Raises:
            HeadwaterError: the database can't be made.
        """
        self.server.run("postgres", f"CREATE DATABASE {database} TEMPLATE {_TEMPLATE}")
        variables = {
            **self._variables(database),
            "DATA_RENTGEN__KAFKA__BOOTSTRAP_SERVERS": f'["{broker}"]',
            "DATA_RENTGEN__CONSUMER__TOPICS_LIST": f'["{topic}"]',
            "DATA_RENTGEN__CONSUMER__GROUP_ID": database,
            "DATA_RENTGEN__CONSUMER__AUTO_OFFSET_RESET": "earliest",
            "DATA_RENTGEN__PRODUCER__MALFORMED_TOPIC": f"{topic}__malformed",
        }
        process = GuardedProcess(
            "Data.Rentgen",
            [str(self._peer.python), "-m", "data_rentgen.consumer", "--port", str(ports.choose(ports.ANY).http)],
            output=self._folder / f"{database}.log",
            environment={**os.environ, **variables},
            folder=self._folder,
        )
        try:
            yield RentgenConsumer(process)
        finally:
            process.stop()

    def runs(self, database: str) -> int:
        """Number of runs in a database."""
        return int(self.server.run(database, "SELECT count(*) FROM run"))

    def _run(self, *arguments: str) -> None:
        ran = subprocess.run(
            [str(self._peer.python), "-m", *arguments],
            env={**os.environ, **self._variables(_TEMPLATE)},
            capture_output=True,
            text=True,
            check=False,
            cwd=self._folder,
        )
        if ran.returncode:
            raise HeadwaterError(f"{arguments[0]} of Data.Rentgen failed: {ran.stderr[-1_000:]}")

    def _variables(self, database: str) -> dict[str, str]:
        return {"DATA_RENTGEN__DATABASE__URL": self.server.url(database, "postgresql+asyncpg")}


@contextlib.contextmanager
def rentgen_up(peer: Peer) -> Iterator[Rentgen]:
    """Data.Rentgen with a PostgreSQL of its own, inside the block.

    Raises:
        HeadwaterError: the server doesn't come up, or its tables can't be made.
    """
    with (
        tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as folder,
        postgres_up(peer.programs) as server,
    ):
        yield Rentgen(peer, server, Path(folder))
