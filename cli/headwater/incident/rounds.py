"""Rounds of a command that repeats its work, with a pause, until a signal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import TypeVar

from headwater.console import console
from headwater.errors import UnreachableError
from headwater.stopping import stopped_by_signals

Result = TypeVar("Result")


def rounds(
    pause: timedelta | None, one_round: Callable[[], Result], lines: Callable[[Result], Iterable[str]]
) -> Iterator[Result]:
    """Run rounds until SIGINT or SIGTERM, and yield the result of each one that succeeded.

    Args:
        pause: pause after each round; None: there is one round.
        one_round: does the work of one round. A signal ends the pause, not the round.
        lines: lines for people about a result, printed after each round unless there is only one.

    Raises:
        HeadwaterError: as `one_round` raises it. After the first success, a Kafka or Neo4j that doesn't answer
            (UnreachableError) is only a warning, and the next round tries again.
    """
    if pause is None:
        yield one_round()
        return
    stopped = threading.Event()
    succeeded = False
    with stopped_by_signals(stopped.set):
        while not stopped.is_set():
            try:
                result = one_round()
            except UnreachableError as error:
                if not succeeded:
                    raise
                console.warning(f"{error.message} The next try is in {pause.total_seconds():g} s.")
            else:
                succeeded = True
                for line in lines(result):
                    console.message(line)
                yield result
            stopped.wait(pause.total_seconds())
