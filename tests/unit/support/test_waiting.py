"""The one helper for waiting: patient with a slow machine, never with a wrong result."""

from __future__ import annotations

import pytest

from support import waiting
from support.waiting import eventually, patience, stays


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that have passed; a pause moves them on."""
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(waiting, "monotonic", lambda: now[0])
    monkeypatch.setattr(waiting, "sleep", sleep)
    monkeypatch.setattr(waiting, "factor", lambda: 2.0)
    return now


def test_the_value_is_returned_as_soon_as_it_is_true(clock: list[float]) -> None:
    values = iter([None, 0, "", "there", "later"])
    assert eventually(lambda: next(values), 30, every=1) == "there"
    assert clock == [3.0]


def test_a_limit_is_longer_on_a_slow_machine(clock: list[float]) -> None:
    assert patience(30) == 60
    assert eventually(lambda: clock[0] >= 60, 30, every=1)
    with pytest.raises(AssertionError, match=r"after 60 s, not yet: a leader is known; last value False"):
        eventually(lambda: False, 30, every=1, expecting="a leader is known")


def test_what_stays_is_checked_for_the_same_time_on_any_machine(clock: list[float]) -> None:
    stays(lambda: True, 3)
    assert clock[0] == pytest.approx(3, abs=0.02)
    with pytest.raises(AssertionError, match="no longer: it is quiet"):
        stays(lambda: clock[0] < 4, 3, expecting="it is quiet")


def test_the_factor_is_measured_once_and_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TESTS_FACTOR", raising=False)
    monkeypatch.setattr(waiting, "_timed", lambda: 100.0)
    waiting.factor.cache_clear()
    try:
        assert waiting.factor() == 10.0, "the largest"
        monkeypatch.setattr(waiting, "_timed", lambda: 0.01)
        waiting.factor.cache_clear()
        assert waiting.factor() == 10.0, "by the environment"
        monkeypatch.delenv("TESTS_FACTOR")
        waiting.factor.cache_clear()
        assert waiting.factor() == 1.0, "a quick machine gets no shorter limits"
    finally:
        waiting.factor.cache_clear()
