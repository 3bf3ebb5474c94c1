"""A transaction that ran out of time gets more of it; one that came through ends that."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self, cast

import pytest
from neo4j.exceptions import Neo4jError

from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter, WriteCounters

if TYPE_CHECKING:
    from neo4j import Driver


def timed_out() -> Neo4jError:
    return Neo4jError._hydrate_neo4j(code="Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration")


class Session:
    """Plays outcomes, and remembers how long each transaction could have taken."""

    def __init__(self, outcomes: list[Exception | None]) -> None:
        self.outcomes = outcomes
        self.limits: list[float | None] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute_write(self, work: Any, *_: object) -> WriteCounters:
        self.limits.append(work.timeout)
        outcome = self.outcomes.pop(0)
        if outcome is not None:
            raise outcome
        return WriteCounters()


def limits(outcomes: list[Exception | None], seconds: float | None) -> list[float | None]:
    session = Session(outcomes[:])
    driver = cast("Driver", SimpleNamespace(session=lambda **_: session))
    writer = GraphWriter(driver, timeout_seconds=seconds)
    for outcome in outcomes:
        if outcome is None:
            writer.apply(fold([]))
        else:
            with pytest.raises(type(outcome)):
                writer.apply(fold([]))
    return session.limits


def test_twice_as_long_each_time_and_no_longer_than_eight_times() -> None:
    assert limits([timed_out() for _ in range(5)], 15) == [15, 30, 60, 120, 120]


def test_as_configured_again_once_a_transaction_has_come_through() -> None:
    assert limits([timed_out(), timed_out(), None, None], 15) == [15, 30, 60, 15]


def test_other_trouble_says_nothing_about_time() -> None:
    assert limits([ConnectionResetError(), ConnectionResetError()], 15) == [15, 15]


def test_no_limit_stays_none() -> None:
    assert limits([timed_out(), None], None) == [None, None]
