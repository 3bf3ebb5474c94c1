from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from headwater_producers.spark.common.errors import LineageNotDurableError
from headwater_producers.spark.driver.listeners import (
    QUERY_ID_PROPERTY,
    CommandListener,
    SessionListeners,
    SignalTarget,
    StreamListener,
    watch,
)
from headwater_producers.spark.driver.signals import BatchFunctionCalled, CommandEnded, QueryStarted, Signal


class Target(SignalTarget):
    def __init__(self, error: Exception | None = None, refusal: Exception | None = None) -> None:
        self.held: list[tuple[str, int]] = []
        self.refusal = refusal
        self.signals: list[Signal] = []
        self.error = error
        self.captures_reads = False
        self.topic_wait_seconds = 0.0

    def offer(self, signal: Signal) -> None:
        if self.error:
            raise self.error
        self.signals.append(signal)

    def hold(self, frame: Any, query_id: str, batch_id: int) -> None:
        self.held.append((query_id, batch_id))
        if self.refusal:
            raise self.refusal


def frame(properties: dict[str, str] | None = None) -> Any:
    local = {QUERY_ID_PROPERTY: "q-1"} if properties is None else properties
    context = SimpleNamespace(getLocalProperty=local.get)
    return SimpleNamespace(_jdf="jvm frame", sparkSession=SimpleNamespace(sparkContext=context))


class Session:
    """Fake SparkSession with the parts that the start of a query asks."""

    def __init__(self, get: Callable[[str], object]) -> None:
        self.sparkContext = None
        self._jsparkSession = SimpleNamespace(streams=lambda: SimpleNamespace(get=get))
        reference = SimpleNamespace(WeakReference=lambda session: SimpleNamespace(get=lambda: session))
        self._jvm = SimpleNamespace(java=SimpleNamespace(lang=SimpleNamespace(ref=reference)))


def listening(target: Target | None, session: Session | None = None) -> SessionListeners:
    listeners = SessionListeners(session)
    listeners.target = target
    return listeners


def test_a_call_is_emitted_before_it_is_made() -> None:
    target = Target()
    seen: list[int] = []

    def func(df: Any, batch_id: int) -> None:
        assert target.signals == [BatchFunctionCalled("jvm frame", "q-1", 7)]
        seen.append(batch_id)

    watch(func, listening(target))(frame(), 7)
    assert seen == [7]


def test_an_error_of_the_job_passes_through() -> None:
    def func(df: Any, batch_id: int) -> None:
        raise LookupError("the job's own")

    with pytest.raises(LookupError, match="the job's own"):
        watch(func, listening(Target()))(frame(), 0)


def test_a_policy_can_hold_a_call_back_or_refuse_it() -> None:
    seen: list[int] = []
    target = Target()
    watch(lambda df, batch_id: seen.append(batch_id), listening(target))(frame(), 7)
    assert (target.held, seen) == ([("q-1", 7)], [7])

    with pytest.raises(LineageNotDurableError):
        watch(lambda df, batch_id: seen.append(batch_id), listening(Target(refusal=LineageNotDurableError())))(
            frame(), 8
        )
    assert seen == [7], "the function wasn't called"


@pytest.mark.parametrize("target", [Target(RuntimeError("ours")), None])
def test_an_error_of_ours_and_a_capture_that_is_closed_do_not_reach_the_job(target: Target | None) -> None:
    seen: list[int] = []
    watch(lambda df, batch_id: seen.append(batch_id), listening(target))(SimpleNamespace(broken=True), 1)
    watch(lambda df, batch_id: seen.append(batch_id), listening(target))(frame(), 2)
    assert seen == [1, 2]


def test_outside_of_a_streaming_query_nothing_is_emitted() -> None:
    target = Target()
    watch(lambda df, batch_id: None, listening(target))(frame({}), 0)
    assert target.signals == []


def test_only_commands_are_taken() -> None:
    target = Target()
    commands = CommandListener(listening(target))
    for function in ("collect", "count", "command", "head", "multi-commands"):
        commands.onSuccess(function, function, 5)
    commands.onFailure("command", "failed", "error")
    commands.onFailure("collect", "failed", "error")
    taken = [signal for signal in target.signals if isinstance(signal, CommandEnded)]
    assert [signal.query_execution for signal in taken] == ["command", "multi-commands", "failed"]
    target.captures_reads = True
    commands.onSuccess("collect", "asked for", 5)
    assert isinstance(target.signals[-1], CommandEnded)
    assert (target.signals[-1].function, target.signals[-1].query_execution) == ("collect", "asked for")


def test_a_starting_query_is_held_on_to_even_if_it_can_not_be_found() -> None:
    target = Target()

    def missing(query_id: str) -> Any:
        raise RuntimeError("gone")

    event = SimpleNamespace(id=lambda: "q")
    sessions = [Session(lambda query_id: f"query {query_id}"), Session(missing)]
    for session in sessions:
        StreamListener(listening(target, session)).onQueryStarted(event)
    started = [signal for signal in target.signals if isinstance(signal, QueryStarted)]
    assert [signal.query for signal in started] == ["query q", None]
