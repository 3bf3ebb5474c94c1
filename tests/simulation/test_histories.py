"""Random histories of the loop, on fakes that pass the contract suite of the real ones: ten thousand, a seed each.

The gate goes through 250, the nightly run through the first quarter; `-m study` has the rest.
"""

from __future__ import annotations

import pytest

from support.materializer.history import run_history

SEEDS = 10_000
IN_THE_NIGHTLY_RUN = 2_500
IN_THE_GATE = 250


def _marks(first: int) -> tuple[pytest.MarkDecorator, ...]:
    if first < IN_THE_GATE:
        return ()
    return (pytest.mark.nightly if first < IN_THE_NIGHTLY_RUN else pytest.mark.study,)


@pytest.mark.parametrize("first", [pytest.param(first, marks=_marks(first)) for first in range(0, SEEDS, IN_THE_GATE)])
def test_whatever_happens_all_good_events_are_applied_and_all_bad_ones_dead_lettered(first: int) -> None:
    for seed in range(first, first + IN_THE_GATE):
        run_history(seed)
