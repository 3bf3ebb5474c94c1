"""Shared parts of the benchmarks: percentiles, interleaving, goals, the report."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from headwater.errors import InputError
from headwater_benchmarks.figures import bootstrap, figures, percentile, ratio, spread
from headwater_benchmarks.report import Goal, measured, report, save
from headwater_benchmarks.rounds import Contestant, Result, TooLong, interleave

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


def test_a_figure_is_the_median_of_rounds_with_the_least_and_greatest_beside_it() -> None:
    found = figures([[1.0, 9.0], [2.0, 3.0], [5.0, 4.0]])
    assert found.p50 == spread([1.0, 2.0, 4.0])
    assert (found.p95.median, found.p95.minimum, found.p95.maximum) == (5.0, 3.0, 9.0)
    assert (found.rounds, found.questions) == (3, 2)


def test_every_question_is_put_to_all_before_the_next_and_the_first_turn_goes_round() -> None:
    asked: list[tuple[str, int]] = []

    def contestant(name: str) -> Contestant[int]:
        def answer(question: int) -> int:
            asked.append((name, question))
            return question * 10

        return Contestant(name, answer)

    results = interleave([contestant("a"), contestant("b")], [1, 2], rounds=2)
    by_round = [asked[at : at + 4] for at in range(0, len(asked), 4)]
    assert by_round[0] == by_round[2] == [("b", 1), ("a", 1), ("a", 2), ("b", 2)]
    assert by_round[1] == [("a", 1), ("b", 1), ("b", 2), ("a", 2)]
    assert len(by_round) == 3  # one to warm up
    assert [(result.name, result.found, len(result.rounds)) for result in results] == [
        ("a", [10, 20], 2),
        ("b", [10, 20], 2),
    ]


def test_an_answer_that_takes_too_long_counts_with_what_it_took() -> None:
    ticks = iter(range(1_000))

    def answer(question: int) -> int:
        if question == 2:
            raise TooLong
        return 1

    (result,) = interleave(
        [Contestant("slow", answer)],
        [1, 2],
        rounds=3,
        clock=lambda: float(next(ticks)),
        processor=iter(range(0, 1_000, 10)).__next__,
    )
    assert result.processor_seconds == 60
    assert result.too_long == 3
    assert result.rounds == [[1.0, 1.0]] * 3
    assert result.found == [1, -1]


GOALS: list[tuple[float, float, str, bool]] = [
    (5, 5, "at_most", True),
    (5.1, 5, "at_most", False),
    (5, 5, "at_least", True),
    (4.9, 5, "at_least", False),
]


def test_a_goal_is_met_at_its_border(subtests: pytest.Subtests) -> None:
    for value, goal, direction, met in GOALS:
        with subtests.test(value=value, goal=goal):
            assert Goal("speed", value, goal, direction).met is met  # type: ignore[arg-type]


def test_a_goal_that_could_not_be_measured_is_not_met() -> None:
    assert not Goal("speed", None, 5).met


def test_the_report_ends_with_the_goals(tmp_path: Path) -> None:
    entry = measured(Result("us", [[0.001, 0.002], [0.003, 0.004]], [3, 5]))
    document = report(
        "query",
        options={"seed": 1},
        environment={"heap_mb": 512},
        measurements=[entry],
        goals=[Goal("p95 ms", 4.0, 5.0)],
    )
    assert entry["p95_ms"] == {"median": 3.0, "minimum": 2.0, "maximum": 4.0}
    assert entry["found"] == {"median": 3, "minimum": 3, "maximum": 5}
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
    found = bootstrap(values)
    assert min(values) <= found.low <= 1.02 <= found.high <= max(values)
    assert found == bootstrap(values)
    assert bootstrap([2.0] * 5) == bootstrap([2.0]), "what doesn't vary has no width"
    assert (bootstrap([2.0]).low, bootstrap([2.0]).high) == (2.0, 2.0)


def test_an_interval_narrows_with_rounds_and_widens_with_confidence() -> None:
    few = [1.0, 1.1, 1.2, 1.3, 1.4]
    many = few * 20
    assert bootstrap(many).high - bootstrap(many).low < bootstrap(few).high - bootstrap(few).low
    half = bootstrap(few, confidence=0.5)
    assert half.high - half.low < bootstrap(few).high - bootstrap(few).low


def test_of_normal_values_it_holds_the_true_median_about_as_often_as_it_says() -> None:
    dice = random.Random(1)
    held = 0
    for number in range(60):
        found = bootstrap([dice.gauss(5, 1) for _ in range(25)], seed=number)
        held += found.low <= 5 <= found.high
    assert held >= 51


def test_a_ratio_is_shown_with_its_interval() -> None:
    assert ratio([1.0, 2.0, 3.0])["ratio"] == {"median": 2.0, "minimum": 1.0, "maximum": 3.0}
    assert ratio([1.0, 2.0, 3.0])["interval"] == {"low": 1.0, "high": 3.0}


def test_raw_samples_and_a_ratio_within_each_round_are_in_the_report() -> None:
    ours, theirs = Result("ours", [[0.1, 0.2], [0.2, 0.4]], [1, 1]), Result("theirs", [[0.2, 0.4], [0.4, 0.8]], [1, 1])
    assert "headwater_ratio" not in measured(ours)
    entry = measured(theirs, ours)
    assert entry["headwater_ratio"] == {"median": 0.5, "minimum": 0.5, "maximum": 0.5}
    assert entry["headwater_ratio_interval"] == {"low": 0.5, "high": 0.5}
    assert entry["samples_ms"] == [[200.0, 400.0], [400.0, 800.0]]
