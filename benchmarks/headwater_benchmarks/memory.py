"""What processes use: peak resident memory, processor time."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path


def own_peak_mb() -> float:
    """Of this process, so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts in KiB, macOS in bytes.
    return peak / (1 << 20) if sys.platform == "darwin" else peak / (1 << 10)


def peak_mb(pid: int) -> float | None:
    """Of another process, so far; None where the system doesn't keep it (Linux does)."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), None)


def processor_seconds(pid: int) -> float:
    """Of this process and another one together, so far; the other's in steps of 10 ms."""
    import psutil

    other = psutil.Process(pid).cpu_times()
    return time.process_time() + other.user + other.system
