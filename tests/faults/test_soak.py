"""A short soak, as `headwater soak --together`: every class of faults on real processes, in few turns."""

from __future__ import annotations

import pytest

from headwater_benchmarks.soak.doctored import COMMITS_AHEAD, SKIPS
from headwater_benchmarks.soak.faults import FAULTS
from headwater_benchmarks.soak.schedule import SoakOptions, soak

pytestmark = pytest.mark.nightly


# Only root may mount the small file system that is made to be full, and only on Linux.
MAYBE = {"database's disk full"}


@pytest.mark.timeout(1_800)
def test_nothing_is_lost_whatever_happens() -> None:
    lines: list[str] = []
    document = soak(SoakOptions(seconds=None, seed=1, rate=15, together=True, settle_seconds=300), lines.append)
    story = "\n".join([*lines, document["failure"] or ""])
    assert document["failure"] is None, story
    outcomes = {row["name"]: row for row in document["measurements"]}
    assert outcomes.keys() == {fault.name for fault in FAULTS}
    assert {name for name, row in outcomes.items() if row["times"] != 1} <= MAYBE, story
    assert all(row["shown"] for row in outcomes.values() if row["times"]), "what showed each fault"
    assert len(document["memory_mb"]["peaks"]) >= 10, "every consumer's peak, those of crashed ones included"
    # The longest recovery, and the memory.
    assert [goal["name"] for goal in document["goals"] if not goal["met"]] == [], story
    assert document["dead_lettered"] > 0
    assert document["compared"] > 10_000


@pytest.mark.timeout(900)
@pytest.mark.parametrize("how", [SKIPS, COMMITS_AHEAD])
def test_a_consumer_that_loses_events_fails_it(how: str) -> None:
    lines: list[str] = []
    broken = ("-m", "headwater_benchmarks.soak.doctored", how)
    options = SoakOptions(
        seconds=None, seed=1, rate=60, together=True, settle_seconds=120, only=("poison",), program=broken
    )
    failure = soak(options, lines.append)["failure"]
    assert failure is not None, lines
    assert "Checks failed: " in failure
    assert ("missing" if how == SKIPS else "events pending") in failure
