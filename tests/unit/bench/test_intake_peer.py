"""Data.Rentgen's consumer and its PostgreSQL end with `bench intake`, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from support.waiting import eventually, patience

pytestmark = pytest.mark.nightly

_LOOKS_LIKE_POSTGRES = {
    "initdb": "exit 0",
    "pg_isready": "exit 0",
    "psql": "exit 0",
    "postgres": "exec sleep 600",
}
_LOOKS_LIKE_PYTHON = 'case "$*" in *data_rentgen.consumer*) exec sleep 600;; esac'
_BENCH = """
import sys
from pathlib import Path
from headwater.cli import _terminate
from headwater_benchmarks.intake import rentgen as peer
import signal
signal.signal(signal.SIGTERM, _terminate)
peer._account = dict
programs = Path(sys.argv[1])
with peer.rentgen_up(peer.InstalledRentgen(programs / "python", programs, "0")) as rentgen:
    with rentgen.consuming("127.0.0.1:1", "topic", "database"):
        print(rentgen.postgres.pid, rentgen.consumer.pid, flush=True)
        signal.pause()
"""


def runs(program: psutil.Process) -> bool:
    try:
        return program.is_running() and program.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_they_end_with_the_benchmark(tmp_path: Path, number: signal.Signals) -> None:
    for name, body in {**_LOOKS_LIKE_POSTGRES, "python": _LOOKS_LIKE_PYTHON}.items():
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        program.chmod(0o755)
    bench = subprocess.Popen(
        [sys.executable, "-c", _BENCH, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert bench.stdout is not None
        assert bench.stderr is not None
        line = bench.stdout.readline()
        assert line, bench.stderr.read()
        running = [psutil.Process(int(pid)) for pid in line.split()]
        assert len(running) == 2
        os.kill(bench.pid, number)
        bench.wait(patience(20))
        eventually(lambda: not any(map(runs, running)), expecting="both programs have ended")
    finally:
        bench.kill()
        bench.communicate()
