"""One job at a time, its result once, whatever it raises; and what an error outside of a checkpoint comes to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from headwater_consumers.materializer.errors import (
    EventRefusedError,
    GraphUnavailableError,
    GraphUnusableError,
    OverCapacityError,
    UndecidedError,
)
from headwater_consumers.materializer.lane import JobKind, Lane, LaneTask, ThreadLane, settled
from support.materializer.lane import InlineLane
from support.waiting import patience


@pytest.fixture(params=[InlineLane, ThreadLane])
def lane(request: pytest.FixtureRequest) -> Iterator[Lane]:
    lane: Lane = request.param()
    yield lane
    lane.close(lambda: None, patience(10))


def test_a_result_is_taken_once_and_then_the_lane_is_free(lane: Lane) -> None:
    done: list[int] = []
    assert lane.take(0) is None
    for number in range(3):
        lane.start(appending(done, number))
        assert lane.busy
        result = lane.take(patience(10))
        assert result is not None
        assert result.error is None
        assert lane.take(0) is None, "once"
    assert done == [0, 1, 2]


def test_whatever_a_job_raises_is_its_result(subtests: pytest.Subtests) -> None:
    for error in (ValueError("x"), KeyboardInterrupt(), SystemExit(3)):
        with subtests.test(error=error):
            lane = ThreadLane()
            lane.start(raising(error))
            result = lane.take(patience(10))
            assert result is not None
            assert result.error is error
            lane.start(lambda: None)
            after = lane.take(patience(10))
            assert after is not None
            assert after.error is None, "and the lane goes on"
            assert lane.close(lambda: None, patience(10))


def test_a_second_job_is_refused_until_the_result_is_taken(lane: Lane) -> None:
    lane.start(lambda: None)
    with pytest.raises(RuntimeError):
        lane.start(lambda: None)
    assert lane.take(patience(10)) is not None
    lane.start(lambda: None)


def test_what_hasnt_ended_has_no_result_yet() -> None:
    lane, go = ThreadLane(), threading.Event()
    lane.start(waiting_for(go))
    assert lane.take(0) is None
    assert lane.take(0.01) is None
    assert lane.busy
    go.set()
    assert lane.take(patience(10)) is not None
    assert lane.close(lambda: None, patience(10))


def test_the_last_thing_comes_after_the_job_and_in_its_thread() -> None:
    lane, go = ThreadLane(), threading.Event()
    seen: list[tuple[str, int]] = []

    def job() -> None:
        assert go.wait(patience(10))
        seen.append(("job", threading.get_ident()))

    def last() -> None:
        seen.append(("last", threading.get_ident()))

    lane.start(job)
    assert not lane.close(last, 0.01), "in time"
    go.set()
    assert lane.close(lambda: None, patience(10))
    assert [what for what, _ in seen] == ["job", "last"]
    assert len({thread for _, thread in seen}) == 1
    assert threading.get_ident() not in {thread for _, thread in seen}


def test_passing_trouble_is_tried_again(subtests: pytest.Subtests) -> None:
    for kind in JobKind:
        with subtests.test(kind=kind):
            away = GraphUnavailableError("away", code="Neo.Code")
            assert settled(LaneTask(kind, lambda: None), away) is away
            for error in (UndecidedError("inside", code="Neo.Code"), OverCapacityError("full", code="Neo.Code")):
                found = settled(LaneTask(kind, lambda: None), error)
                assert isinstance(found, GraphUnavailableError)
                assert found.code == "Neo.Code"


def test_what_an_event_is_to_blame_for_stops_whatever_has_no_event() -> None:
    error = EventRefusedError("refused", code="Neo.Code")
    for kind in (JobKind.START, JobKind.REPORT):
        with pytest.raises(GraphUnusableError):
            settled(LaneTask(kind, lambda: None), error)
    with pytest.raises(EventRefusedError):
        settled(LaneTask(JobKind.CHECKPOINT, lambda: None), error)


def raising(error: BaseException) -> Callable[[], None]:
    def run() -> None:
        raise error

    return run


def appending(done: list[int], number: int) -> Callable[[], None]:
    return lambda: done.append(number)


def waiting_for(go: threading.Event) -> Callable[[], None]:
    def run() -> None:
        assert go.wait(patience(10))

    return run
