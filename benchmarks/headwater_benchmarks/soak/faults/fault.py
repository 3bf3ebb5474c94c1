"""Fault: one class of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from headwater.errors import CheckFailedError
from headwater_benchmarks.soak.world import World


class NotPossibleError(Exception):
    """This fault can't be made on this machine; the message has the reason."""


class NoTraceError(CheckFailedError):
    """A fault left nothing that shows it: it may not have happened."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A class of faults.

    Attributes:
        name: its name in reports.
        happen: makes one happen, holds it for as long as it likes, and ends it. Returns what shows that it happened:
            what was observed of it, and not what was done for it. Raises NoTraceError where nothing shows it, and
            NotPossibleError.
        flows: whether events go on flowing into the graph meanwhile: such faults can happen at once, and none hides
            another.
        destroys: whether it needs a world where nothing is pending, because it takes the topic away.
    """

    name: str
    happen: Callable[[World, random.Random], str]
    flows: bool = False
    destroys: bool = False


def require(shown: object, what: str) -> None:
    """Fail a fault that left no trace: checks after it would test nothing.

    Raises:
        NoTraceError: it left none.
    """
    if not shown:
        raise NoTraceError(f"The fault didn't happen: {what}.")
