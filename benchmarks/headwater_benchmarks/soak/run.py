"""The soak: faults turn by turn while events flow, and after each turn the graph is what the events say."""

from __future__ import annotations

import random
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from headwater.errors import CheckFailedError, HeadwaterError
from headwater_benchmarks.report import Goal, report
from headwater_benchmarks.soak.faults import FAULTS, NotPossibleError
from headwater_benchmarks.soak.memory import MemoryWatch
from headwater_benchmarks.soak.size import Size
from headwater_benchmarks.soak.turns import one_by_one, together
from headwater_benchmarks.soak.verdict import Verdict
from headwater_benchmarks.soak.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater_benchmarks.soak.faults import Fault
    from headwater_benchmarks.soak.turns import Turn

RECOVERY_GOAL_SECONDS = 60.0
MEMORY_GOAL_MB = 250.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is asked for.

    Attributes:
        seconds: how long; None goes through every class of faults once.
        seed: of the events, and of what happens when. The machine's timing is its own.
        rate: events per second.
        only: names of the faults to choose from; empty for all.
        together: whether faults share a turn (`turns.together`), and last no longer than they need.
        settle_seconds: how long recovery may take before it counts as lost.
    """

    seconds: float | None
    seed: int = 1
    rate: float = 40.0
    only: tuple[str, ...] = ()
    together: bool = False
    settle_seconds: float = 600.0

    @property
    def size(self) -> Size:
        """Of the world that this takes."""
        settle = self.settle_seconds
        if self.together:
            return Size(rate=self.rate, consumers=3, partitions=12, brief=True, settle_seconds=settle)
        return Size(rate=self.rate, settle_seconds=settle)


@dataclass(slots=True)
class Outcome:
    """What became of one class of faults.

    Attributes:
        times: how often it happened.
        recovery_seconds: from its end, of faults at once from the last one's, until everything acknowledged by then was
            in the graph; one for each time.
        not_here: why it can't be made on this machine.
    """

    times: int = 0
    recovery_seconds: list[float] = field(default_factory=list)
    not_here: str | None = None


@dataclass(slots=True)
class Findings:
    """Everything seen so far."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    memory: MemoryWatch = field(default_factory=MemoryWatch)
    verdict: Verdict | None = None
    failure: str | None = None
    seconds: float = 0.0


class Watcher(Protocol):
    """Who hears how it goes."""

    def now(self, what: str, seconds: float) -> None:
        """What is happening, and for how long the soak has run."""

    def over(self, what: str) -> None:
        """A fault is over, and this came of it."""


def soak(options: Options, watcher: Watcher) -> dict[str, Any]:
    """Run it; the report.

    Raises:
        HeadwaterError: the servers don't come up.
    """
    found = Findings()
    watcher.now("starting Kafka, Neo4j and consumers", 0.0)
    with World(options.seed, options.size) as world:
        began = time.monotonic()
        try:
            _go_through(world, options, found, watcher)
        except HeadwaterError as error:
            found.failure = str(error)
        found.seconds = time.monotonic() - began
    return _report(options, found)


def _go_through(world: World, options: Options, found: Findings, watcher: Watcher) -> None:
    dice = random.Random(options.seed)  # noqa: S311  no secret
    began = time.monotonic()
    watcher.now("warming up", 0.0)
    world.warm_up()
    for turn in _turns(options, dice):
        seconds = time.monotonic() - began
        if options.seconds is not None and seconds >= options.seconds:
            return
        watcher.now(turn.name, seconds)
        world.feed.resume()
        world.hold(dice, 1, 4)
        try:
            (_all_at_once if turn.at_once else _one_after_another)(turn.faults, world, dice, found, watcher)
            found.verdict = world.verify()
        except HeadwaterError as error:
            raise CheckFailedError(f"{turn.name}: {error}") from error
        found.memory.look(world.consumers[0].process.pid, time.monotonic() - began)
        watcher.over(
            f"{time.monotonic() - began:.0f} s: {found.verdict.acknowledged:,} records, "
            f"{found.verdict.comparison.equal:,} nodes and relationships as they should be"
        )


