"""Headwater in the benchmark: `python -m headwater_benchmarks.ingest.consumer --until-caught-up | --latencies`.

It is wired by the same function as `headwater consume` and configured by the same variables, with two additions: a
source that records when a poll returned records, and metrics that record when each step was done. It prints one JSON
document on stdout.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from headwater.connection import client_config
from headwater.consuming import consume
from headwater.settings import Settings, load_settings
from headwater_benchmarks.ingest.stages import Stage, Timeline
from headwater_benchmarks.memory import own_peak_mb, peak_mb
from headwater_consumers.kafka.kafka_source import KafkaSource, SourceConfig
from headwater_consumers.kafka.notices import Notices
from headwater_consumers.kafka.records import Decoded
from headwater_consumers.kafka.source import Polled
from headwater_consumers.materializer.metrics import Metrics, PipelineStep, Rebalance
from headwater_graph.write.transaction import WriteCounters
from headwater_schemas.kafka.client import quiet

UNTIL_CAUGHT_UP = "--until-caught-up"
LATENCIES = "--latencies"
_LOOK_SECONDS = 2.0

_STAGES = {
    PipelineStep.DECODE: Stage.DECODE,
    PipelineStep.FOLD: Stage.FOLD,
    PipelineStep.WRITE: Stage.WRITE,
    PipelineStep.COMMIT: Stage.COMMIT,
}


class TimedSource(KafkaSource):
    """The Kafka source, with the time of each poll that returned records."""

    def __init__(self, settings: Settings, timeline: Timeline) -> None:
        materializer = settings.materializer
        config = SourceConfig(
            quiet(client_config(settings.kafka)),
            settings.topic.names().events,
            materializer.group,
            materializer.queued_max_kilobytes,
        )
        super().__init__(config, clock=time.monotonic, notices=Notices(_say, time.monotonic))
        self._timeline = timeline

    def poll(self, *, max_records: int, max_bytes: int, timeout_seconds: float) -> Polled:
        """Poll like `KafkaSource.poll`, and note the time in the timeline."""
        begun = time.monotonic()
        polled = super().poll(max_records=max_records, max_bytes=max_bytes, timeout_seconds=timeout_seconds)
        if polled.records:
            self._timeline.add(Stage.FETCH, begun, time.monotonic())
        return polled


class TimedMetrics(Metrics):
    """The metrics, with the time of each step and of the last transaction.

    Attributes:
        begun: when the first partitions were assigned, and the processor time of this process until then; None before.
        ended: when the last transaction was committed, and the processor time of this process until then.
        latencies: for each applied event, if wanted: when it was produced, in ms of Unix time, and how many ms later
            its transaction was committed.
        nodes, relationships: created since the start.
    """

    def __init__(self, timeline: Timeline, *, latencies: bool) -> None:
        super().__init__()
        self._timeline = timeline
        self.begun: tuple[float, float] | None = None
        self.ended: tuple[float, float] | None = None
        self.latencies: list[tuple[int, float]] | None = [] if latencies else None
        self.nodes = self.relationships = 0

    def timed(self, step: PipelineStep, seconds: float) -> None:
        """Record that a step is done, and how long it took."""
        super().timed(step, seconds)
        if step in _STAGES:
            now = time.monotonic()
            self._timeline.add(_STAGES[step], now - seconds, now)

    def rebalanced(self, kind: Rebalance, assigned: int) -> None:
        """Partitions were assigned or revoked; `assigned` is how many this consumer has now."""
        super().rebalanced(kind, assigned)
        if self.begun is None and assigned:
            self.begun = time.monotonic(), time.process_time()

    def wrote(self, events: Sequence[Decoded], seconds: float, summary: WriteCounters) -> None:
        """A transaction with these events was committed."""
        self.ended = time.monotonic(), time.process_time()
        now_ms = time.time() * 1_000
        if self.latencies is not None:
            produced = [item.record.timestamp_ms or 0 for item in events]
            self.latencies += [(at, now_ms - at) for at in produced]
        self.nodes += summary.nodes_created
        self.relationships += summary.relationships_created
        super().wrote(events, seconds, summary)


def document(timeline: Timeline, metrics: TimedMetrics, totals: dict[str, Any]) -> dict[str, Any]:
    """The process's report: totals, stages, memory, and time from the first assignment to the last transaction."""
    begun, processor = metrics.begun or (0.0, 0.0)
    ended, processor_then = metrics.ended or (begun, processor)
    return {
        **totals,
        "seconds": ended - begun,
        "nodes": metrics.nodes,
        "relationships": metrics.relationships,
        "stages": {stage.value: asdict(figures) for stage, figures in timeline.figures().items()},
        "latencies": metrics.latencies,
        "processor_seconds": processor_then - processor,
        # getrusage's peak isn't used: a child inherits the peak of the process that started it.
        "peak_rss_mb": peak_mb(os.getpid()) or own_peak_mb(),
    }


def main() -> None:
    """Consume, then print the report."""
    end_with_parent()
    settings = load_settings()
    timeline = Timeline()
    metrics = TimedMetrics(timeline, latencies=LATENCIES in sys.argv)
    source = TimedSource(settings, timeline)
    totals = consume(settings, until_caught_up=UNTIL_CAUGHT_UP in sys.argv, source=source, metrics=metrics)
    json.dump(document(timeline, metrics, totals.document()), sys.stdout)


def end_with_parent() -> None:
    """End this process when the benchmark is gone: it would otherwise wait for its servers forever."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    main()
