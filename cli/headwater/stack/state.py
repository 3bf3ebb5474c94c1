"""Record of a stack that `headwater up` left running, and check if it still runs.

`<data>/stack.json` is written when both servers answer and removed when they have ended. A killed supervisor leaves the
record behind. So a record counts only while its process runs *and* has the start time in the record, because process
ids are reused.
"""

from __future__ import annotations

import calendar
import contextlib
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from headwater.stack import paths
from headwater.stack.info import StackInfo
from headwater.stack.ports import STANDARD, Ports

# The kernel stores a start as time since boot, and the boot time moves a little whenever the clock is corrected.
_START_TOLERANCE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ProcessId:
    """Identity of a process. The process id alone isn't enough, because it may be reused for another process.

    Attributes:
        started: Start time in seconds since the epoch.
    """

    pid: int
    started: float

    @classmethod
    def of(cls, pid: int) -> ProcessId:
        """Return the identity of the process that has this id now.

        Raises:
            ProcessLookupError: There is no such process, or it is a zombie.
        """
        started = _start_time(pid)
        if started is None:
            raise ProcessLookupError(pid)
        return cls(pid, started)

    def alive(self) -> bool:
        """Return True if this process is still running."""
        started = _start_time(self.pid)
        return started is not None and abs(started - self.started) < _START_TOLERANCE_SECONDS

    def wait_gone(self, timeout_seconds: float) -> bool:
        """Wait until the process has ended; return False if it hasn't ended in time."""
        deadline = time.monotonic() + timeout_seconds
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True


def _start_time(pid: int) -> float | None:
    """Read the start time of a running process, in seconds since the epoch; None if it doesn't run, or is a zombie.

    The source is /proc if it exists (proc(5): field 3 is the state, field 22 the start in clock ticks since boot), else
    `ps`, to the second. psutil isn't used: readers of the graph and jobs don't need it otherwise.
    """
    try:
        # The command's name, field 2, may contain any characters, even `)`.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        boot = next(line for line in Path("/proc/stat").read_bytes().splitlines() if line.startswith(b"btime "))
    except (OSError, StopIteration):
        return None if Path("/proc/self/stat").exists() else _start_time_by_ps(pid)
    return None if fields[0] in b"ZX" else int(boot.split()[1]) + int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _start_time_by_ps(pid: int) -> float | None:
    done = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)],
        env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"},
        capture_output=True,
        text=True,
        check=False,
    )
    # `Ss   Sun Nov 22 10:06:35 2026`
    status, _, started = done.stdout.strip().partition(" ")
    if not status or status.startswith("Z"):
        return None
    return float(calendar.timegm(time.strptime(started.strip(), "%a %b %d %H:%M:%S %Y")))


@dataclass(frozen=True, slots=True)
class StackRecord:
    """A stack left running by `headwater up`."""

    supervisor: ProcessId
    info: StackInfo


_RECORD = TypeAdapter(StackRecord)
_PORTS = TypeAdapter(Ports)


def active_dir() -> Path:
    """Return the folder of the stack for commands: the running stack of `headwater up`, else a demo's running stack."""
    folder = paths.data_dir()
    return paths.demo_dir() if read(folder) is None and read(paths.demo_dir()) is not None else folder


def find_running_stack(data_dir: Path | None = None) -> StackInfo | None:
    """Return the running stack of a folder, by default of `active_dir`; None if it doesn't run."""
    record = read(data_dir or active_dir())
    return record.info if record else None


def read(data_dir: Path) -> StackRecord | None:
    """Return the record of this folder's stack; None if no stack runs there."""
    try:
        record = _RECORD.validate_json((data_dir / "stack.json").read_bytes())
    except (OSError, ValidationError):
        return None
    return record if record.supervisor.alive() else None


def write(data_dir: Path, record: StackRecord, ports: Ports) -> None:
    """Write the record, and remember the ports for the next `up`."""
    remember_ports(data_dir, ports)
    _replace(data_dir / "stack.json", _RECORD.dump_json(record, indent=2))


def clear(data_dir: Path) -> None:
    """Remove the record; the remembered ports stay."""
    with contextlib.suppress(FileNotFoundError):
        (data_dir / "stack.json").unlink()


def remember_ports(data_dir: Path, ports: Ports) -> None:
    """Remember the ports for the next `up` in this folder."""
    _replace(data_dir / "ports.json", _PORTS.dump_json(ports, indent=2))


def remembered_ports(data_dir: Path) -> Ports:
    """Ports of the last `up`, else the standard ones."""
    try:
        return _PORTS.validate_json((data_dir / "ports.json").read_bytes())
    except (OSError, ValidationError):
        return STANDARD


def _replace(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(path)
