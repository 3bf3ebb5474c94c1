"""What the loop's metrics count, seen through the loop."""

from __future__ import annotations

import time

from headwater_consumers.materializer.dead_letter import REPLAYED_FROM
from headwater_consumers.materializer.errors import GraphUnavailableError
from headwater_schemas.avro_schema import current_schema
from support.materializer.events import good
from support.materializer.graph import FakeGraph, FakeSummary
from support.materializer.harness import Harness


class SummarizingGraph(FakeGraph):
    """A graph whose transactions report what was folded away."""

    def apply(self, folded: frozenset[str]) -> FakeSummary:
        super().apply(folded)
        return FakeSummary(duplicates=2, stale=1)


def test_events_folded_away_are_counted_by_reason() -> None:
    harness = Harness(graph=SummarizingGraph())
    assert harness.metric("events_folded_away_total", why="duplicate") == 0
    harness.broker.extend(good(number) for number in range(5))
    harness.settle()
    assert harness.metric("events_folded_away_total", why="duplicate") == 2
    assert harness.metric("events_folded_away_total", why="stale") == 1


def test_replayed_records_are_counted_once_applied() -> None:
    harness = Harness()
    harness.broker.append(good(1))
    harness.broker.append(good(2), headers=((REPLAYED_FROM, b"x/0/1"),))
    harness.settle()
    assert harness.metric("events_applied_total") == 2
    assert harness.metric("events_replayed_total") == 1


def test_the_lag_of_an_event_is_from_its_own_time() -> None:
    harness = Harness()
    harness.broker.append(good(1))
    harness.settle()
    assert harness.metric("event_lag_seconds_count") == 1
    assert 0 <= harness.metric("event_lag_seconds_sum") < time.time()


def test_the_oldest_record_in_hand_is_told_by_partition_until_it_is_applied() -> None:
    harness = Harness()
    harness.broker.append(good(1), partition=1, timestamp_ms=1_700_000_000_000)
    harness.broker.append(good(2), partition=1, timestamp_ms=1_700_000_005_000)
    harness.graph.errors.extend([GraphUnavailableError("away")] * 3)
    harness.rounds(4, seconds=0.6)
    assert harness.metric("oldest_unapplied_timestamp_seconds", partition="1") == 1_700_000_000
    harness.settle(seconds=1)
    harness.rounds(2, seconds=1)
    series = harness.metrics.registry.get_sample_value
    assert series("headwater_materializer_oldest_unapplied_timestamp_seconds", {"partition": "1"}) is None


def test_the_schema_that_is_known_is_told() -> None:
    schema = current_schema()
    assert Harness().metric("schema_info", fingerprint=schema.hex, schema_version=str(schema.version)) == 1
