"""The soak: faults turn by turn while events flow, and after each turn the graph is what the events say."""

from __future__ import annotations

import contextlib
import random
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from headwater.errors import CheckFailedError, HeadwaterError
from headwater_benchmarks.report import Goal, report
from headwater_benchmarks.soak.faults import FAULTS, Fault, NotPossibleError, NoTraceError
from headwater_benchmarks.soak.memory import MemoryWatch
from headwater_benchmarks.soak.process import PROGRAM
from headwater_benchmarks.soak.size import Size
from headwater_benchmarks.soak.turns import Turn, one_by_one, together
from headwater_benchmarks.soak.verdict import Verdict
from headwater_benchmarks.soak.world import World

RECOVERY_GOAL_SECONDS = 60.0
MEMORY_GOAL_MB = 250.0
FAULTS_PER_MINUTE = 4
"""Faults that a soak of some minutes injects on a quiet machine: 480 in two hours."""
_LONGEST = 2.0
"""Times the minutes that were asked for, until a soak with too few faults is given up."""
_TRIES = 3
"""Tries of a fault that leaves no trace, before it fails the soak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of the soak.

    Attributes:
        seconds: how long at least; None goes through every class of faults once.
        least_faults: how many there must have been; the soak goes on until then, for twice the time at most, and fails
            where they are fewer.
        seed: of the events, and of what happens when. The machine's timing is its own.
        rate: events per second.
        only: names of the faults to choose from; empty for all.
        together: whether faults share a turn (`turns.together`), and last no longer than they need.
        settle_seconds: how long recovery may take before it counts as lost.
        program: what Python runs as `headwater` for the group's members.
    """

    seconds: float | None
    least_faults: int = 0
    seed: int = 1
    rate: float = 40.0
    only: tuple[str, ...] = ()
    together: bool = False
    settle_seconds: float = 600.0
    program: tuple[str, ...] = PROGRAM

    @property
    def size(self) -> Size:
        """Size of the world that this takes."""
        settle = self.settle_seconds
        if self.together:
            return Size(rate=self.rate, consumers=3, partitions=12, brief=True, settle_seconds=settle)
        return Size(rate=self.rate, settle_seconds=settle)


@dataclass(slots=True)
class Outcome:
    """Outcome of one class of faults.

    Attributes:
        times: how often it happened.
        recovery_seconds: from its end, of faults at once from the last one's, until everything acknowledged by then was
            in the graph; one for each time.
        not_here: why it can't be made on this machine.
        shown: what showed that it happened, each time.
    """

    times: int = 0
    recovery_seconds: list[float] = field(default_factory=list)
    not_here: str | None = None
    shown: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Findings:
    """Everything seen so far."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    memory: MemoryWatch = field(default_factory=MemoryWatch)
    verdict: Verdict | None = None
    failure: str | None = None
    seconds: float = 0.0

    @property
    def faults(self) -> int:
        """Number of faults that happened."""
        return sum(outcome.times for outcome in self.outcomes.values())


@dataclass(frozen=True, slots=True)
class _Happened:
    """Outcome of one fault: its trace, or why it can't be made on this machine."""

    shown: str = ""
    not_here: str | None = None


class Watcher(Protocol):
    """Receives the progress of a soak."""

    def now(self, what: str, seconds: float) -> None:
        """Report what is happening, and for how long the soak has run."""

    def over(self, what: str) -> None:
        """A fault is over, and this came of it."""


def soak(options: Options, watcher: Watcher) -> dict[str, Any]:
    """Run it; the report.

    Raises:
        HeadwaterError: the servers don't come up.
    """
    found = Findings()
    watcher.now("starting Kafka, Neo4j and consumers", 0.0)
    with (
        World(options.seed, options.size, options.program) as world,
        found.memory.running(lambda: world.processes),
    ):
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
        if _over_by_now(options, seconds, found.faults):
            break
        watcher.now(turn.name, seconds)
        world.feed.resume()
        world.hold(dice, 1, 4)
        try:
            (_all_at_once if turn.at_once else _one_after_another)(turn.faults, world, dice, found, watcher)
            found.verdict = world.verify()
        except HeadwaterError as error:
            raise CheckFailedError(f"{turn.name}: {error}") from error
        watcher.over(
            f"{time.monotonic() - began:.0f} s: {found.verdict.acknowledged:,} records, "
            f"{found.verdict.comparison.equal:,} nodes and relationships as they should be"
        )
    if found.faults < options.least_faults:
        raise CheckFailedError(f"{found.faults} faults happened, and {options.least_faults} should have.")


