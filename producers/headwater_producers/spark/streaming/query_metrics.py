"""Metrics of the streaming queries that run in this process, read from their last micro-batches at each scrape.

Nothing is counted while a micro-batch is processed: a scrape reads the runs. Ended queries have no series, so there are
as many series as running queries.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headwater_producers.spark.connectors.kafka.connector import kafka_offsets
from headwater_producers.spark.streaming.flow import StreamFlow
from headwater_producers.spark.streaming.interval import QueryProgress, SourceProgress, total
from headwater_producers.spark.streaming.stream_run import StreamRun
from headwater_schemas.redaction import redact

LABELS: Final = ("query",)
_MAX_NAME: Final = 200


class QueryMetrics(Collector):
    """Series of running queries, labelled by the query's name, or by its id if it has no name.

    Args:
        registry: registry without another instance of this class.
    """

    def __init__(self, registry: CollectorRegistry = REGISTRY) -> None:
        self._applications: weakref.WeakSet[StreamFlow] = weakref.WeakSet()
        registry.register(self)

    def watch(self, application: StreamFlow) -> None:
        """Show the queries of an application while it exists."""
        self._applications.add(application)

    def forget(self, application: StreamFlow) -> None:
        """Hide the queries of an application: nothing more is emitted for them, even if they continue."""
        self._applications.discard(application)

    def describe(self) -> Iterable[Metric]:
        """Return the families without series: `register` would otherwise collect."""
        return _families({})

    def collect(self) -> Iterable[Metric]:
        """Return the current series."""
        runs = (run for application in list(self._applications) for run in application.runs())
        # By name, because a scrape fails if two series have the same labels. The later start wins.
        return _families({_name(run): run for run in sorted(runs, key=lambda run: run.started_at)})


def _name(run: StreamRun) -> str:
    return redact(run.name or run.query_id, max_chars=_MAX_NAME)


def _families(runs: Mapping[str, StreamRun]) -> list[Metric]:
    batch = GaugeMetricFamily("headwater_query_batch", "The last micro-batch that was emitted.", labels=LABELS)
    batches = CounterMetricFamily(
        "headwater_query_intervals", "Micro-batches of this start of the query that were emitted.", labels=LABELS
    )
    rows = CounterMetricFamily(
        "headwater_query_rows_read",
        "Rows that this start of the query read, as far as Spark counts them.",
        labels=LABELS,
    )
    trigger = GaugeMetricFamily("headwater_query_trigger_seconds", "Duration of the last trigger.", labels=LABELS)
    age = GaugeMetricFamily(
        "headwater_query_progress_age_seconds", "Time since the start of the last emitted trigger.", labels=LABELS
    )
    behind = GaugeMetricFamily(
        "headwater_query_offsets_behind",
        "Records of Kafka topics that existed when the last micro-batch began, and that it left unread.",
        labels=LABELS,
    )
    delay = GaugeMetricFamily(
        "headwater_query_watermark_delay_seconds", "Time by which the watermark is behind the clock.", labels=LABELS
    )
    state_rows = GaugeMetricFamily(
        "headwater_query_state_rows", "Rows in the state of the query's operators.", labels=LABELS
    )
    state_bytes = GaugeMetricFamily(
        "headwater_query_state_bytes", "Memory for the state of the query's operators.", labels=LABELS
    )
    late = CounterMetricFamily(
        "headwater_query_rows_dropped_late",
        "Rows behind the watermark that the query's operators dropped.",
        labels=LABELS,
    )
    buffered = GaugeMetricFamily(
        "headwater_query_buffered_intervals", "Micro-batches that wait for others, to share an event.", labels=LABELS
    )
    now = datetime.now(UTC)
    for name, run in runs.items():
        labels = [name]
        batches.add_metric(labels, run.batches.count)
        rows.add_metric(labels, run.batches.rows_read)
        buffered.add_metric(labels, len(run.buffer))
        if (progress := run.batches.last) is None:
            continue
        batch.add_metric(labels, progress.batch_id)
        age.add_metric(labels, (now - progress.started_at).total_seconds())
        if progress.duration_ms is not None:
            trigger.add_metric(labels, progress.duration_ms / 1000)
        if (unread := offsets_behind(progress)) is not None:
            behind.add_metric(labels, unread)
        if progress.watermark is not None:
            delay.add_metric(labels, (now - progress.watermark).total_seconds())
        if progress.operators:
            state_rows.add_metric(labels, progress.state_rows or 0)
            state_bytes.add_metric(labels, progress.state_bytes or 0)
            late.add_metric(labels, run.batches.state.dropped_late or 0)
    return [batch, batches, rows, trigger, age, behind, delay, state_rows, state_bytes, late, buffered]


def offsets_behind(progress: QueryProgress) -> int | None:
    """Return the number of Kafka records that a micro-batch left unread; None if unknown, or if it read no topic."""
    return total(_behind(source) for source in progress.sources)


def _behind(source: SourceProgress) -> int | None:
    read, latest = kafka_offsets(source.end), kafka_offsets(source.latest)
    if not read or latest is None:
        return None
    return sum(
        max(0, end - read.get(topic, {}).get(partition, 0))
        for topic, parts in latest.items()
        for partition, end in parts.items()
    )


@cache
def shared_metrics() -> QueryMetrics:
    """Return the process's metrics, on prometheus_client's own registry."""
    # Made on first use, so that importing the package registers nothing.
    return QueryMetrics()
