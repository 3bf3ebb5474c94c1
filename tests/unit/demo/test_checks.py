"""Each check is seen to hold on good facts, and to fail on facts that are wrong in just its way."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.demo import checks
from support.demo import GOOD, LETTERS, chain

if TYPE_CHECKING:
    import pytest


def test_good_facts_pass_every_check() -> None:
    assert [check.problems for check in checks.all_checks(GOOD)] == [()] * 7


def test_wrong_facts_fail_the_one_check_that_is_about_them(subtests: pytest.Subtests) -> None:
    cases = [
        (replace(GOOD, applied=99), "applied or dead-lettered", "leaves 1"),
        (replace(GOOD, applied=101), "applied or dead-lettered", "leaves -1"),
        (replace(GOOD, acknowledged=0, applied=0, dead_lettered=0), "applied or dead-lettered", "no event was applied"),
        (replace(GOOD, dead_letters=LETTERS[:2]), "dead letters", "NOT_AN_EVENT, UNKNOWN_SCHEMA; expected"),
        (replace(GOOD, dead_letters=(*LETTERS, LETTERS[0])), "dead letters", "NOT_AN_EVENT, NOT_AN_EVENT"),
        (replace(GOOD, dead_letters=()), "dead letters", "reasons: nothing"),
        (replace(GOOD, chains={**GOOD.chains, "enrich": chain("enrich", 2, gaps=1)}), "gap", "enrich has 1 gaps"),
        (replace(GOOD, chains={**GOOD.chains, "enrich": chain("enrich", 2, missing=3)}), "gap", "enrich has 3 gaps"),
        (replace(GOOD, chains={**GOOD.chains, "delays": chain("delays", 3, overlaps=2)}), "gap", "has 2 overlaps"),
        (replace(GOOD, chains={**GOOD.chains, "delays": chain("delays", 3, conflicts=1)}), "gap", "1 conflicting"),
        (replace(GOOD, chains={"enrich": GOOD.chains["enrich"]}), "micro-batch", "3 micro-batches, but has 0"),
        (replace(GOOD, committed_batches={"enrich": 3}), "micro-batch", "committed 3 micro-batches, but has 2"),
        (replace(GOOD, departed_ends={0: 11, 1: 0, 2: 7}), "[0, end)", "partition 0: offsets [10, 11) were not"),
        (replace(GOOD, departed_ends={0: 10, 1: 1, 2: 7}), "[0, end)", "partition 1: offsets [0, 1) were not"),
        (replace(GOOD, departed_ends={0: 10, 1: 0}), "[0, end)", "partition 2 does not exist"),
        (replace(GOOD, departed_ends={}, consumed={}), "[0, end)", "is empty"),
        (replace(GOOD, departed_ends={0: 10, 3: 5}, consumed={0: [(0, 10)]}), "[0, end)", "partition 3"),
        (replace(GOOD, runs={"flights.enrich 1": "RUNNING"}), "COMPLETE", "flights.enrich 1 is RUNNING"),
        (replace(GOOD, runs={}), "COMPLETE", "no run"),
        (replace(GOOD, untraceable_columns=("rain",)), "traced", "no way back from rain"),
        (replace(GOOD, report_columns=()), "traced", "no column"),
    ]
    for facts, claim, problem in cases:
        with subtests.test(facts=facts):
            failed = [check for check in checks.all_checks(facts) if not check.holds]
            about = [check for check in failed if claim in check.claim]
            assert len(about) == 1
            assert any(problem in found for found in about[0].problems), about[0].problems


def test_ranges_cover_a_partition_exactly_or_how_not_is_reported(subtests: pytest.Subtests) -> None:
    cases = [
        ([(0, 4), (4, 9)], 9, []),
        ([(4, 9), (0, 4)], 9, []),
        ([(0, 4), (4, 4), (4, 9)], 9, []),
        ([], 0, []),
        ([(0, 4), (5, 9)], 9, ["offsets [4, 5) were not consumed"]),
        ([(1, 9)], 9, ["offsets [0, 1) were not consumed"]),
        ([(0, 8)], 9, ["offsets [8, 9) were not consumed"]),
        ([], 9, ["offsets [0, 9) were not consumed"]),
        ([(0, 5), (4, 9)], 9, ["offsets [4, 5) were consumed twice"]),
        ([(0, 9), (2, 3)], 9, ["offsets [2, 3) were consumed twice"]),
        ([(0, 10)], 9, ["consumed up to 10, but the partition ends at 9"]),
    ]
    for ranges, end, problems in cases:
        with subtests.test(ranges=ranges, end=end):
            assert checks.uncovered(ranges, end) == problems