def _over_by_now(options: Options, seconds: float, faults: int) -> bool:
    if options.seconds is None:
        return False
    enough = faults >= options.least_faults
    return seconds >= options.seconds and (enough or seconds >= options.seconds * _LONGEST)


def _one_after_another(
    faults: Sequence[Fault], world: World, dice: random.Random, found: Findings, watcher: Watcher
) -> None:
    for fault in faults:
        if fault.destroys:
            world.verify()
        happened = _happen(fault, world, _own(dice))
        world.feed.resume()
        _over(fault, found, watcher, happened, 0.0 if happened.not_here else world.recover())


def _all_at_once(faults: Sequence[Fault], world: World, dice: random.Random, found: Findings, watcher: Watcher) -> None:
    with ThreadPoolExecutor(len(faults)) as threads:
        happening = [threads.submit(_happen, fault, world, _own(dice)) for fault in faults]
    outcomes = [fault.result() for fault in happening]
    recovery = world.recover()
    for fault, happened in zip(faults, outcomes, strict=True):
        _over(fault, found, watcher, happened, recovery)


def _own(dice: random.Random) -> random.Random:
    """A fault's own dice, so that what it throws doesn't depend on what happens beside it."""
    return random.Random(dice.getrandbits(64))  # noqa: S311  no secret


def _shown(fault: Fault, world: World, dice: random.Random) -> str:
    """Inject a fault and return its trace. Faults that depend on chance (a consumer's locks) are tried again."""
    for _ in range(_TRIES - 1):
        with contextlib.suppress(NoTraceError):
            return fault.happen(world, dice)
    return fault.happen(world, dice)


def _happen(fault: Fault, world: World, dice: random.Random) -> _Happened:
    try:
        shown = _shown(fault, world, dice)
    except NotPossibleError as error:
        return _Happened(not_here=str(error))
    except HeadwaterError as error:
        raise CheckFailedError(f"{fault.name}: {error}") from error
    if not shown:
        raise CheckFailedError(f"{fault.name}: nothing shows that it happened.")
    return _Happened(shown)


def _over(fault: Fault, found: Findings, watcher: Watcher, happened: _Happened, recovery_seconds: float) -> None:
    """It is over: recovered from after so many seconds, or not possible here."""
    outcome = found.outcomes.setdefault(fault.name, Outcome())
    if happened.not_here is not None:
        outcome.not_here = happened.not_here
        watcher.over(f"{fault.name}: not here: {happened.not_here}")
        return
    outcome.times += 1
    outcome.recovery_seconds.append(recovery_seconds)
    outcome.shown.append(happened.shown)
    watcher.over(f"{fault.name}: {happened.shown}; recovered after {recovery_seconds:.1f} s")


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
                "least_faults": options.least_faults,
                "seed": options.seed,
                "rate": options.rate,
                "only": options.only,
                "together": options.together,
            },
            environment={},
            measurements=[_measured(name, outcome) for name, outcome in sorted(found.outcomes.items())],
            goals=[
                Goal("longest recovery, s", round(max(recoveries), 1) if recoveries else None, RECOVERY_GOAL_SECONDS),
                Goal(
                    "memory of a consumer, peak MB",
                    round(found.memory.peak_mb, 1) if found.memory.peaks else None,
                    MEMORY_GOAL_MB,
                ),
            ],
        ),
        "seconds": round(found.seconds, 1),
        "faults": found.faults,
        "least_faults": options.least_faults,
        "failure": found.failure,
        "acknowledged": verdict.acknowledged if verdict else 0,
        "dead_lettered": verdict.bad if verdict else 0,
        "compared": verdict.comparison.equal if verdict else 0,
        "memory_mb": {
            "peak": round(found.memory.peak_mb, 1),
            "peaks": {name: round(mb, 1) for name, mb in found.memory.peaks.items()},
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
        "shown": outcome.shown,
        "recovery_seconds": None
        if not seconds
        else {
            "median": round(statistics.median(seconds), 1),
            "minimum": round(min(seconds), 1),
            "maximum": round(max(seconds), 1),
        },
    }
