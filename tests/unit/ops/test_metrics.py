"""Every metric that is promised is there, from 0, with labels from closed sets."""

from __future__ import annotations

import re

from prometheus_client.metrics import MetricWrapperBase

from support.declared_metrics import STARTS_AT_1, declared, registries

# What a consumer must tell, and by which series it does.
CONSUMER = {
    "events consumed": "records_consumed_total",
    "applied": "events_applied_total",
    "folded away, duplicate or stale": "events_folded_away_total why",
    "dead-lettered by reason": "dead_letters_total reason",
    "replayed": "events_replayed_total",
    "event-time lag": "event_lag_seconds_bucket le",
    "last applied": "last_applied_timestamp_seconds",
    "offset lag per partition": "offset_lag group partition",
    "age of the oldest unapplied event per partition": "lag_seconds group partition",
    "when the brokers answered how far it is": "lag_timestamp_seconds group",
    "batch size": "batch_records_bucket le",
    "stage durations": "step_duration_seconds_bucket step le",
    "in flight": "records_in_hand",
    "Neo4j retries by class": "neo4j_retries_total kind",
    "Neo4j up, Kafka up": "up end",
    "nodes written": "nodes_created_total",
    "relationships written": "relationships_created_total",
    "rebalances": "rebalances_total kind",
    "assigned partitions": "partitions_assigned",
    "paused": "paused",
    "commit failures": "commit_failures_total",
    "dead-letter produce failures": "dead_letter_failures_total",
    "build": "build_info version",
    "schema": "schema_info fingerprint schema_version",
}
PRODUCER = {
    "queued": "capture_queued",
    "acknowledged": "publisher_acknowledged_total",
    "dropped by the queue": "capture_dropped_total",
    "dropped by the outbox": "outbox_dropped_total reason",
    "failed": "publisher_failed_total reason",
    "reconciled": "capture_reconciled_total",
    "observed": "capture_observed_total",
    "failed callbacks": "capture_failed_total",
    "outbox bytes": "outbox_bytes",
}
# Series come and go with what is known of partitions; every other label's values are there from the start.
BY_PARTITION = {"offset_lag", "lag_seconds"}


def test_what_is_promised_is_declared() -> None:
    series = declared()
    for promised in [f"materializer_{each}" for each in CONSUMER.values()] + [*PRODUCER.values()]:
        name, *labels = promised.split()
        assert series[f"headwater_{name}"] == set(labels), name


def test_all_start_at_0() -> None:
    for registry in registries():
        samples = [sample for family in registry.collect() for sample in family.samples]
        ours = [sample for sample in samples if sample.name.startswith("headwater_")]
        assert ours
        assert {sample.name for sample in ours if sample.value != 0} - STARTS_AT_1 == set()
        assert {sample.value for sample in ours if sample.name in STARTS_AT_1} <= {1}


def test_a_label_has_all_its_values_from_the_start() -> None:
    for collector in [each for registry in registries() for each in registry._collector_to_names]:
        if isinstance(collector, MetricWrapperBase) and collector._labelnames:
            (family,) = collector.collect()
            short = re.sub(r"^headwater_(dead_letters|[a-z]+)_", "", family.name)
            assert bool(family.samples) is (short not in BY_PARTITION), family.name


def test_names_and_help_are_as_the_guide_of_prometheus_wants() -> None:
    """Check rules that promtool's linter lacks: one prefix, help that is a sentence, base units alone."""
    for family in [each for registry in registries() for each in registry.collect()]:
        if not family.name.startswith("headwater_"):
            assert family.name.startswith(("process_", "python_"))
            continue
        assert re.fullmatch(r"headwater_[a-z0-9_]+", family.name)
        assert not re.search(r"_(ms|millis|milliseconds|minutes|kb|mb|percent|total_total)(_|$)", family.name)
        assert family.documentation.endswith("."), family.name
