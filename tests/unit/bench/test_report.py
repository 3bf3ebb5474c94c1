"""Shared parts of the benchmarks: percentiles, questions in turn, goals, the report."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from headwater.errors import InputError
from headwater_benchmarks import report as reports
from headwater_benchmarks.measuring import ask_in_turns, in_turns
from headwater_benchmarks.report import Goal, interval, percentile, ratio, report, save

pytestmark = pytest.mark.nightly

PERCENTILES: list[tuple[Sequence[float], float, float]] = [
    ([3, 1, 2], 0.5, 2),
    ([1, 2, 3, 4], 0.5, 2),
    (range(1, 101), 0.95, 95),
    (range(1, 21), 0.95, 19),
    ([7], 0.95, 7),
]


def test_a_percentile_is_a_value_that_was_measured(subtests: pytest.Subtests) -> None:
    for values, share, expected in PERCENTILES:
        with subtests.test(values=values, share=share):
            assert percentile(list(values), share) == expected


def test_every_round_begins_with_another_contestant() -> None:
    assert list(in_turns("ab", 2, warm_up=1)) == [(-1, "b"), (-1, "a"), (0, "a"), (0, "b"), (1, "b"), (1, "a")]


def test_every_question_is_put_to_all_before_the_next_and_the_first_turn_goes_round() -> None:
    asked: list[tuple[str, int]] = []

    def contestant(name: str) -> Callable[[int], int]:
        def answer(question: int) -> int:
            asked.append((name, question))
            return question * 10

        return answer

    answers = {name: contestant(name) for name in "ab"}
    ours, theirs = ask_in_turns(answers, [1, 2], rounds=2, warm_up=1, pid=os.getpid())
    by_round = [asked[at : at + 4] for at in range(0, len(asked), 4)]
    assert by_round[0] == by_round[2] == [("b", 1), ("a", 1), ("a", 2), ("b", 2)]
    assert by_round[1] == [("a", 1), ("b", 1), ("b", 2), ("a", 2)]
    assert len(by_round) == 3  # one to warm up
    assert (ours["name"], ours["found"]) == ("a", {"median": 10, "minimum": 10, "maximum": 20})
    assert [len(each) for each in ours["samples_ms"]] == [2, 2]
    assert "headwater_ratio" not in ours
    assert theirs["headwater_ratio"]["median"] > 0


GOALS: list[tuple[float | None, float, str, bool]] = [
    (5, 5, "at_most", True),
    (5.1, 5, "at_most", False),
    (5, 5, "at_least", True),
    (4.9, 5, "at_least", False),
    (None, 5, "at_most", False),
]


def test_a_goal_is_met_at_its_border(subtests: pytest.Subtests) -> None:
    for value, goal, direction, met in GOALS:
        with subtests.test(value=value, goal=goal):
            assert Goal("speed", value, goal, direction).met is met  # type: ignore[arg-type]


def test_the_report_ends_with_the_goals(tmp_path: Path) -> None:
    document = report("query", options={"seed": 1}, measurements=[], goals=[Goal("p95 ms", 4.0, 5.0)])
    assert list(document)[-1] == "goals"
    save(document, tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["goals"] == [
        {"name": "p95 ms", "value": 4.0, "goal": 5.0, "direction": "at_most", "met": True}
    ]


def test_a_report_that_cannot_be_written_is_reported_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere.report\.json can't be written: No such file"):
        save({}, tmp_path / "nowhere" / "report.json")


def test_an_interval_holds_the_median_and_is_the_same_again() -> None:
    values = [1.02, 1.05, 0.98, 1.01, 1.03]
    found = interval(values)
    assert min(values) <= found["low"] <= 1.02 <= found["high"] <= max(values)
    assert found == interval(values)
    assert interval([2.0] * 5) == interval([2.0]) == {"low": 2.0, "high": 2.0}, "what doesn't vary has no width"
    few = [1.0, 1.1, 1.2, 1.3, 1.4]
    assert interval(few * 20)["high"] - interval(few * 20)["low"] < interval(few)["high"] - interval(few)["low"]


def test_of_normal_values_it_holds_the_true_median_about_as_often_as_it_says() -> None:
    dice = random.Random(1)
    held = 0
    for _ in range(60):
        found = interval([dice.gauss(5, 1) for _ in range(25)])
        held += found["low"] <= 5 <= found["high"]
    assert held >= 51


def test_a_ratio_has_its_interval() -> None:
    assert ratio("times", [1.0, 2.0, 3.0]) == {
        "times": {"median": 2.0, "minimum": 1.0, "maximum": 3.0},
        "times_interval": {"low": 1.0, "high": 3.0},
    }
    assert reports.shown(ratio("times", [1.0, 2.0, 3.0])["times_interval"]) == "1.0 to 3.0"
