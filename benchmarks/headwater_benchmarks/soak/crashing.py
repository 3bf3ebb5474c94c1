"""A consumer that ends as by SIGKILL at a step of a checkpoint: `-m headwater_benchmarks.soak.crashing STEP consume`.

Steps, as `materializer.checkpoint` and `materializer.commits` number them; `before` and `after` are of the call:

    1-before, 1-after    a transaction in Neo4j
    2-before, 2-after    dead letters sent
    3-before, 3-after    offsets committed

It is the real program, but for one method that has been replaced.
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
"""Exit status that a shell gives SIGKILL."""
_METHODS: dict[str, tuple[type, str]] = {
    "1": (Neo4jGraph, "apply"),
    "2": (KafkaDeadLetters, "send"),
    "3": (KafkaSource, "commit"),
}
STEPS = tuple(f"{number}-{moment}" for number in _METHODS for moment in ("before", "after"))


def crash_at(step: str, *, calls: int = 2) -> None:
    """Have this process end at the step, when it comes to it for so many times.

    Raises:
        KeyError: there is no such step.
    """
    number, _, moment = step.partition("-")
    owner, name = _METHODS[number]
    method: Callable[..., Any] = getattr(owner, name)
    count = 0

    def crashing(*arguments: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        if count == calls and moment == "before":
            os._exit(STATUS)
        answer = method(*arguments, **named)
        if count == calls:
            os._exit(STATUS)
        return answer

    setattr(owner, name, crashing)


if __name__ == "__main__":
    from headwater.__main__ import main

    crash_at(sys.argv.pop(1))
    main()
