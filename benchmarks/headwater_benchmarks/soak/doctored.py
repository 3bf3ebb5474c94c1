"""A consumer that crashes or loses events: `-m headwater_benchmarks.soak.doctored HOW consume`.

    1-before, 1-after    ends as if by SIGKILL, before or after a transaction in Neo4j
    2-before, 2-after    … before or after dead letters are sent
    3-before, 3-after    … before or after offsets are committed
    skips                the fifth transaction isn't written, but its offsets are committed
    commits-ahead        one offset more than processed is committed

`skips` and `commits-ahead` test whether the soak notices a loss. The consumer is the real program with one replaced
method.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from headwater.lean_imports import without

with without("numpy", "pandas"):
    from headwater_consumers.kafka.kafka_source import KafkaSource
    from headwater_consumers.materializer.dead_letters.topic import KafkaDeadLetters
    from headwater_consumers.materializer.graph import Neo4jGraph

STATUS = 137
"""Exit status that a shell reports for a process that SIGKILL has ended."""
SKIPS, COMMITS_AHEAD = "skips", "commits-ahead"
_METHODS: dict[str, tuple[type, str]] = {
    "1": (Neo4jGraph, "apply"),
    "2": (KafkaDeadLetters, "send"),
    "3": (KafkaSource, "commit"),
}
STEPS = tuple(f"{number}-{moment}" for number in _METHODS for moment in ("before", "after"))
"""Crashes, each by the number of a step in `materializer.checkpoint` and the moment before or after this step."""
_CRASHING_CALL, _SKIPPED_CALL = 2, 5


def doctor(how: str) -> None:
    """Replace one method of the consumer, so that it has this defect.

    Raises:
        KeyError: the defect is unknown.
    """
    number, _, moment = {SKIPS: "1-skips", COMMITS_AHEAD: "3-ahead"}.get(how, how).partition("-")
    owner, name = _METHODS[number]
    method: Callable[..., Any] = getattr(owner, name)
    calls, answer = 0, None

    def replaced(own: Any, given: Any) -> Any:
        nonlocal calls, answer
        calls += 1
        if moment == "skips" and calls == _SKIPPED_CALL:
            return answer
        if moment == "before" and calls == _CRASHING_CALL:
            os._exit(STATUS)
        if moment == "ahead":
            given = {partition: offset + 1 for partition, offset in given.items()}
        answer = method(own, given)
        if moment == "after" and calls == _CRASHING_CALL:
            os._exit(STATUS)
        return answer

    setattr(owner, name, replaced)


if __name__ == "__main__":
    from headwater.__main__ import main

    doctor(sys.argv.pop(1))
    main()
