"""A short soak: a few classes of faults on real processes. `headwater soak --together` has all of them in minutes."""

from __future__ import annotations

import pytest

from headwater.soak.faults import FAULTS
from headwater.soak.run import Options, soak


class Remembers:
    def __init__(self) -> None:
        self.told: list[str] = []

    def now(self, what: str, seconds: float) -> None:
        """Nobody watches."""

    def over(self, what: str) -> None:
        self.told.append(what)


FEW = (
    "broker killed",
    "consumer crashes at step 2-before",
    "consumer killed",
    "database killed",
    "dead-letter topic unwritable",
    "link to the database cut",
    "poison",
    "topic deleted and created again",
)


def test_the_few_are_of_all() -> None:
    assert set(FEW) < {fault.name for fault in FAULTS}


@pytest.mark.timeout(1_800)
def test_nothing_is_lost_whatever_happens() -> None:
    watcher = Remembers()
    document = soak(Options(seconds=None, seed=1, settle_seconds=300, only=FEW), watcher)
    story = "\n".join([*watcher.told, document["failure"] or ""])
    assert document["failure"] is None, story
    outcomes = {row["name"]: row for row in document["measurements"]}
    assert outcomes.keys() == set(FEW)
    assert all(row["times"] == 1 for row in outcomes.values())
    # The longest recovery, and the memory.
    assert [goal["name"] for goal in document["goals"] if not goal["met"]] == [], story
    assert document["dead_lettered"] > 0
    assert document["compared"] > 10_000
