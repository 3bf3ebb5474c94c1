"""A PostgreSQL of the benchmark's own, of the Debian package `postgresql`."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwater.errors import HeadwaterError
from headwater.stack import ports
from headwater.stack.process import GuardedProcess

USER = "postgres"
_HOST = "127.0.0.1"
_START_SECONDS = 60.0


def programs() -> Path | None:
    """The folder of PostgreSQL's programs; None where it isn't installed. Debian has a folder for each version."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    if found:
        return found[-1]
    path = shutil.which("initdb")
    return None if path is None else Path(path).parent


@dataclass(frozen=True, slots=True)
class Postgres:
    """A server that is up.

    Attributes:
        port: on the loopback address.
        pid: of its first process.
        programs: the folder of its programs.
    """

    port: int
    pid: int
    programs: Path

    def run(self, database: str, statement: str) -> str:
        """Run a statement and return its result, as `psql` prints it without headings.

        Raises:
            HeadwaterError: the statement failed.
        """
        command = [str(self.programs / "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement, self.url(database)]
        return _checked(command).strip()

    def url(self, database: str, driver: str = "postgresql") -> str:
        """URL of a database; any password is taken."""
        return f"{driver}://{USER}:{USER}@{_HOST}:{self.port}/{database}"

    def processor_seconds(self) -> float:
        """Processor seconds of all its processes so far, ended ones included."""
        import psutil

        first = psutil.Process(self.pid)
        used = 0.0
        for process in (first, *first.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                used += times.user + times.system + times.children_user + times.children_system
        return used


@contextlib.contextmanager
def postgres_up(folder_of_programs: Path) -> Iterator[Postgres]:
    """A server with an empty cluster, up inside the block.

    Raises:
        HeadwaterError: it doesn't come up.
    """
    with tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as name:
        folder, account = Path(name), _account()
        if account:
            shutil.chown(folder, account["user"], account["group"])
        data = folder / "data"
        make = ["-D", str(data), "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
        _checked([str(folder_of_programs / "initdb"), *make], cwd=folder, **account)
        port = ports.choose(ports.ANY).kafka
        command = [str(folder_of_programs / "postgres"), "-D", str(data), "-h", _HOST, "-p", str(port), "-k", name]
        process = GuardedProcess("PostgreSQL", [*_as(account), *command], output=folder / "log", folder=folder)
        try:
            server = Postgres(port, process.pid, folder_of_programs)
            process.wait_until(lambda: _ready(server), timeout_seconds=_START_SECONDS, cancelled=lambda: False)
            yield server
        finally:
            # SIGINT is PostgreSQL's fast shutdown: it waits for no client.
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGINT)
            process.stop()


def _account() -> dict[str, Any]:
    """PostgreSQL doesn't run as root; Debian's package has a user for it."""
    if os.geteuid() != 0:
        return {}
    try:
        entry = pwd.getpwnam(USER)
    except KeyError as error:
        raise HeadwaterError(f"PostgreSQL doesn't run as root, and there is no user {USER}.") from error
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": ()}


def _as(account: Mapping[str, Any]) -> list[str]:
    """Command prefix to run a program as that account; the guard runs as ours, since that one couldn't read it."""
    if not account:
        return []
    return ["setpriv", f"--reuid={account['user']}", f"--regid={account['group']}", "--clear-groups", "--"]


def _ready(server: Postgres) -> bool:
    command = [str(server.programs / "pg_isready"), "-h", _HOST, "-p", str(server.port)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _checked(command: Sequence[str], **options: Any) -> str:
    ran: subprocess.CompletedProcess[str] = subprocess.run(
        command, capture_output=True, text=True, check=False, **options
    )
    if ran.returncode:
        raise HeadwaterError(f"{Path(command[0]).name} failed: {ran.stderr.strip()[-500:]}")
    return ran.stdout
