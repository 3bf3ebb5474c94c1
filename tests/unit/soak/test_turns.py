"""Faults that share a turn."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from headwater_benchmarks.soak.faults import FAULTS
from headwater_benchmarks.soak.schedule import one_by_one, together

pytestmark = pytest.mark.nightly


def test_every_fault_has_its_turn_once(subtests: pytest.Subtests) -> None:
    for turns, seed in itertools.product([one_by_one, together], range(5)):
        with subtests.test(turns.__name__, seed=seed):
            faults = [fault for _, turn in turns(FAULTS, random.Random(seed)) for fault in turn]
            assert sorted(fault.name for fault in faults) == sorted(fault.name for fault in FAULTS)


def test_what_stops_the_flow_of_events_happens_alone(subtests: pytest.Subtests) -> None:
    for seed in range(5):
        with subtests.test(seed=seed):
            turns = list(together(FAULTS, random.Random(seed)))
            assert any(at_once for at_once, _ in turns)
            assert all(fault.flows is at_once for at_once, turn in turns for fault in turn)
            assert len(turns) < len(FAULTS) / 4


def test_a_seed_is_an_order() -> None:
    names = [list(together(FAULTS, random.Random(seed))) for seed in (1, 1, 2)]
    assert names[0] == names[1] != names[2]


def test_alone_nothing_shares_a_turn() -> None:
    assert all(len(turn) == 1 and not at_once for at_once, turn in one_by_one(FAULTS, random.Random(0)))


def test_the_page_has_every_class() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reliability" / "soak.md").read_text(encoding="utf-8")
    assert [fault.name for fault in FAULTS if f"`{fault.name}`" not in page] == []
