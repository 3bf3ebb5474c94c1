"""Interleaved rounds: in each, every question is put to every contestant before the next question comes.

So whatever else the machine does at the time, and whatever a cache holds, is the same for all of them; who comes first
changes from question to question. Rounds before the first warm everything up and aren't counted: a JVM that has just
started takes ten times as long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Q = TypeVar("Q")


class TooLong(Exception):  # noqa: N818  of an answer
    """A contestant's own time limit ended a question; the limit, then, is what it took at least."""


@dataclass(frozen=True, slots=True)
class Contestant(Generic[Q]):
    """Somebody who answers.

    Attributes:
        name: for the report.
        answer: answers one question; how many things it found, so that all contestants can be seen to say the same.
    """

    name: str
    answer: Callable[[Q], int]


@dataclass(slots=True)
class Result:
    """Measurements of one contestant.

    Attributes:
        name: whose.
        rounds: of each round, the seconds of each question.
        found: of each question, in order, how many things were found.
        too_long: how many questions ended at a time limit, in all rounds.
        processor_seconds: of all rounds together.
    """

    name: str
    rounds: list[list[float]] = field(default_factory=list)
    found: list[int] = field(default_factory=list)
    too_long: int = 0
    processor_seconds: float = 0.0


def interleave(
    contestants: Sequence[Contestant[Q]],
    questions: Sequence[Q],
    *,
    rounds: int,
    warm_up: int = 1,
    asked: Callable[[], None] = lambda: None,
    clock: Callable[[], float] = time.perf_counter,
    processor: Callable[[], float] = time.process_time,
) -> list[Result]:
    """Ask; one result for each contestant, in order.

    Args:
        contestants: who answers.
        questions: in this order, each round.
        rounds: that count.
        warm_up: rounds that don't.
        asked: called after each answer, for a display of progress.
        clock: seconds.
        processor: seconds that all processes which take part have used: the cost of an answer, also on a busy machine.
    """
    results = [Result(contestant.name) for contestant in contestants]
    for number in range(-warm_up, rounds):
        seconds: list[list[float]] = [[] for _ in contestants]
        for at, question in enumerate(questions):
            for turn in range(len(contestants)):
                index = (turn + at + number) % len(contestants)
                used, begun = processor(), clock()
                try:
                    found = contestants[index].answer(question)
                except TooLong:
                    found = -1
                seconds[index].append(clock() - begun)
                if number >= 0:
                    results[index].processor_seconds += processor() - used
                asked()
                if number == 0:
                    results[index].found.append(found)
                if number >= 0 and found < 0:
                    results[index].too_long += 1
        if number >= 0:
            for result, each in zip(results, seconds, strict=True):
                result.rounds.append(each)
    return results
