"""Whether a process grows."""

from __future__ import annotations

import pytest

from headwater_benchmarks.soak.memory import MemoryWatch


def test_growth_is_told_once_a_process_has_warmed_up() -> None:
    watch = MemoryWatch([(0.0, 40.0), (600.0, 100.0), *((1_200.0 + 360 * n, 100.0 + n) for n in range(8))])
    assert watch.slope_mb_per_hour == pytest.approx(10.0)
    assert watch.peak_mb == 107.0
    assert MemoryWatch(watch.samples[:3]).slope_mb_per_hour is None
