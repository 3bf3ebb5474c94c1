"""Every class of faults once, on real processes, and after each the graph is what the brokers acknowledged."""

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


@pytest.mark.timeout(2_400)
def test_nothing_is_lost_whatever_happens() -> None:
    watcher = Remembers()
    document = soak(Options(seconds=None, seed=1, settle_seconds=300), watcher)
    assert document["failure"] is None, "\n".join([*watcher.told, document["failure"]])
    outcomes = {row["name"]: row for row in document["measurements"]}
    assert outcomes.keys() == {fault.name for fault in FAULTS}
    # A small file system needs root on Linux; everything else is possible everywhere.
    assert {name for name, row in outcomes.items() if row["not_here"]} <= {"database's disk full"}
    assert all(row["times"] == 1 for row in outcomes.values() if not row["not_here"])
    assert document["dead_lettered"] > 0
    assert document["compared"] > 10_000
    assert document["memory_mb"]["peak"] < 250
