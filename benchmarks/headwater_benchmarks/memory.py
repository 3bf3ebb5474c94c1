"""Resource use of processes: peak resident memory, processor time."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path


def own_peak_mb() -> float:
    """Peak resident memory of this process so far, in MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts in KiB, macOS in bytes.
    return peak / (1 << 20) if sys.platform == "darwin" else peak / (1 << 10)


def peak_mb(pid: int) -> float | None:
    """Peak resident memory of another process so far, in MiB; None where the system doesn't keep it (Linux does)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), None)


def processor_seconds(*pids: int) -> float:
    """Processor seconds of this process and others together, so far; the others' in steps of 10 ms."""
    return time.process_time() + sum(map(processor_seconds_of, pids))


def processor_seconds_of(pid: int) -> float:
    """Processor seconds of another process so far, in steps of 10 ms."""
    import psutil

    used = psutil.Process(pid).cpu_times()
    return float(used.user + used.system)
