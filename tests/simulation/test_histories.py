"""Random histories of the loop, on fakes that pass the contract suite of the real ones: ten thousand, a seed each.

A run of the tests goes through the first quarter; `-m study` has the rest.
"""

from __future__ import annotations

import pytest

from support.materializer.history import run_history

SEEDS = 10_000
IN_EVERY_RUN = 2_500
AT_A_TIME = 500


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=() if first < IN_EVERY_RUN else pytest.mark.study)
        for first in range(0, SEEDS, AT_A_TIME)
    ],
)
def test_whatever_happens_all_good_events_are_applied_and_all_bad_ones_dead_lettered(first: int) -> None:
    for seed in range(first, first + AT_A_TIME):
        run_history(seed)
