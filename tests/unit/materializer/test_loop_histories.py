"""A few random histories; `tests/simulation` runs ten thousand."""

from __future__ import annotations

import pytest

from support.materializer.history import run_history


@pytest.mark.parametrize("seed", range(40))
def test_whatever_happens_all_good_events_are_applied_and_all_bad_ones_dead_lettered(seed: int) -> None:
    run_history(seed)
