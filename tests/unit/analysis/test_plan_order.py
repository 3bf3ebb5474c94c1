"""Order of repairs: each group after all that write what it reads, whatever the order in which steps were found."""

from __future__ import annotations

import random

import pytest

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.incidents.planning.order import BadStep, RepairGroup, repair_groups
from headwater_analysis.incidents.planning.replays import batch_ranges
from headwater_analysis.trace.traced_parts import Hop, Part, PartKind, RunBrief, Step, StepKind
from headwater_schemas.events import Certainty


def bad(number: int, job: str, reads: str, writes: str, depth: int) -> BadStep:
    """A run of a job that read and wrote these datasets, a letter each."""
    made = tuple(
        Part(dataset=Asset(AssetKind.DATASET, key, "n", key), kind=PartKind.UNKNOWN, certainty=Certainty.EXACT)
        for key in writes
    )
    hop = Hop(
        number=number,
        depth=depth,
        after=(),
        step=Step(
            kind=StepKind.RUN, job=Asset(AssetKind.JOB, job, "jobs", job), runs=(RunBrief(run_id=f"{job} {number}"),)
        ),
        inputs=(),
        outputs=made,
        certainty=Certainty.EXACT,
        overall=Certainty.EXACT,
        why="",
    )
    return BadStep(hop, made, frozenset(reads))


def names(groups: list[RepairGroup]) -> list[str]:
    """Jobs with the numbers of their steps."""
    found = []
    for group in groups:
        [job] = {step.hop.step.job.name for step in group.steps if step.hop.step.job is not None}
        found.append(f"{job} {' '.join(str(step.hop.number) for step in group.steps)}")
    return found


def test_steps_of_one_job_are_one_group() -> None:
    groups = repair_groups([bad(1, "a", "", "x", 0), bad(2, "b", "x", "y", 1), bad(3, "a", "", "x", 0)])
    assert names(groups) == ["a 1 3", "b 2"]
    assert [group.after for group in groups] == [(), (0,)]


def test_of_equal_ones_the_nearest_then_the_first_by_name() -> None:
    groups = repair_groups([bad(1, "c", "", "x", 1), bad(2, "b", "", "y", 2), bad(3, "a", "", "z", 2)])
    assert names(groups) == ["c 1", "a 3", "b 2"]


def test_a_cycle_is_split_by_depth_and_what_is_outside_is_not() -> None:
    """`a` and `b` feed each other; `start` feeds them, and `end` reads both, one hop and three hops away."""
    steps = [
        bad(1, "start", "", "s", 0),
        bad(2, "a", "s", "x", 1),
        bad(3, "b", "x", "y", 2),
        bad(4, "a", "y", "x", 3),
        bad(5, "end", "x", "z", 2),
        bad(6, "end", "y", "z", 3),
    ]
    groups = repair_groups(steps)
    assert names(groups) == ["start 1", "a 2", "b 3", "a 4", "end 5 6"]
    assert [group.after for group in groups] == [(), (0,), (1,), (2,), (1, 2, 3)]
    assert [group.in_cycle for group in groups] == [False, True, True, True, False]


def test_a_job_that_reads_its_own_output_is_one_group() -> None:
    [group] = repair_groups([bad(1, "a", "", "x", 0), bad(2, "a", "x", "x", 1)])
    assert (group.reads_own, group.in_cycle, group.after) == (True, False, ())


@pytest.mark.parametrize("seed", range(30))
def test_random_steps(seed: int) -> None:
    """Nothing is lost, every order of the steps gives the same groups, and none is before what it waits for."""
    rng = random.Random(seed)
    steps = [
        bad(
            number,
            rng.choice("abcdef"),
            "".join(rng.sample("uvwxyz", rng.randint(0, 2))),
            "".join(rng.sample("uvwxyz", rng.randint(1, 2))),
            rng.randint(0, 4),
        )
        for number in range(rng.randint(1, 25))
    ]
    groups = repair_groups(steps)
    assert sorted(step.hop.number for group in groups for step in group.steps) == list(range(len(steps)))
    for place, group in enumerate(groups):
        assert all(before < place for before in group.after)
        for other, earlier in enumerate(groups):
            if other != place and earlier.writes & group.reads and not (earlier.in_cycle and group.in_cycle):
                assert other in group.after
    shuffled = rng.sample(steps, len(steps))
    assert repair_groups(shuffled) == groups


@pytest.mark.parametrize(
    ("ranges", "merged"),
    [
        ([], []),
        ([(5, 6), (1, 2)], [(1, 2), (5, 6)]),
        ([(1, 2), (3, 4)], [(1, 4)]),
        ([(1, 9), (3, 4)], [(1, 9)]),
    ],
)
def test_ranges_of_batches(ranges: list[tuple[int, int]], merged: list[tuple[int, int]]) -> None:
    assert batch_ranges(ranges) == merged
