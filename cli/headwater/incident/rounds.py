"""Rounds of a command that repeats its work, with a pause, until a signal."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from headwater.console import console
from headwater.errors import UnreachableError
from headwater.stopping import stopped_by_signals

Result = TypeVar("Result")


def rounds(every_seconds: float | None, one_round: Callable[[], Result]) -> Iterator[Result]:
    """Run rounds until SIGINT or SIGTERM, and yield the result of each one that succeeded.

    Args:
        every_seconds: pause after each round, in seconds; None: there is one round.
        one_round: does the work of one round. A signal ends the pause, not the round.

    Raises:
        HeadwaterError: as `one_round` raises it. After the first success, a Kafka or Neo4j that doesn't answer
            (UnreachableError) is only a warning, and the next round tries again.
    """
    if every_seconds is None:
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
                console.warning(f"{error.message} The next try is in {every_seconds:g} s.")
            else:
                succeeded = True
                yield result
            stopped.wait(every_seconds)
