"""Order of criticalities."""

from __future__ import annotations

from headwater_analysis.criticality import criticality_rank


def test_the_worst_comes_first() -> None:
    words = ["", None, "bronze", "low", "tier-3", "Medium", "tier 2", "HIGH", "tier1", "P1", "critical", "tier-0"]
    assert [criticality_rank(word) for word in words] == [0, 0, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5]
