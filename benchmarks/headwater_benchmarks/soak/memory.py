"""Memory of processes over a soak: the peak of each, and the growth of the one that lives longest."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import psutil

from headwater_benchmarks.memory import peak_mb

_WARM_UP_SHARE = 0.2
_LEAST_SAMPLES = 5
_LOOK_SECONDS = 1.0
_SAMPLE_SECONDS = 30.0


@dataclass(slots=True)
class MemoryWatch:
    """Memory of processes while they live.

    Attributes:
        peaks: name of each process that was ever seen ⇒ the most that was resident, MB: the kernel's own high watermark
            (VmHWM) as of the last look, at most a second before the process ended; where the system keeps none, the
            greatest size of all looks.
        samples: (seconds since the start, MB resident), of the first process.
    """

    peaks: dict[str, float] = field(default_factory=dict)
    samples: list[tuple[float, float]] = field(default_factory=list)

    @contextlib.contextmanager
    def running(self, processes: Callable[[], Mapping[str, int]]) -> Iterator[None]:
        """Look once a second until the block ends.

        Args:
            processes: name ⇒ process id of those that run now; the first is the one whose growth is of interest.
        """
        over = threading.Event()
        began = time.monotonic()

        def look() -> None:
            while True:
                self.look(processes(), time.monotonic() - began)
                if over.wait(_LOOK_SECONDS):
                    return

        thread = threading.Thread(target=look, name="memory", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def look(self, processes: Mapping[str, int], seconds: float) -> None:
        """Take the peak of each, and now and then a sample of the first. One that has ended keeps the peak it had."""
        for place, (name, pid) in enumerate(processes.items()):
            try:
                now = psutil.Process(pid).memory_info().rss / (1 << 20)
            except psutil.Error:
                continue
            peak = peak_mb(pid) or now
            self.peaks[name] = max(peak, self.peaks.get(name, 0.0))
            if place == 0 and (not self.samples or seconds - self.samples[-1][0] >= _SAMPLE_SECONDS):
                self.samples.append((seconds, now))

    @property
    def peak_mb(self) -> float:
        """The most of any process."""
        return max(self.peaks.values(), default=0.0)

    @property
    def slope_mb_per_hour(self) -> float | None:
        """Growth of the first once it has warmed up, by least squares; None with too few samples."""
        warm = self.samples[int(len(self.samples) * _WARM_UP_SHARE) :]
        if len(warm) < _LEAST_SAMPLES:
            return None
        times, sizes = zip(*warm, strict=True)
        return statistics.linear_regression(times, sizes).slope * 3_600
