"""Errors of a question that Neo4j doesn't answer."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast
from unittest.mock import Mock

import pytest
from neo4j.exceptions import ClientError, DatabaseError, ServiceUnavailable

from headwater_analysis import reader as reader_module
from headwater_analysis.errors import GraphUnreachableError, TimeLimitError
from headwater_analysis.reader import Reader, within
from headwater_graph.connection import Neo4jTarget

if TYPE_CHECKING:
    from neo4j import Driver

TARGET = Neo4jTarget("bolt://graph.invalid:7687", "neo4j", "a-secret-password", "neo4j")


class Scripted:
    """A driver whose sessions do as told."""

    def __init__(self, does: Callable[[], Any]) -> None:
        self._does = does

    def session(self, **_: Any) -> contextlib.AbstractContextManager[Scripted]:
        return contextlib.nullcontext(self)

    def execute_read(self, work: Any) -> Any:
        return self._does()


def asked(does: Callable[[], Any], timeout_seconds: float = 30) -> Any:
    return Reader(cast("Driver", Scripted(does)), TARGET, timeout_seconds=timeout_seconds).read(lambda _tx: None)


def test_a_graph_that_is_away_is_unreachable_however_the_driver_says_so(subtests: pytest.Subtests) -> None:
    cases = [
        ServiceUnavailable("Couldn't connect"),  # type: ignore[no-untyped-call]
        ClientError("failed to obtain a connection from the pool within 10.0s (timeout)"),
        ValueError("Cannot resolve address graph.invalid:7687"),
        OSError("Network is unreachable"),
    ]
    for error in cases:
        with subtests.test(error=error):
            with pytest.raises(GraphUnreachableError, match=r"graph\.invalid") as raised:
                asked(Mock(side_effect=error))
            assert "secret" not in str(raised.value)


def test_a_graph_whose_indexes_are_being_made_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "_INDEX_POLL_SECONDS", 0)
    error = DatabaseError("Could not solve these hints: `USING INDEX SEEK p:HwProgress(key)`")
    assert asked(Mock(side_effect=[error, error, "an answer"])) == "an answer"
    with pytest.raises(GraphUnreachableError, match="still creating the graph's indexes"):
        asked(Mock(side_effect=error), timeout_seconds=0)


def test_a_questions_own_errors_stay_what_they_are() -> None:
    def fail() -> None:
        raise ValueError("a defect of ours")

    with pytest.raises(ValueError, match="a defect of ours"):
        asked(fail)


def test_a_server_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "_PATIENCE_SECONDS", 0.05)
    never = threading.Event()
    try:
        with pytest.raises(GraphUnreachableError, match=r"didn't answer for 0\.06 s"):
            asked(never.wait, timeout_seconds=0.01)
    finally:
        never.set()


def test_an_answer_that_comes_after_its_time_is_none() -> None:
    with pytest.raises(TimeLimitError) as raised:
        asked(lambda: threading.Event().wait(0.05), timeout_seconds=0.01)
    assert raised.value.seconds == 0.01


def test_what_comes_in_time_is_given_on() -> None:
    assert within(10, lambda: 7) == 7
    with pytest.raises(KeyError, match="of the call"):
        within(10, lambda: dict[str, int]()["of the call"])


def test_other_servers_are_asked_between_transactions_and_once() -> None:
    """A slow Kafka leaves a question the whole of its time limit, and no transaction open meanwhile."""
    open_ones: list[object] = []
    graph: dict[str, Any] = {
        "version": None,
        "progress": [],
        "several_names": False,
        "consumers": False,
        "declarations": False,
        "incidents": False,
    }

    class Answering(Scripted):
        def execute_read(self, work: Any) -> Any:
            open_ones.append(work)
            try:
                return work(Mock(run=lambda *_: [graph]))
            finally:
                open_ones.clear()

    asked_of: list[str] = []

    def kafka() -> str:
        assert not open_ones
        threading.Event().wait(0.2)
        asked_of.append("kafka")
        return "its end"

    reader = Reader(cast("Driver", Answering(Mock())), TARGET, timeout_seconds=0.1)
    assert reader.read(lambda tx: (tx.asked("end", kafka), tx.asked("end", kafka))) == ("its end", "its end")
    assert asked_of == ["kafka"]
