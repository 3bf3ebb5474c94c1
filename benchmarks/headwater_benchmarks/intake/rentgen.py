"""Data.Rentgen in the benchmark: its Kafka consumer, which writes OpenLineage events to PostgreSQL.

https://data-rentgen.readthedocs.io
"""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from headwater.errors import HeadwaterError
from headwater.stack import ports
from headwater.stack.paths import cache_dir
from headwater.stack.process import GuardedProcess
from headwater_benchmarks.measuring import processor_seconds

PACKAGE = "data-rentgen[server,consumer,postgres]"
_USER = "postgres"
_HOST = "127.0.0.1"
_GOT = re.compile(r"Got (\d+) messages")
_SAVED = "Saved successfully"
_MALFORMED = "Malformed messages"
_START_SECONDS = 120.0
_POLL_SECONDS = 0.05
_TEMPLATE = "migrated"
# Runs are partitioned by the time in their ids.
_PARTITIONS = ("--start", "2026-01-01", "--end", "2027-01-01", "--granularity", "year")


@dataclass(frozen=True, slots=True)
class InstalledRentgen:
    """Installation of Data.Rentgen.

    Attributes:
        python: interpreter of the environment with Data.Rentgen.
        programs: folder of PostgreSQL's programs.
    """

    python: Path
    programs: Path
    version: str


def installed(python: Path | None = None) -> InstalledRentgen | str:
    """Return Data.Rentgen's installation, or a text that names a missing part.

    Args:
        python: interpreter of the environment with Data.Rentgen; None: at the location in the cache that the docs name.
    """
    python = python or cache_dir() / "bench" / "data-rentgen" / "bin" / "python"
    asked = "import importlib.metadata as m, data_rentgen.consumer; print(m.version('data-rentgen'))"
    try:
        ran = subprocess.run([str(python), "-c", asked], capture_output=True, text=True, check=False, timeout=120)
    except OSError:
        return f"{python} doesn't exist: no {PACKAGE}"
    if ran.returncode:
        return f"{python} has no {PACKAGE}"
    # Debian has a folder for each version.
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    initdb = shutil.which("initdb")
    if not found and initdb is None:
        return "PostgreSQL isn't installed"
    return InstalledRentgen(python, found[-1] if found else Path(initdb or "").parent, ran.stdout.strip())


