"""Metrics of running queries: what a scrape shows of their last micro-batches, and of none that has ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import CollectorRegistry

from headwater_producers.spark.streaming.flow import StreamFlow
from headwater_producers.spark.streaming.interval import QueryProgress, SourceProgress, StateOperator, parse_progress
from headwater_producers.spark.streaming.query_metrics import QueryMetrics, offsets_behind
from headwater_producers.spark.streaming.stream_run import StreamRun
from support.capture import recorded

STARTED = datetime(2026, 1, 1, tzinfo=UTC)


class Application(StreamFlow):
    """Its runs."""

    def __init__(self, runs: list[StreamRun]) -> None:
        self.all = runs

    def runs(self) -> tuple[StreamRun, ...]:
        return tuple(self.all)


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def metrics(registry: CollectorRegistry) -> QueryMetrics:
    return QueryMetrics(registry)


def run(name: str | None = "enrich", run_id: str = "r1", started_at: datetime = STARTED) -> StreamRun:
    return StreamRun(query_id="q1", run_id=run_id, name=name, started_at=started_at, query=None)


def progress(batch: int = 7) -> QueryProgress:
    """A micro-batch of a minute ago, whose watermark is ten minutes old."""
    now = datetime.now(UTC)
    return replace(
        parse_progress(recorded("kafka_next_batch")),
        batch_id=batch,
        started_at=now - timedelta(minutes=1),
        duration_ms=2_500,
        watermark=now - timedelta(minutes=10),
        sources=(source({"in": {"0": 5, "1": 7}}, {"in": {"0": 9, "1": 7}}),),
        operators=(StateOperator("dedupe", 3, 200, 2), StateOperator("stateStoreSave", 4, 100, 1)),
    )


def source(end: object, latest: object) -> SourceProgress:
    return SourceProgress(description="KafkaV2[Subscribe[in]]", start=None, end=end, rows=12, latest=latest)


def shown(registry: CollectorRegistry) -> dict[tuple[str, str], float]:
    return {
        (sample.name.removeprefix("headwater_query_"), sample.labels["query"]): sample.value
        for family in registry.collect()
        for sample in family.samples
    }


def test_what_is_shown_of_a_query_s_last_micro_batch(metrics: QueryMetrics, registry: CollectorRegistry) -> None:
    enrich = run()
    metrics.watch(application := Application([enrich]))
    for batch in (6, 7):
        each = progress(batch)
        enrich.batches.remember(each)
    enrich.batches.remember(progress(6))  # emitted again: a write was reported late
    found = shown(registry)
    ages = {name: found.pop((name, "enrich")) for name in ("progress_age_seconds", "watermark_delay_seconds")}
    assert ages == pytest.approx({"progress_age_seconds": 60, "watermark_delay_seconds": 600}, abs=30)
    assert found == {
        ("batch", "enrich"): 7,
        ("intervals_total", "enrich"): 2,
        ("rows_read_total", "enrich"): 24,
        ("trigger_seconds", "enrich"): 2.5,
        ("offsets_behind", "enrich"): 4,
        ("state_rows", "enrich"): 7,
        ("state_bytes", "enrich"): 300,
        ("rows_dropped_late_total", "enrich"): 6,
        ("buffered_intervals", "enrich"): 0,
    }
    application.all = []
    assert shown(registry) == {}, "it has ended"


def test_a_query_that_has_not_run_and_one_without_a_name(metrics: QueryMetrics, registry: CollectorRegistry) -> None:
    application = Application([run(None)])
    metrics.watch(application)
    assert shown(registry) == {
        ("intervals_total", "q1"): 0,
        ("rows_read_total", "q1"): 0,
        ("buffered_intervals", "q1"): 0,
    }
    quiet = replace(progress(), watermark=None, operators=(), duration_ms=None, sources=(source({"at": 3}, None),))
    application.all[0].batches.remember(quiet)
    assert {name for name, _ in shown(registry)} == {
        "batch",
        "buffered_intervals",
        "intervals_total",
        "progress_age_seconds",
        "rows_read_total",
    }


def test_two_queries_of_one_name_are_one_series_and_the_later_start_is_shown(
    metrics: QueryMetrics, registry: CollectorRegistry
) -> None:
    first, second = run(), run(run_id="r2", started_at=STARTED + timedelta(hours=1))
    first.batches.remember(progress(1))
    second.batches.remember(progress(9))
    metrics.watch(application := Application([second, first]))
    assert shown(registry)["batch", "enrich"] == 9
    metrics.watch(other := Application([run("copy")]))
    assert {query for _, query in shown(registry)} == {"enrich", "copy"}
    assert application is not other


def test_queries_of_a_capture_that_was_closed_are_shown_no_more(
    metrics: QueryMetrics, registry: CollectorRegistry
) -> None:
    closed, again = run(), run()
    closed.batches.remember(progress(1))
    again.batches.remember(progress(9))
    before, after = Application([closed]), Application([again])
    metrics.watch(before)
    metrics.forget(before)
    assert shown(registry) == {}, "a query that runs on isn't captured any more"
    metrics.forget(before)
    metrics.watch(after)
    assert shown(registry)["batch", "enrich"] == 9


def test_a_name_bears_no_credentials(metrics: QueryMetrics, registry: CollectorRegistry) -> None:
    metrics.watch(application := Application([run("load jdbc:postgresql://db/x?password=hunter2")]))
    assert application.all
    assert "hunter2" not in str(shown(registry))


LEFT_UNREAD: list[tuple[object, object, int | None]] = [
    ({"a": {"0": 5}}, {"a": {"0": 9}}, 4),
    ({"a": {"0": 5}}, {"a": {"0": 9, "1": 3}}, 7),  # a new partition
    ({"a": {"0": 5}}, {"a": {"0": 2}}, 0),  # made anew
    ({"a": {"0": 5}}, None, None),
    (None, None, None),
    (3, 9, None),  # a source of one's own
]


def test_what_a_micro_batch_left_unread(subtests: pytest.Subtests) -> None:
    for end, latest, behind in LEFT_UNREAD:
        with subtests.test(end=end, latest=latest):
            assert offsets_behind(replace(progress(), sources=(source(end, latest),))) == behind


def test_a_recorded_progress_tells_where_its_topic_ended() -> None:
    assert offsets_behind(parse_progress(recorded("kafka_next_batch"))) == 0
