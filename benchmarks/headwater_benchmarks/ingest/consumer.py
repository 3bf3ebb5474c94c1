"""The contestant's process: `python -m headwater_benchmarks.ingest.consumer --until-caught-up | --latencies`.

It is `headwater consume` itself, wired by the same function and configured by the same variables, with two listeners:
a source that notes when polls brought records, and metrics that note when each step was done. On stdout: one document.
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
from headwater_consumers.materializer.graph import WriteSummary
from headwater_consumers.materializer.kafka_source import KafkaSource, SourceConfig
from headwater_consumers.materializer.metrics import Metrics, PipelineStep, Rebalance
from headwater_consumers.materializer.records import Decoded
from headwater_consumers.materializer.reporting import Notices
from headwater_consumers.materializer.source import Polled
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
    """The source, with a note of each poll that brought records."""

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
        """As the source's."""
        begun = time.monotonic()
        polled = super().poll(max_records=max_records, max_bytes=max_bytes, timeout_seconds=timeout_seconds)
        if polled.records:
            self._timeline.add(Stage.FETCH, begun, time.monotonic())
        return polled


class TimedMetrics(Metrics):
    """The metrics, with a note of each step, and of what was in the graph when.

    Attributes:
        begun: when the first partitions were assigned, and the processor time of this process until then; None before.
        progress: after each transaction: when, events applied, relationships created, since the start, and the
            processor time of this process.
        latencies: of each event applied, if they are wanted: when it was produced, in ms of Unix time, and how many ms
            later the transaction that holds it was committed.
    """

    def __init__(self, timeline: Timeline, *, latencies: bool) -> None:
        super().__init__()
        self._timeline = timeline
        self.begun: tuple[float, float] | None = None
        self.progress: list[tuple[float, int, int, float]] = []
        self.latencies: list[tuple[int, float]] | None = [] if latencies else None
        self.nodes = 0

    def timed(self, step: PipelineStep, seconds: float) -> None:
        """A step took so long."""
        super().timed(step, seconds)
        if step in _STAGES:
            now = time.monotonic()
            self._timeline.add(_STAGES[step], now - seconds, now)

    def rebalanced(self, kind: Rebalance, assigned: int) -> None:
        """Partitions came or went; so many are ours now."""
        super().rebalanced(kind, assigned)
        if self.begun is None and assigned:
            self.begun = time.monotonic(), time.process_time()

    def wrote(self, events: Sequence[Decoded], seconds: float, summary: WriteSummary) -> None:
        """A transaction with these events was committed."""
        now, now_ms = time.monotonic(), time.time() * 1_000
        if self.latencies is not None:
            produced = [item.record.timestamp_ms or 0 for item in events]
            self.latencies += [(at, now_ms - at) for at in produced]
        _, applied, relationships, _ = self.progress[-1] if self.progress else (0.0, 0, 0, 0.0)
        self.nodes += summary.nodes_created
        super().wrote(events, seconds, summary)
        made = relationships + summary.relationships_created
        self.progress.append((now, applied + len(events), made, time.process_time()))


def document(timeline: Timeline, metrics: TimedMetrics, totals: dict[str, Any]) -> dict[str, Any]:
    """What the process tells: totals, (processor) seconds from first assignment to last transaction, stages, memory."""
    begun, processor = metrics.begun or (0.0, 0.0)
    progress = [(at - begun, events, made, used - processor) for at, events, made, used in metrics.progress]
    seconds, _, relationships, processor_seconds = progress[-1] if progress else (0.0, 0, 0, 0.0)
    return {
        **totals,
        "begun": begun,
        "seconds": seconds,
        "nodes": metrics.nodes,
        "relationships": relationships,
        "stages": {stage.value: asdict(figures) for stage, figures in timeline.figures().items()},
        "progress": progress,
        "latencies": metrics.latencies,
        "processor_seconds": processor_seconds,
        # getrusage's peak is handed down by whoever started the process, with all that it had in memory then.
        "peak_rss_mb": peak_mb(os.getpid()) or own_peak_mb(),
    }


def main() -> None:
    """Consume; then tell."""
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    settings = load_settings()
    timeline = Timeline()
    metrics = TimedMetrics(timeline, latencies=LATENCIES in sys.argv)
    source = TimedSource(settings, timeline)
    totals = consume(settings, until_caught_up=UNTIL_CAUGHT_UP in sys.argv, source=source, metrics=metrics)
    json.dump(document(timeline, metrics, totals.document()), sys.stdout)


def _end_with(parent: int) -> None:
    """A benchmark that was killed takes its consumer along, which else would wait for its servers for ever."""
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    main()
