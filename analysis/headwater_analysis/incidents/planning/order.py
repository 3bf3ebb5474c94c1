"""Order of repairs: steps whose output is still bad ⇒ groups; a group comes after the groups that write its input.

All steps of one batch job, or of one streaming query, are one group. If other groups read the output of a group and
write its input, the groups of this cycle are split by depth, and a group waits only for groups of a smaller depth. A
group that itself reads its output stays whole: its runs are repaired in the order of their starts.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from headwater_analysis.trace.traced_parts import Hop, Part


@dataclass(frozen=True, slots=True)
class BadStep:
    """A step of a reach with bad output.

    Attributes:
        hop: the step.
        left: parts of its output that are still bad.
        reads: keys of the datasets of which the step read bad parts.
        wrote_start: whether the scope names the step's output, so that the output isn't derived from other bad data.
    """

    hop: Hop
    left: tuple[Part, ...]
    reads: frozenset[str]
    wrote_start: bool = False


@dataclass(frozen=True, slots=True)
class RepairGroup:
    """Steps that are repaired together.

    Attributes:
        steps: the steps, the earliest first.
        after: indices, in the list of groups, of the groups that have to be repaired before.
        reads_own: whether the group itself reads its output.
        in_cycle: whether other groups read the group's output and write its input.
    """

    steps: tuple[BadStep, ...]
    after: tuple[int, ...]
    reads_own: bool
    in_cycle: bool

    @property
    def reads(self) -> frozenset[str]:
        """Keys of the datasets of which the group read bad parts."""
        return _reads(self.steps)

    @property
    def writes(self) -> frozenset[str]:
        """Keys of the datasets to which the group wrote parts that are still bad."""
        return _writes(self.steps)


def repair_groups(steps: Iterable[BadStep]) -> list[RepairGroup]:
    """Group steps, and sort the groups: writers before readers, then by depth, then by name of the job."""
    whole = _grouped(steps, by_depth=False)
    cyclic = _in_cycles(whole)
    groups = [each for index, each in enumerate(whole) if index not in cyclic]
    alone = len(groups)
    groups += _grouped((step for index in sorted(cyclic) for step in whole[index]), by_depth=True)
    before = _before(groups)
    for index in range(alone, len(groups)):
        depth = _depth(groups[index])
        before[index] = {other for other in before[index] if other < alone or _depth(groups[other]) < depth}
    order = _ordered(groups, before)
    numbers = {index: number for number, index in enumerate(order)}
    return [
        RepairGroup(
            steps=tuple(groups[index]),
            after=tuple(sorted(numbers[other] for other in before[index])),
            reads_own=bool(_reads(groups[index]) & _writes(groups[index])),
            in_cycle=index >= alone,
        )
        for index in order
    ]


def _grouped(steps: Iterable[BadStep], *, by_depth: bool) -> list[list[BadStep]]:
    found: dict[tuple[str, str, int], list[BadStep]] = defaultdict(list)
    for step in steps:
        job, query = step.hop.step.job, step.hop.step.query_id
        owner = job.key if job is not None else " ".join(run.run_id for run in step.hop.step.runs)
        found[owner, query or "", step.hop.depth if by_depth else 0].append(step)
    return [sorted(group, key=_time) for _, group in sorted(found.items())]


def _time(step: BadStep) -> tuple[str, int, int]:
    began = step.hop.step.started_at
    return "" if began is None else began.isoformat(), step.hop.step.first_batch or 0, step.hop.number


def _depth(group: Sequence[BadStep]) -> int:
    return min(step.hop.depth for step in group)


def _reads(group: Iterable[BadStep]) -> frozenset[str]:
    return frozenset[str]().union(*(step.reads for step in group))


def _writes(group: Iterable[BadStep]) -> frozenset[str]:
    return frozenset(part.dataset.key for step in group for part in step.left)


def _before(groups: Sequence[Sequence[BadStep]]) -> dict[int, set[int]]:
    """For the index of each group: indices of the other groups that write a dataset that this group reads."""
    writers: dict[str, set[int]] = defaultdict(set)
    for index, group in enumerate(groups):
        for key in _writes(group):
            writers[key].add(index)
    return {
        index: {other for key in _reads(group) for other in writers[key] if other != index}
        for index, group in enumerate(groups)
    }


def _after(before: Mapping[int, set[int]]) -> dict[int, set[int]]:
    """For the index of each group: indices of the groups that wait for this group."""
    after: dict[int, set[int]] = {index: set() for index in before}
    for index, others in before.items():
        for other in others:
            after[other].add(index)
    return after


def _in_cycles(groups: Sequence[Sequence[BadStep]]) -> set[int]:
    """Indices of groups in cycles of several groups, and of groups between two such cycles."""
    before = _before(groups)
    after = _after(before)
    left = set(before)
    for ahead, behind in ((before, after), (after, before)):
        free = [index for index in left if not ahead[index] & left]
        while free:
            index = free.pop()
            left.discard(index)
            free += [other for other in behind[index] & left if not ahead[other] & left]
    return left


def _ordered(groups: Sequence[Sequence[BadStep]], before: Mapping[int, set[int]]) -> list[int]:
    waiting = {index: len(others) for index, others in before.items()}
    after = _after(before)

    def rank(index: int) -> tuple[int, str, int]:
        job = groups[index][0].hop.step.job
        return _depth(groups[index]), "" if job is None else f"{job.namespace} {job.name}", index

    free = [rank(index) for index, number in waiting.items() if not number]
    heapq.heapify(free)
    order: list[int] = []
    while free:
        *_, index = heapq.heappop(free)
        order.append(index)
        for other in after[index]:
            waiting[other] -= 1
            if not waiting[other]:
                heapq.heappush(free, rank(other))
    return order
