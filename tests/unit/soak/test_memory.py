"""Memory of processes, and the detection of growth."""

from __future__ import annotations

import subprocess
import sys

import pytest

from headwater_benchmarks.soak.memory import MemoryWatch
from support.waiting import eventually

pytestmark = pytest.mark.nightly

# 120 MB for a moment, and then none of it.
PASSING = "import sys, time; held = bytearray(120 << 20); del held; print('over', flush=True); time.sleep(60)"


def test_growth_is_reported_once_a_process_has_warmed_up() -> None:
    samples = [(0.0, 40.0), (600.0, 100.0), *((1_200.0 + 360 * n, 100.0 + n) for n in range(8))]
    assert MemoryWatch(samples=samples).slope_mb_per_hour == pytest.approx(10.0)
    assert MemoryWatch(samples=samples[:3]).slope_mb_per_hour is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps a process's peak")
def test_a_peak_between_two_looks_counts_and_so_does_every_process() -> None:
    with subprocess.Popen([sys.executable, "-c", PASSING], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            watch = MemoryWatch()
            watch.look({"small": 1, "passing": process.pid}, 0.0)
        finally:
            process.kill()
    assert watch.peaks["passing"] > 120
    assert watch.peak_mb == watch.peaks["passing"], "not the first's alone"


def test_one_that_has_ended_keeps_the_peak_that_it_had() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        alive = {"one": process.pid}
        watch = MemoryWatch()
        with watch.running(lambda: alive):
            eventually(lambda: watch.peaks)
            process.kill()
            process.wait()
    peak = watch.peaks["one"]
    watch.look({"one": process.pid}, 1.0)
    assert watch.peaks == {"one": peak}
    assert len(watch.samples) == 1
