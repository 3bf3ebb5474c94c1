"""Stages on one clock: what happened at the same time."""

from __future__ import annotations

import pytest

from headwater_benchmarks.ingest.stages import Stage, StageFigures, Stretch, Timeline, joined, overlap

pytestmark = pytest.mark.nightly

STRETCHES: list[tuple[list[Stretch], list[Stretch]]] = [
    ([], []),
    ([(3, 4), (1, 2)], [(1, 2), (3, 4)]),
    ([(1, 3), (2, 5)], [(1, 5)]),
    ([(1, 9), (2, 3), (9, 10)], [(1, 10)]),
]


def test_the_same_time_is_counted_once(subtests: pytest.Subtests) -> None:
    for stretches, expected in STRETCHES:
        with subtests.test(stretches=stretches):
            assert joined(stretches) == expected


OVERLAPS: list[tuple[list[Stretch], list[Stretch], float]] = [
    ([(0, 1)], [(1, 2)], 0),
    ([(0, 4)], [(1, 2), (3, 9)], 2),
    ([(1, 2), (3, 9)], [(0, 4)], 2),
    ([(0, 2), (3, 4), (6, 9)], [(1, 7)], 3),
    ([(0, 1)], [], 0),
]


def test_overlap_is_the_time_in_both(subtests: pytest.Subtests) -> None:
    for one, other, seconds in OVERLAPS:
        with subtests.test(one=one, other=other):
            assert overlap(one, other) == seconds


def test_what_a_write_hides_is_reported_of_each_stage() -> None:
    """Batch 2 is prepared while batch 1 is written, batch 1 before anything is."""
    timeline = Timeline()
    for stage, begin, end in (
        (Stage.FETCH, 0, 1),
        (Stage.DECODE, 1, 3),
        (Stage.WRITE, 3, 10),
        (Stage.DECODE, 4, 6),
        (Stage.FETCH, 9, 12),
    ):
        timeline.add(stage, begin, end)
    assert timeline.figures() == {
        Stage.FETCH: StageFigures(times=2, seconds=4, hidden=1),
        Stage.DECODE: StageFigures(times=2, seconds=4, hidden=2),
        Stage.WRITE: StageFigures(times=1, seconds=7, hidden=None),
    }
