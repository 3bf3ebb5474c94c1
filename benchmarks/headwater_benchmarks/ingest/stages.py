"""Timeline of a consumer: its stages on one clock, and how much of them happened at the same time.

    fetch    records taken from the client, by polls that brought some
    decode   bytes to events
    fold     events to base facts
    write    one transaction, from its first statement to the answer to its commit
    commit   offsets, from the request to the brokers' answer; nobody waits for it

Fetch, decode and fold of the next batch may go on while this one is being written: that is the pipeline, and `hidden`
says how much of a stage it hides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Stage(StrEnum):
    """One of the stages above."""

    FETCH = "fetch"
    DECODE = "decode"
    FOLD = "fold"
    WRITE = "write"
    COMMIT = "commit"


Stretch = tuple[float, float]
"""Begin and end, in seconds of one monotonic clock."""


@dataclass(frozen=True, slots=True)
class StageFigures:
    """One stage, over a whole run.

    Attributes:
        times: how often.
        seconds: altogether.
        hidden: of these, while a batch was being written; None for the write itself.
    """

    times: int
    seconds: float
    hidden: float | None


@dataclass(slots=True)
class Timeline:
    """Stretches as they come; from several threads at once."""

    stretches: dict[Stage, list[Stretch]] = field(default_factory=lambda: defaultdict(list))

    def add(self, stage: Stage, begin: float, end: float) -> None:
        """This stage went on from `begin` to `end`."""
        self.stretches[stage].append((begin, end))

    def figures(self) -> dict[Stage, StageFigures]:
        """Every stage that there was."""
        writes = joined(self.stretches[Stage.WRITE])
        found: dict[Stage, StageFigures] = {}
        for stage in Stage:
            stretches = self.stretches[stage]
            if stretches:
                hidden = None if stage is Stage.WRITE else overlap(joined(stretches), writes)
                found[stage] = StageFigures(len(stretches), sum(end - begin for begin, end in stretches), hidden)
        return found


def joined(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Merge overlapping stretches of time, in order."""
    out: list[Stretch] = []
    for begin, end in sorted(stretches):
        if out and begin <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((begin, end))
    return out


def overlap(one: Sequence[Stretch], other: Sequence[Stretch]) -> float:
    """Seconds that are in both; each as `joined` gives it."""
    seconds, at = 0.0, 0
    for begin, end in one:
        while at < len(other) and other[at][1] <= begin:
            at += 1
        for there, gone in other[at:]:
            if there >= end:
                break
            seconds += min(end, gone) - max(begin, there)
    return seconds
