"""What benchmarks share: percentiles, interleaving, goals, the report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headwater.errors import InputError
from headwater_benchmarks.figures import figures, percentile, spread
from headwater_benchmarks.report import Goal, measured, report, save
from headwater_benchmarks.rounds import Contestant, Result, TooLong, interleave

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([3, 1, 2], 0.5, 2), ([1, 2, 3, 4], 0.5, 2), (range(1, 101), 0.95, 95), (range(1, 21), 0.95, 19), ([7], 0.95, 7)],
)
def test_a_percentile_is_a_value_that_was_measured(values: list[float], share: float, expected: float) -> None:
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


@pytest.mark.parametrize(
    ("value", "goal", "direction", "met"),
    [(5, 5, "at_most", True), (5.1, 5, "at_most", False), (5, 5, "at_least", True), (4.9, 5, "at_least", False)],
)
def test_a_goal_is_met_at_its_border(value: float, goal: float, direction: str, met: bool) -> None:
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


def test_a_report_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere.report\.json can't be written: No such file"):
        save({}, tmp_path / "nowhere" / "report.json")
