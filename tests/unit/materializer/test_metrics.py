"""Metrics of the loop, read while it runs."""

from __future__ import annotations

import time

from headwater_consumers.kafka.notices import RetryCause
from headwater_consumers.materializer.dead_letters.letter import REPLAYED_FROM
from headwater_consumers.materializer.errors import EventRefusedError, GraphUnavailableError
from headwater_consumers.materializer.limits import BatchPolicy
from headwater_graph.write.transaction import WriteCounters
from headwater_schemas.avro_schema import current_schema
from headwater_schemas.errors import BrokerUnavailableError
from support.materializer.events import good
from support.materializer.graph import FakeGraph
from support.materializer.harness import Harness


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


def test_the_schema_that_is_known_is_reported() -> None:
    schema = current_schema()
    assert Harness().metric("schema_info", fingerprint=schema.hex, schema_version=str(schema.version)) == 1


def test_retries_of_neo4j_are_counted_by_the_kind_of_trouble() -> None:
    harness = Harness()
    harness.broker.append(good(1))
    deadlock = "Neo.TransientError.Transaction.DeadlockDetected"
    harness.graph.errors.extend(
        [
            GraphUnavailableError("away", code="ServiceUnavailable"),
            GraphUnavailableError("a race", code=deadlock, cause=RetryCause.RACE),
            GraphUnavailableError("a race", code=deadlock, cause=RetryCause.RACE),
        ]
    )
    harness.settle(seconds=11)
    assert harness.metric("neo4j_retries_total", kind="UNREACHABLE") == 1
    assert harness.metric("neo4j_retries_total", kind="DEADLOCK") == 2
    assert harness.metric("retries_total", cause="RACE") == 2


def test_trouble_with_kafka_that_is_no_commit_counts_as_none() -> None:
    harness = Harness()
    harness.graph.prepare_errors.append(BrokerUnavailableError("no topics yet"))
    harness.broker.append(good(1))
    harness.settle(seconds=11)
    assert harness.metric("retries_total", cause="BROKER") == 1
    assert harness.metric("commit_failures_total") == 0


def test_a_batch_is_counted_timed_and_stamped() -> None:
    harness = Harness()
    before = time.time()
    harness.broker.extend(good(number) for number in range(5))
    assert harness.metric("last_applied_timestamp_seconds") == 0
    harness.settle()
    assert harness.metric("records_consumed_total") == 5
    assert (harness.metric("batch_records_count"), harness.metric("batch_records_sum")) == (1, 5)
    for step in ("decode", "fold", "write", "commit"):
        assert harness.metric("step_duration_seconds_count", step=step) >= 1, step
    assert before <= harness.metric("last_applied_timestamp_seconds") <= time.time()
    assert harness.metric("records_in_hand") == 0


def test_what_is_written_and_folded_away_is_counted_as_the_graph_counts_it() -> None:
    class Writes(FakeGraph):
        def apply(self, folded: frozenset[str]) -> WriteCounters:
            super().apply(folded)
            return WriteCounters(nodes_created=3, relationships_created=7, duplicates=2, stale=1)

    harness = Harness(graph=Writes())
    assert harness.metric("events_folded_away_total", why="duplicate") == 0
    harness.broker.append(good(1))
    harness.settle()
    assert (harness.metric("nodes_created_total"), harness.metric("relationships_created_total")) == (3, 7)
    assert [harness.metric("events_folded_away_total", why=why) for why in ("duplicate", "stale")] == [2, 1]


def test_halved_batches_are_counted() -> None:
    harness = Harness(batch=BatchPolicy(max_records=4))
    harness.broker.extend(good(number) for number in range(4))
    harness.graph.errors.append(EventRefusedError("no"))
    harness.settle()
    assert harness.metric("batch_splits_total") >= 1
