from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from types import SimpleNamespace, TracebackType

import pytest
from py4j.protocol import Py4JError

from headwater_producers.spark.common.errors import LineageNotDurableError
from headwater_producers.spark.driver import capture as running
from headwater_producers.spark.driver import script_end, shutdown
from headwater_producers.spark.driver.script_end import ApplicationOutcome, ScriptEnd, outcome_of
from headwater_schemas.events import RunEventType


@pytest.fixture(autouse=True)
def _fresh_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutdown, "_script", ScriptEnd())


@pytest.mark.parametrize(
    ("status", "kind", "message"),
    [
        (None, RunEventType.COMPLETE, None),
        (0, RunEventType.COMPLETE, None),
        (3, RunEventType.FAIL, "3"),
        ("password=hunter2 is wrong", RunEventType.FAIL, "password=[redacted] is wrong"),
    ],
)
def test_an_exit_status_is_noted_and_passed_on(status: object, kind: RunEventType, message: str | None) -> None:
    with pytest.raises(SystemExit) as left:
        shutdown._exit_over(sys.exit)(status)
    assert left.value.code == status
    assert shutdown._script._noted.kind is kind
    error = shutdown._script._noted.error
    assert (error.message if error else None) == message


def test_the_last_exit_counts() -> None:
    """A framework may catch one `sys.exit` and leave by another."""
    for status in (2, 0):
        with pytest.raises(SystemExit):
            shutdown._exit_over(sys.exit)(status)
    assert shutdown._script._noted == ApplicationOutcome(RunEventType.COMPLETE)


@pytest.mark.parametrize(
    ("error", "kind"),
    [(LookupError("token=hunter2"), RunEventType.FAIL), (KeyboardInterrupt(), RunEventType.ABORT)],
)
def test_an_uncaught_exception_is_noted_and_passed_on(error: BaseException, kind: RunEventType) -> None:
    passed: list[BaseException] = []

    def previous(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        passed.append(error)

    shutdown._excepthook_over(previous)(type(error), error, None)
    assert passed == [error]
    assert shutdown._script._noted.kind is kind
    assert "hunter2" not in repr(shutdown._script._noted)


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """SIGINT has come, and whatever handled it has failed."""
    monkeypatch.setattr(script_end, "_interrupted", False)
    before = signal.getsignal(signal.SIGINT)
    received: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: received.append(number))
    try:
        script_end.watch_interrupts()
        script_end.watch_interrupts()
        os.kill(os.getpid(), signal.SIGINT)
        assert received == [signal.SIGINT], "the job's own handler is called, once"
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupted")
def test_a_call_that_an_interruption_has_cut_off_is_no_failure() -> None:
    cut_off = Py4JError("An error occurred while calling o222.awaitTermination")
    outcomes = {type(error): outcome_of(error).kind for error in (cut_off, LookupError("mine"))}
    assert outcomes == {Py4JError: RunEventType.ABORT, LookupError: RunEventType.FAIL}


def test_a_call_that_fails_by_itself_is_one() -> None:
    assert outcome_of(Py4JError("An error occurred while calling o222.awaitTermination")).kind is RunEventType.FAIL


class _Capture:
    """Ends with what a policy makes of it."""

    def __init__(self, context: object, problem: Exception | None) -> None:
        self.context = context
        self.problem = problem
        self.ended: list[RunEventType] = []

    def belongs_to(self, context: object) -> bool:
        return self.context is context

    def end(self, kind: RunEventType, error: object, *, session_ends: bool) -> Exception | None:
        self.ended.append(kind)
        return self.problem


class _Context:
    def __init__(self) -> None:
        self.stopped = 0

    def stop(self) -> None:
        self.stopped += 1


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    codes: list[int] = []
    monkeypatch.setattr(shutdown, "_leave", codes.append)
    monkeypatch.setattr(shutdown, "_installed_in", os.getpid())
    return codes


@pytest.mark.parametrize(
    ("outcome", "problem", "codes"),
    [
        (RunEventType.COMPLETE, LineageNotDurableError("not durable"), [1]),
        (RunEventType.COMPLETE, None, []),
        (RunEventType.FAIL, LineageNotDurableError("not durable"), []),
    ],
)
def test_a_script_that_ends_well_fails_by_the_policy_and_by_nothing_else(
    left: list[int],
    monkeypatch: pytest.MonkeyPatch,
    outcome: RunEventType,
    problem: Exception | None,
    codes: list[int],
) -> None:
    captures = [_Capture(None, problem), _Capture(None, None)]
    monkeypatch.setattr(running, "running_captures", lambda: captures)
    monkeypatch.setattr(shutdown._script, "outcome", lambda: ApplicationOutcome(outcome))
    shutdown._at_exit()
    assert left == codes
    assert [capture.ended for capture in captures] == [[outcome], [outcome]]


def test_stopping_spark_raises_what_the_policy_wants_after_it_has_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    context = _Context()
    problem = LineageNotDurableError("not durable")
    monkeypatch.setattr(running, "running_captures", lambda: [_Capture(context, problem), _Capture(None, None)])
    shutdown.drain_before_stop(SimpleNamespace(sparkContext=context))
    with pytest.raises(LineageNotDurableError, match="not durable"):
        context.stop()
    assert context.stopped == 1


def test_stopping_spark_hides_no_exception_of_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    context = _Context()
    monkeypatch.setattr(running, "running_captures", lambda: [_Capture(context, LineageNotDurableError("ours"))])
    shutdown.drain_before_stop(SimpleNamespace(sparkContext=context))

    def job() -> None:
        try:
            raise LookupError("the job's own")
        finally:
            context.stop()

    with pytest.raises(LookupError, match="the job's own"):
        job()
    assert context.stopped == 1


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (LookupError("the job's own"), RunEventType.FAIL),
        (SystemExit(3), RunEventType.FAIL),
        (SystemExit(0), RunEventType.COMPLETE),
        (KeyboardInterrupt(), RunEventType.ABORT),
    ],
)
def test_stopping_spark_on_an_exceptions_way_out_ends_the_run_by_it(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, kind: RunEventType
) -> None:
    """`try: job() finally: spark.stop()`, where no excepthook has seen anything yet."""
    context = _Context()
    capture = _Capture(context, None)
    monkeypatch.setattr(running, "running_captures", lambda: [capture])
    shutdown.drain_before_stop(SimpleNamespace(sparkContext=context))

    def job() -> None:
        try:
            raise error
        finally:
            context.stop()

    with pytest.raises(type(error)):
        job()
    assert capture.ended == [kind]


def test_stopping_spark_after_an_exit_was_caught_is_a_good_end(monkeypatch: pytest.MonkeyPatch) -> None:
    context = _Context()
    capture = _Capture(context, None)
    monkeypatch.setattr(running, "running_captures", lambda: [capture])
    shutdown.drain_before_stop(SimpleNamespace(sparkContext=context))
    with pytest.raises(SystemExit):
        shutdown._exit_over(sys.exit)(2)
    context.stop()
    assert capture.ended == [RunEventType.COMPLETE]
