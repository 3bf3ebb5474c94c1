"""Limits, back-off, notices: each policy alone, at its edges."""

from __future__ import annotations

import pytest

from headwater_consumers.kafka.backoff import Backoff, BackoffPolicy, Deadline
from headwater_consumers.kafka.notices import Notices, RetryCause
from headwater_consumers.materializer.errors import TooManyDeadLettersError
from headwater_consumers.materializer.limits import BatchLimit, BatchPolicy, DeadLetterLimit, DeadLetterPolicy
from support.materializer.clock import FakeClock


@pytest.mark.parametrize(("random", "expected"), [(0.0, [0.5, 1, 2, 4, 5, 5]), (1.0, [1, 2, 4, 8, 10, 10])])
def test_waits_double_up_to_the_cap_with_jitter_over_the_upper_half(random: float, expected: list[float]) -> None:
    policy = BackoffPolicy(first_seconds=1, cap_seconds=10)
    assert [policy.wait_seconds(attempt, lambda: random) for attempt in range(1, 7)] == expected


def test_days_of_failures_are_no_trouble_to_compute() -> None:
    assert BackoffPolicy().wait_seconds(1_000_000, lambda: 0.0) == 5.0


def test_an_attempt_is_due_when_its_wait_is_over_and_a_success_starts_over() -> None:
    clock = FakeClock()
    backoff = Backoff(BackoffPolicy(first_seconds=1), clock, lambda: 0.0)
    assert (backoff.due, backoff.attempts) == (True, 0)
    backoff.failed()
    assert (backoff.due, backoff.attempts) == (False, 1)
    clock.advance(0.5)
    assert (backoff.due, backoff.attempts) == (True, 1)
    backoff.failed()
    assert backoff.remaining_seconds == 1
    backoff.succeeded()
    assert (backoff.due, backoff.attempts, backoff.remaining_seconds) == (True, 0, 0)


def test_a_deadline_passes_once() -> None:
    clock = FakeClock()
    deadline = Deadline(2, clock)
    clock.advance(1.5)
    assert (deadline.remaining_seconds, deadline.passed) == (0.5, False)
    clock.advance(10)
    assert (deadline.remaining_seconds, deadline.passed) == (0, True)


def test_a_batch_limit_halves_down_to_its_least_and_grows_back() -> None:
    limit = BatchLimit(BatchPolicy(max_records=100, min_records=10))
    for _ in range(10):
        limit.halve()
    assert limit.records == 10
    for _ in range(10):
        limit.fitted(10, seconds=0.1)
    assert limit.records == 100


def test_a_batch_limit_follows_the_time_that_batches_take() -> None:
    limit = BatchLimit(BatchPolicy(max_records=1_000, min_records=10, target_seconds=1.0))
    limit.fitted(1_000, seconds=1.25)
    assert limit.records == 800
    limit.fitted(800, seconds=0.9)
    assert limit.records == 900
    limit.fitted(5, seconds=30)  # a database that stood still says little of batches: halved, no less
    assert limit.records == 450
    for _ in range(20):
        limit.fitted(limit.records, seconds=100)
    assert limit.records == 10


def test_a_slow_batch_never_raises_the_limit() -> None:
    limit = BatchLimit(BatchPolicy(max_records=100, target_seconds=1.0))
    limit.halve()
    limit.fitted(100, seconds=1.01)
    assert limit.records == 50


def test_dead_letters_are_counted_over_the_window_only() -> None:
    limit = DeadLetterLimit(DeadLetterPolicy(max_ratio=0.5, window_records=100, min_letters=10))
    limit.record(50, 50)
    limit.record(100, 0)
    limit.check(100, 50)
    with pytest.raises(TooManyDeadLettersError):
        limit.check(10, 10 + 50)


def test_a_ratio_of_1_never_stops() -> None:
    limit = DeadLetterLimit(DeadLetterPolicy(max_ratio=1, window_records=10, min_letters=1))
    limit.record(1_000, 1_000)
    limit.check(1_000, 1_000)


def test_a_batch_without_dead_letters_is_never_stopped() -> None:
    limit = DeadLetterLimit(DeadLetterPolicy(max_ratio=0.1, window_records=1_000, min_letters=1))
    limit.record(10, 10)
    limit.check(1, 0)


def test_trouble_that_comes_and_goes_is_logged_once_a_minute() -> None:
    clock, logged = FakeClock(), list[str]()
    notices = Notices(logged.append, clock)
    for _ in range(119):
        notices.trouble(RetryCause.BROKER, "Kafka is away.")
        notices.over(RetryCause.BROKER)
        clock.advance(1)
    assert len([line for line in logged if line.startswith("Kafka is away.")]) == 2
    assert len(logged) == 4


def test_kinds_of_trouble_are_logged_apart_and_what_never_was_is_never_over() -> None:
    logged = list[str]()
    notices = Notices(logged.append, FakeClock())
    notices.over(*RetryCause)
    notices.trouble(RetryCause.BROKER, "Kafka is away.")
    notices.trouble(RetryCause.GRAPH, "Neo4j is away.")
    assert [line.split(".")[0] for line in logged] == ["Kafka is away", "Neo4j is away"]
