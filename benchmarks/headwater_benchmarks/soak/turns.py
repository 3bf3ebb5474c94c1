"""Turns: which faults happen between one comparison of the graph and the next.

One by one, each fault is a turn of its own. Together, so that all classes take minutes:

    events flow meanwhile   several at once: each has its own consumers or its own links, and none hides another
    events stand still      one after another, each recovered from before the next, and compared after a few

What a fault loses stays lost until the comparison: an event whose offset is committed is never read again, and a dead
letter that isn't there isn't written later.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headwater_benchmarks.soak.faults import Fault

_AT_ONCE = 5
"""Most faults at once: those of consumers start up to three processes each, and two cores have to be enough."""
_IN_A_ROW = 5
"""Faults between two comparisons."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Faults that the graph is compared after.

    Attributes:
        faults: at least one.
        at_once: whether they happen at the same time; else one after another.
    """

    faults: tuple[Fault, ...]
    at_once: bool = False

    @property
    def name(self) -> str:
        """For people."""
        return (" + " if self.at_once else ", ").join(fault.name for fault in self.faults)


def one_by_one(faults: Sequence[Fault], dice: random.Random) -> Iterator[Turn]:
    """Every fault once, in any order."""
    for fault in dice.sample(faults, len(faults)):
        yield Turn((fault,))


def together(faults: Sequence[Fault], dice: random.Random) -> Iterator[Turn]:
    """Every fault once, in as few turns as find as much."""
    chosen = dice.sample(faults, len(faults))
    flowing = [fault for fault in chosen if fault.flows]
    others = [fault for fault in chosen if not fault.flows]
    turns = [Turn(group, at_once=True) for group in _groups(flowing, _AT_ONCE)]
    turns += [Turn(group) for group in _groups(others, _IN_A_ROW)]
    yield from dice.sample(turns, len(turns))


def _groups(faults: Sequence[Fault], most: int) -> Iterator[tuple[Fault, ...]]:
    """Split the faults into as few and as even groups as can be."""
    count = -(-len(faults) // most)
    for number in range(count):
        yield tuple(faults[number::count])
