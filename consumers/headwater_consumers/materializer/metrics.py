"""Metrics of the materializer, with name, unit and meaning.

Names follow Prometheus's guide: base units, `_total` on counters. Labels come from closed lists, and every series
starts at 0, so that a rate or an alert never misses the first event. The metrics of the lag are in `kafka.lag`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from enum import StrEnum
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from headwater_consumers.kafka.notices import RetryCause
from headwater_consumers.kafka.records import Decoded, Partition
from headwater_consumers.materializer.dead_letters.letter import DeadLetter, is_replay
from headwater_consumers.materializer.dead_letters.topic import DeadLettersUndeliveredError
from headwater_consumers.materializer.errors import DeadLetterReason, GraphUnavailableError, TooManyDeadLettersError
from headwater_consumers.materializer.neo4j_errors import Neo4jRetry, neo4j_retry
from headwater_graph.write.transaction import WriteCounters
from headwater_schemas.avro_schema import released_schemas
from headwater_schemas.errors import LineageError, SchemasUnavailableError, TransientError

# `_created` series of all counters would double the exposition and repeat `process_start_time_seconds`.
disable_created_metrics()  # type: ignore[no-untyped-call]

_PREFIX = "headwater_materializer"
# 1 ms to a minute: a decode of a few records, and a write to a struggling database.
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
# 10 ms to a week: a live stream, a consumer that was down for a weekend, a replay.
_LAG_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400, 604_800)
_RECORDS = (1, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000)


class PipelineStep(StrEnum):
    """A step that is timed."""

    DECODE = "decode"
    FOLD = "fold"
    WRITE = "write"
    DEAD_LETTER = "dead_letter"
    COMMIT = "commit"


class Rebalance(StrEnum):
    """Effect of a rebalance on this consumer."""

    ASSIGNED = "assigned"
    REVOKED = "revoked"
    LOST = "lost"


class FoldedAway(StrEnum):
    """Reason why an event added nothing."""

    DUPLICATE = "duplicate"
    STALE = "stale"


class Dependency(StrEnum):
    """External system of the materializer."""

    KAFKA = "kafka"
    NEO4J = "neo4j"


class Metrics:
    """Metrics of one materializer, in a separate registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)

        self._consumed = self._counter("records_consumed", "Records read from the events topic.")
        self._applied = self._counter("events_applied", "Events whose effect was committed to the graph.")
        self._of_future = self._counter(
            "events_of_future", "Applied events whose times were too far in the future, and were lowered."
        )
        self._replayed = self._counter("events_replayed", "Applied events that a replay of dead letters sent.")
        self._folded = self._counter(
            "events_folded_away",
            "Applied events to which another event of their transaction left nothing to change.",
            "why",
        )
        self._dead = self._counter("dead_letters", "Records acknowledged by the dead-letter topic.", "reason")
        self._retries = self._counter("retries", "Attempts that failed for a temporary reason.", "cause")
        self._neo4j_retries = self._counter(
            "neo4j_retries", "Attempts that failed because of Neo4j, by kind of fault.", "kind"
        )
        self._splits = self._counter(
            "batch_splits", "Batches and parts of batches that were halved to find the event at fault."
        )
        self._commit_failures = self._counter("commit_failures", "Offset commits that the brokers didn't confirm.")
        self._letter_failures = self._counter(
            "dead_letter_failures", "Dead letters that weren't acknowledged and are sent again."
        )
        self._rebalances = self._counter("rebalances", "Changes of the partitions of this consumer.", "kind")
        self._nodes = self._counter("nodes_created", "Nodes that were not in the graph before.")
        self._relationships = self._counter("relationships_created", "Relationships that were not in the graph before.")
        self._batch = self._histogram("batch_records", "Events committed by one transaction.", _RECORDS)
        self._steps = self._histogram("step_duration_seconds", "Duration of one step, per batch.", _SECONDS, "step")
        self._event_lag = self._histogram(
            "event_lag_seconds", "Time from an event's time to its commit in the graph, per event.", _LAG_SECONDS
        )
        self._up = self._gauge("up", "1 while this external system can be reached.", "end")
        self._assigned = self._gauge("partitions_assigned", "Partitions assigned to this consumer.")
        self._paused = self._gauge("paused", "1 while no records are fetched, because of a fault or a slow database.")
        self._in_flight = self._gauge("records_in_hand", "Records read and not yet committed.")
        self._last = self._gauge("last_applied_timestamp_seconds", "Unix time at which events were last applied.")
        build = self._gauge("build_info", "1; the release is in the label.", "version")
        schema = self._gauge(
            "schema_info", "1; the labels name a schema that this release contains.", "fingerprint", "schema_version"
        )

        build.labels(version("headwater")).set(1)
        for released in released_schemas():
            schema.labels(released.hex, str(released.version)).set(1)
        for metric, values in (
            (self._folded, FoldedAway),
            (self._dead, DeadLetterReason),
            (self._retries, RetryCause),
            (self._neo4j_retries, Neo4jRetry),
            (self._rebalances, Rebalance),
            (self._steps, PipelineStep),
            (self._up, Dependency),
        ):
            for value in values:
                metric.labels(value.value)

    # Calls of a checkpoint (`checkpoint.Observer`).

    def wrote(self, events: Sequence[Decoded], seconds: float, summary: WriteCounters) -> None:
        """Count a committed transaction with these events."""
        now = time.time()
        self._applied.inc(len(events))
        self._of_future.inc(sum(item.of_future for item in events))
        self._replayed.inc(sum(is_replay(item.record.headers) for item in events))
        self._folded.labels(FoldedAway.DUPLICATE.value).inc(summary.duplicates)
        self._folded.labels(FoldedAway.STALE.value).inc(summary.stale)
        self._batch.observe(len(events))
        for item in events:
            # A producer's clock may be ahead of this machine's.
            self._event_lag.observe(max(0.0, now - item.event.event_time.timestamp()))
        self.timed(PipelineStep.WRITE, seconds)
        self._nodes.inc(summary.nodes_created)
        self._relationships.inc(summary.relationships_created)
        self._last.set(now)

    def split(self, events: int, error: LineageError) -> None:  # noqa: ARG002 - the protocol's arguments
        """Count the split of a batch of `events` events because of this error."""
        self._splits.inc()

    def acknowledged(self, letters: Sequence[DeadLetter], seconds: float) -> None:
        """Count acknowledged dead letters."""
        for letter in letters:
            self._dead.labels(letter.reason.value).inc()
        self.timed(PipelineStep.DEAD_LETTER, seconds)

    def committed(self, offsets: Mapping[Partition, int], seconds: float) -> None:  # noqa: ARG002 - as above
        """Show committed offsets."""
        self.timed(PipelineStep.COMMIT, seconds)

    # Calls of the loop.

    def timed(self, step: PipelineStep, seconds: float) -> None:
        """Observe the duration of a step."""
        self._steps.labels(step.value).observe(seconds)

    def consumed(self, records: int) -> None:
        """Count records read."""
        self._consumed.inc(records)

    def retried(self, error: TransientError) -> None:
        """Count an attempt that failed for a temporary reason."""
        self._retries.labels(retry_cause(error).value).inc()
        if isinstance(error, GraphUnavailableError):
            self._neo4j_retries.labels(neo4j_retry(error.code).value).inc()
        if isinstance(error, DeadLettersUndeliveredError):
            self._letter_failures.inc(len(error.remaining))

    def commit_failed(self) -> None:
        """Count a commit of offsets that the brokers didn't confirm."""
        self._commit_failures.inc()

    def rebalanced(self, kind: Rebalance, assigned: int) -> None:
        """Count a rebalance, and show the number of assigned partitions."""
        self._rebalances.labels(kind.value).inc()
        self._assigned.set(assigned)

    def up(self, dependency: Dependency, *, up: bool) -> None:
        """Show whether a dependency can be reached."""
        self._up.labels(dependency.value).set(up)

    def holding(self, records: int, *, paused: bool) -> None:
        """Show the number of records in flight, and whether fetching is paused."""
        self._in_flight.set(records)
        self._paused.set(paused)

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(f"{_PREFIX}_{name}", meaning, labels, registry=self.registry)

    def _histogram(self, name: str, meaning: str, buckets: Sequence[float], *labels: str) -> Histogram:
        return Histogram(f"{_PREFIX}_{name}", meaning, labels, buckets=buckets, registry=self.registry)

    def _gauge(self, name: str, meaning: str, *labels: str) -> Gauge:
        return Gauge(f"{_PREFIX}_{name}", meaning, labels, registry=self.registry)


def retry_cause(error: TransientError) -> RetryCause:
    """Return the cause of a retry after this error."""
    if isinstance(error, GraphUnavailableError):
        return error.cause
    if isinstance(error, DeadLettersUndeliveredError):
        return RetryCause.DEAD_LETTERS
    if isinstance(error, TooManyDeadLettersError):
        return RetryCause.TOO_MANY_DEAD_LETTERS
    return RetryCause.SCHEMAS if isinstance(error, SchemasUnavailableError) else RetryCause.BROKER
