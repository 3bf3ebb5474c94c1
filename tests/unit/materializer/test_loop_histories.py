"""A few random histories; `tests/simulation` runs ten thousand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.materializer.history import run_history

if TYPE_CHECKING:
    import pytest


def test_whatever_happens_all_good_events_are_applied_and_all_bad_ones_dead_lettered(subtests: pytest.Subtests) -> None:
    for seed in range(40):
        with subtests.test(seed=seed):
            run_history(seed)
