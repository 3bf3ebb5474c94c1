"""Whether a process's memory is bounded: its peak, and how it grows."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field

_WARM_UP_SHARE = 0.2
_LEAST_SAMPLES = 5


@dataclass(slots=True)
class MemoryWatch:
    """Resident memory of one process over time.

    Attributes:
        samples: (seconds since the start, MB).
    """

    samples: list[tuple[float, float]] = field(default_factory=list)

    def look(self, pid: int, seconds: float) -> None:
        """Take a sample."""
        import psutil

        self.samples.append((seconds, psutil.Process(pid).memory_info().rss / (1 << 20)))

    @property
    def peak_mb(self) -> float:
        """The most seen."""
        return max((mb for _, mb in self.samples), default=0.0)

    @property
    def slope_mb_per_hour(self) -> float | None:
        """How it grows once it has warmed up, by least squares; None with too few samples."""
        warm = self.samples[int(len(self.samples) * _WARM_UP_SHARE) :]
        if len(warm) < _LEAST_SAMPLES:
            return None
        times, sizes = zip(*warm, strict=True)
        return statistics.linear_regression(times, sizes).slope * 3_600