class RunningRentgen:
    """Running PostgreSQL with Data.Rentgen's tables, one database for each turn.

    Args:
        peer: installation of Data.Rentgen.
        postgres: PostgreSQL's first process.
        port: port of PostgreSQL on the loopback address.

    Attributes:
        postgres: PostgreSQL's first process.
        consumer: consumer of the latest turn; None before the first turn.
    """

    def __init__(self, peer: InstalledRentgen, postgres: GuardedProcess, port: int, folder: Path) -> None:
        self._peer = peer
        self.postgres = postgres
        self._port = port
        self._folder = folder
        self.consumer: GuardedProcess | None = None
        self._sql("postgres", f"CREATE DATABASE {_TEMPLATE}")
        for module, *arguments in (
            ("data_rentgen.db.migrations", "upgrade", "head"),
            ("data_rentgen.db.scripts.create_partitions", *_PARTITIONS),
        ):
            command = [str(peer.python), "-m", module, *arguments]
            _checked(command, env={**os.environ, **self._variables(_TEMPLATE)}, cwd=folder)

    @contextlib.contextmanager
    def consuming(self, broker: str, topic: str, database: str) -> Iterator[None]:
        """Run the consumer on an empty database of this name during the block.

        Raises:
            HeadwaterError: the database can't be created.
        """
        self._sql("postgres", f"CREATE DATABASE {database} TEMPLATE {_TEMPLATE}")
        variables = {
            **self._variables(database),
            "DATA_RENTGEN__KAFKA__BOOTSTRAP_SERVERS": f'["{broker}"]',
            "DATA_RENTGEN__CONSUMER__TOPICS_LIST": f'["{topic}"]',
            "DATA_RENTGEN__CONSUMER__GROUP_ID": database,
            "DATA_RENTGEN__CONSUMER__AUTO_OFFSET_RESET": "earliest",
            "DATA_RENTGEN__PRODUCER__MALFORMED_TOPIC": f"{topic}__malformed",
        }
        self.consumer = GuardedProcess(
            "Data.Rentgen",
            [str(self._peer.python), "-m", "data_rentgen.consumer", "--port", str(ports.choose(ports.ANY).http)],
            output=self._folder / f"{database}.log",
            environment={**os.environ, **variables},
            folder=self._folder,
        )
        try:
            yield
        finally:
            self.consumer.stop()

    def until_saved(self, count: int, seconds: float = _START_SECONDS) -> None:
        """Wait until the consumer's log reports `count` saved records.

        Raises:
            HeadwaterError: the consumer refused records or ended, or the time is over. The message has the end of the
                log.
        """
        assert self.consumer is not None  # noqa: S101  for the type checker
        deadline = time.monotonic() + seconds
        while True:
            text = self.consumer.log.read_text(encoding="utf-8", errors="replace")
            got = [int(number) for number in _GOT.findall(text)]
            if sum(got[: text.count(_SAVED)]) == count:
                return
            if _MALFORMED in text or self.consumer.ended() or time.monotonic() > deadline:
                raise HeadwaterError(f"Data.Rentgen hasn't saved {count} events. The end of its log: {text[-2_000:]}")
            time.sleep(_POLL_SECONDS)

    def processor_seconds(self) -> dict[str, float]:
        """Processor seconds of the consumer and of all processes of PostgreSQL so far, including ended processes."""
        assert self.consumer is not None  # noqa: S101  for the type checker
        first = psutil.Process(self.postgres.pid)
        database = 0.0
        for process in (first, *first.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                database += times.user + times.system + times.children_user + times.children_system
        return {"consumer": processor_seconds(self.consumer.pid), "database": database}

    def runs(self, database: str) -> int:
        """Number of runs in a database."""
        return int(self._sql(database, "SELECT count(*) FROM run"))

    def _sql(self, database: str, statement: str) -> str:
        command = [str(self._peer.programs / "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement]
        return _checked([*command, self._url(database)]).strip()

    def _url(self, database: str, driver: str = "postgresql") -> str:
        """URL of a database; any password is accepted."""
        return f"{driver}://{_USER}:{_USER}@{_HOST}:{self._port}/{database}"

    def _variables(self, database: str) -> dict[str, str]:
        return {"DATA_RENTGEN__DATABASE__URL": self._url(database, "postgresql+asyncpg")}


@contextlib.contextmanager
def rentgen_up(peer: InstalledRentgen) -> Iterator[RunningRentgen]:
    """Run Data.Rentgen with its own PostgreSQL during the block.

    Raises:
        HeadwaterError: the server doesn't start, or its tables can't be created.
    """
    with tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as name:
        folder, account = Path(name), _account()
        own: list[str] = []
        if account:
            shutil.chown(folder, account["user"], account["group"])
            # Only PostgreSQL runs under the other account: that account couldn't read the script of the guard process.
            own = ["setpriv", f"--reuid={account['user']}", f"--regid={account['group']}", "--clear-groups", "--"]
        make = ["-D", f"{name}/data", "-U", _USER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
        _checked([str(peer.programs / "initdb"), *make], cwd=folder, **account)
        port = ports.choose(ports.ANY).kafka
        command = [str(peer.programs / "postgres"), "-D", f"{name}/data", "-h", _HOST, "-p", str(port), "-k", name]
        postgres = GuardedProcess("PostgreSQL", [*own, *command], output=folder / "log", folder=folder)
        ready = [str(peer.programs / "pg_isready"), "-h", _HOST, "-p", str(port)]
        try:
            postgres.wait_until(_succeeding(ready), timeout_seconds=_START_SECONDS, cancelled=lambda: False)
            yield RunningRentgen(peer, postgres, port, folder)
        finally:
            # SIGINT is PostgreSQL's fast shutdown, which doesn't wait for clients.
            with contextlib.suppress(ProcessLookupError):
                os.kill(postgres.pid, signal.SIGINT)
            postgres.stop()


def _account() -> dict[str, Any]:
    """Account for PostgreSQL, which doesn't run as root: the user of Debian's package."""
    if os.geteuid() != 0:
        return {}
    try:
        entry = pwd.getpwnam(_USER)
    except KeyError as error:
        raise HeadwaterError(f"PostgreSQL doesn't run as root, and there is no user {_USER}.") from error
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": ()}


def _succeeding(command: Sequence[str]) -> Callable[[], bool]:
    return lambda: subprocess.run(command, capture_output=True, check=False).returncode == 0


def _checked(command: Sequence[str], **options: Any) -> str:
    ran: subprocess.CompletedProcess[str] = subprocess.run(
        command, capture_output=True, text=True, check=False, **options
    )
    if ran.returncode:
        raise HeadwaterError(f"{' '.join(command[:3])} failed: {ran.stderr.strip()[-1_000:]}")
    return ran.stdout
