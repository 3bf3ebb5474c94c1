"""The consumer of a benchmark: `python -m headwater_benchmarks.timed_consumer [--until-caught-up]`.

The consumer has the same wiring and variables as `headwater consume`. Its metrics also record the times of the first
assignment and of each transaction. It prints one JSON document on stdout. Without `--until-caught-up` it runs until
SIGTERM, and the document has the latency of each event.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from headwater.consuming import consume
from headwater.settings import load_settings
from headwater_benchmarks.measuring import own_peak_mb, peak_mb
from headwater_consumers.kafka.records import Decoded
from headwater_consumers.materializer.metrics import Metrics, PipelineStep, Rebalance
from headwater_graph.write.transaction import WriteCounters

UNTIL_CAUGHT_UP = "--until-caught-up"
_POLL_SECONDS = 2.0
_STAGES = (PipelineStep.DECODE, PipelineStep.FOLD, PipelineStep.WRITE, PipelineStep.COMMIT)


class TimedMetrics(Metrics):
    """Metrics with the times of the first assignment and of each transaction.

    Attributes:
        begun: time of the first assignment of partitions (monotonic seconds), and processor seconds until then.
        commits: for each transaction, at its commit: seconds since `begun`, number of all events committed so far, and
            processor seconds since `begun`.
        latencies: for each event: its production time in ms of Unix time, and the ms until its transaction was
            committed; None if not requested.
    """

    def __init__(self, *, latencies: bool) -> None:
        super().__init__()
        self.begun: tuple[float, float] | None = None
        self.commits: list[tuple[float, int, float]] = []
        self.latencies: list[tuple[int, float]] | None = [] if latencies else None
        self._events = 0

    def rebalanced(self, kind: Rebalance, assigned: int) -> None:
        """Record a rebalance; `assigned` is the number of this consumer's partitions."""
        super().rebalanced(kind, assigned)
        if self.begun is None and assigned:
            self.begun = time.monotonic(), time.process_time()

    def wrote(self, events: Sequence[Decoded], seconds: float, summary: WriteCounters) -> None:
        """Record a committed transaction with these events."""
        begun, processor = self.begun or (0.0, 0.0)
        self._events += len(events)
        self.commits.append((time.monotonic() - begun, self._events, time.process_time() - processor))
        now_ms = time.time() * 1_000
        if self.latencies is not None:
            produced = [item.record.timestamp_ms or 0 for item in events]
            self.latencies += [(at, now_ms - at) for at in produced]
        super().wrote(events, seconds, summary)

    def stages(self) -> dict[str, dict[str, float]]:
        """Number of runs and total seconds of each stage."""
        name = "headwater_materializer_step_duration_seconds"
        return {
            step.value: {
                word: self.registry.get_sample_value(f"{name}_{end}", {"step": step.value}) or 0.0
                for word, end in (("times", "count"), ("seconds", "sum"))
            }
            for step in _STAGES
        }


def document(metrics: TimedMetrics, totals: dict[str, Any]) -> dict[str, Any]:
    """Report of the process: totals, stages, memory, and time from the first assignment to the last transaction."""
    seconds, _, processor = metrics.commits[-1] if metrics.commits else (0.0, 0, 0.0)
    return {
        **totals,
        "seconds": seconds,
        "client_seconds": processor,
        "stages": metrics.stages(),
        "commits": metrics.commits,
        "latencies": metrics.latencies,
        # The peak of getrusage is only the second choice: a child inherits the peak of the process that started it.
        "peak_rss_mb": peak_mb(os.getpid()) or own_peak_mb(),
    }


def main() -> None:
    """Consume, then print the report."""
    # Without this thread, the process would wait for its servers forever after the benchmark has ended.
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    until_caught_up = UNTIL_CAUGHT_UP in sys.argv
    metrics = TimedMetrics(latencies=not until_caught_up)
    totals = consume(load_settings(), until_caught_up=until_caught_up, metrics=metrics)
    json.dump(document(metrics, totals.document()), sys.stdout)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_POLL_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
