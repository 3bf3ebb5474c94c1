"""Life: what is drawn for one start of the driver, the moment of its death included."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

PHASES: Final = ("at a start", "catching up", "running")
QUERIES: Final = ("copy", "files", "split")
# Seconds after the phase has begun, from and to. "catching up" begins when the queries were started.
_DELAYS: Final = {"at a start": (0.2, 9.0), "catching up": (0.0, 1.0), "running": (0.0, 8.0)}
# What Kafka is to the driver's lineage, and how often of a hundred. A dead one refuses connections, a paused one lets
# them hang; the last two change when the queries have been started.
BROKERS: Final = {"there": 40, "dead": 20, "paused": 12, "comes back": 14, "goes": 14}


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One start of the driver.

    Attributes:
        queries: those it starts.
        phase: in which it is killed.
        seconds: into the phase.
        python_alone: whether the JVM is left to notice by itself.
        coalesce: how many micro-batches may share an event; those that wait are lost with the process.
        sink: where lineage goes: `outbox`, and from there to Kafka; or `file`, which gets it late.
        broker: what Kafka is to the outbox meanwhile, one of `BROKERS`.
    """

    queries: tuple[str, ...]
    phase: str = "running"
    seconds: float = 0.0
    python_alone: bool = False
    coalesce: int = 1
    sink: str = "outbox"
    broker: str = "there"

    def emitted(self) -> dict[str, Any]:
        """For the report."""
        return {name: getattr(self, name) for name in self.__slots__}


def draw(chance: random.Random, **given: Any) -> Life:
    """A life from a generator; what is given isn't drawn."""
    phase = given.get("phase") or chance.choice(PHASES)
    sink = chance.choices(("outbox", "file"), (3, 1))[0]
    drawn: dict[str, Any] = {
        # One query a life: Spark's start is most of what a kill costs.
        "queries": (chance.choice(QUERIES),),
        "phase": phase,
        "seconds": round(chance.uniform(*_DELAYS[phase]), 3),
        "python_alone": chance.random() < 0.25,
        "coalesce": chance.choice((1, 1, 3, 20)),
        "sink": sink,
        "broker": chance.choices(tuple(BROKERS), tuple(BROKERS.values()))[0] if sink == "outbox" else "there",
    }
    return Life(**{**drawn, **given})


def last(queries: Sequence[str]) -> Life:
    """One that ends well, and leaves nothing in the outbox."""
    return Life(queries=tuple(queries), phase="to its end")