def _one_after_another(
    faults: Sequence[Fault], world: World, dice: random.Random, found: Findings, watcher: Watcher
) -> None:
    for fault in faults:
        if fault.destroys:
            world.verify()
        reason = _happen(fault, world, _own(dice))
        world.feed.resume()
        _over(fault, found, watcher, reason or world.recover())


def _all_at_once(faults: Sequence[Fault], world: World, dice: random.Random, found: Findings, watcher: Watcher) -> None:
    with ThreadPoolExecutor(len(faults)) as threads:
        happening = [threads.submit(_happen, fault, world, _own(dice)) for fault in faults]
    reasons = [fault.result() for fault in happening]
    recovery = world.recover()
    for fault, reason in zip(faults, reasons, strict=True):
        _over(fault, found, watcher, reason or recovery)


def _own(dice: random.Random) -> random.Random:
    """A fault's own dice, so that what it throws doesn't depend on what happens beside it."""
    return random.Random(dice.getrandbits(64))  # noqa: S311  no secret


def _happen(fault: Fault, world: World, dice: random.Random) -> str | None:
    """Why it can't be made to happen here; None once it has happened."""
    try:
        fault.happen(world, dice)
    except NotPossibleError as error:
        return str(error)
    except HeadwaterError as error:
        raise CheckFailedError(f"{fault.name}: {error}") from error
    return None


def _over(fault: Fault, found: Findings, watcher: Watcher, came: str | float) -> None:
    """It is over: recovered from after so many seconds, or not possible here."""
    outcome = found.outcomes.setdefault(fault.name, Outcome())
    if isinstance(came, str):
        outcome.not_here = came
        watcher.over(f"{fault.name}: not here: {came}")
    else:
        outcome.times += 1
        outcome.recovery_seconds.append(came)
        watcher.over(f"{fault.name}: recovered after {came:.1f} s")


def _turns(options: Options, dice: random.Random) -> Iterator[Turn]:
    """Every class once, in another order each time; for ever, or once."""
    chosen = [fault for fault in FAULTS if not options.only or fault.name in options.only]
    while True:
        yield from (together if options.together else one_by_one)(chosen, dice)
        if options.seconds is None:
            return


def _report(options: Options, found: Findings) -> dict[str, Any]:
    recoveries = [seconds for outcome in found.outcomes.values() for seconds in outcome.recovery_seconds]
    slope = found.memory.slope_mb_per_hour
    verdict = found.verdict
    return {
        **report(
            "soak",
            options={
                "seconds": options.seconds,
                "seed": options.seed,
                "rate": options.rate,
                "only": options.only,
                "together": options.together,
            },
            environment={},
            measurements=[_measured(name, outcome) for name, outcome in sorted(found.outcomes.items())],
            goals=[
                Goal("longest recovery, s", round(max(recoveries), 1) if recoveries else None, RECOVERY_GOAL_SECONDS),
                Goal("memory of a consumer, peak MB", round(found.memory.peak_mb, 1), MEMORY_GOAL_MB),
            ],
        ),
        "seconds": round(found.seconds, 1),
        "faults": sum(outcome.times for outcome in found.outcomes.values()),
        "failure": found.failure,
        "acknowledged": verdict.acknowledged if verdict else 0,
        "dead_lettered": verdict.bad if verdict else 0,
        "compared": verdict.comparison.equal if verdict else 0,
        "memory_mb": {
            "peak": round(found.memory.peak_mb, 1),
            "slope_per_hour": None if slope is None else round(slope, 2),
            "samples": [(round(seconds), round(mb, 1)) for seconds, mb in found.memory.samples],
        },
    }


def _measured(name: str, outcome: Outcome) -> dict[str, Any]:
    seconds = outcome.recovery_seconds
    return {
        "name": name,
        "times": outcome.times,
        "not_here": outcome.not_here,
        "recovery_seconds": None
        if not seconds
        else {
            "median": round(statistics.median(seconds), 1),
            "minimum": round(min(seconds), 1),
            "maximum": round(max(seconds), 1),
        },
    }
