"""Soak: faults in turns while events flow; after each turn the graph must match the events.

By default, each fault is a separate turn. With `together`, faults share turns, so that all classes need only minutes:

    events still flow   several faults at once: each has its own consumers or links, and none hides another
    events stop         one fault after another, with a recovery after each, and one comparison at the end of the turn

A loss stays visible until the comparison: an event whose offset is committed is never read again, and a missing dead
letter isn't written later.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from headwater.errors import CheckFailedError, HeadwaterError
from headwater_benchmarks.processes import PROGRAM
from headwater_benchmarks.report import Goal, report, spread
from headwater_benchmarks.soak.faults import FAULTS, Fault, NotPossibleError, NoTraceError
from headwater_benchmarks.soak.world import World

FAULTS_PER_MINUTE = 4
"""Number of faults per minute that a soak injects on an idle machine: 480 in two hours."""
_RECOVERY_GOAL_SECONDS, _MEMORY_GOAL_MB = 60.0, 250.0
_LONGEST = 2.0
"""Multiple of the requested duration after which a soak ends even if it has had too few faults."""
_TRIES = 3
"""Number of times that a fault is tried before the soak fails, if there is no evidence that the fault happened."""
_AT_ONCE = 5
"""Maximum number of concurrent faults. Faults of consumers start up to three processes each; two cores must suffice."""
_IN_A_ROW = 5
"""Number of faults between two comparisons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoakOptions:
    """Options of the soak.

    Attributes:
        seconds: minimum duration; None: every class of faults once.
        least_faults: minimum number of faults. The soak continues until it is reached, for twice `seconds` at most, and
            then fails if there were fewer faults.
        seed: seed of the events and of the order of faults. Timing depends on the machine.
        only: names of the faults to choose from; empty: all faults.
        together: whether faults share a turn, and last no longer than necessary.
        settle_seconds: maximum time of a recovery.
        program: Python arguments that run `headwater` for the group's members.
    """

    seconds: float | None
    least_faults: int = 0
    seed: int = 1
    rate: float = 40.0
    only: tuple[str, ...] = ()
    together: bool = False
    settle_seconds: float = 600.0
    program: tuple[str, ...] = PROGRAM


@dataclass(slots=True)
class FaultOutcome:
    """Outcome of one class of faults.

    Attributes:
        recovery_seconds: for each occurrence, time from the end of the fault until the group had committed all records
            acknowledged by then. For faults at the same time, the time begins with the end of the last fault.
        shown: evidence of each occurrence.
        not_here: reason why the fault isn't possible on this machine; None if it is possible.
    """

    recovery_seconds: list[float] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    not_here: str | None = None

    def document(self, name: str) -> dict[str, Any]:
        """Document for the report."""
        seconds = self.recovery_seconds
        return {
            "name": name,
            "times": len(self.shown),
            "not_here": self.not_here,
            "shown": self.shown,
            "recovery_seconds": spread(seconds, 1) if seconds else None,
        }


@dataclass(slots=True)
class _Soak:
    """A running soak."""

    options: SoakOptions
    report_line: Callable[[str], object]
    outcomes: dict[str, FaultOutcome] = field(default_factory=dict)
    verified: dict[str, int] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)

    @property
    def faults(self) -> int:
        """Number of faults that happened."""
        return sum(len(outcome.shown) for outcome in self.outcomes.values())

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self.began

    def run(self, world: World) -> None:
        """Run turns until the soak is over.

        Raises:
            HeadwaterError: a condition is violated, or a fault left no evidence.
        """
        dice = random.Random(self.options.seed)  # noqa: S311  no secret
        self.began = time.monotonic()
        world.warm_up()
        for at_once, faults in _turns(self.options, dice):
            if self._over():
                break
            name = (" + " if at_once else ", ").join(fault.name for fault in faults)
            world.feed.resume()
            world.hold(dice, 1, 4)
            try:
                (self._all_at_once if at_once else self._one_after_another)(faults, world, dice)
                self.verified = world.verify()
            except HeadwaterError as error:
                raise CheckFailedError(f"{name}: {error}") from error
            self.report_line(
                f"{self.seconds:.0f} s: {self.verified['acknowledged']:,} records, {self.verified['compared']:,} nodes "
                "and relationships as expected"
            )
        if self.faults < self.options.least_faults:
            raise CheckFailedError(f"{self.faults} faults happened, fewer than {self.options.least_faults}.")

    def _over(self) -> bool:
        if self.options.seconds is None:
            return False
        enough = self.faults >= self.options.least_faults
        return self.seconds >= self.options.seconds * (1 if enough else _LONGEST)

    def _one_after_another(self, faults: Sequence[Fault], world: World, dice: random.Random) -> None:
        for fault in faults:
            if fault.destroys:
                world.verify()
            shown = _happen(fault, world, _own(dice))
            world.feed.resume()
            self._note(fault, shown, 0.0 if isinstance(shown, NotPossibleError) else world.recover())

    def _all_at_once(self, faults: Sequence[Fault], world: World, dice: random.Random) -> None:
        with ThreadPoolExecutor(len(faults)) as threads:
            happening = [threads.submit(_happen, fault, world, _own(dice)) for fault in faults]
        shown = [fault.result() for fault in happening]
        recovery = world.recover()
        for fault, each in zip(faults, shown, strict=True):
            self._note(fault, each, recovery)

    def _note(self, fault: Fault, shown: str | NotPossibleError, recovery_seconds: float) -> None:
        outcome = self.outcomes.setdefault(fault.name, FaultOutcome())
        if isinstance(shown, NotPossibleError):
            outcome.not_here = str(shown)
            self.report_line(f"{fault.name}: not possible here: {shown}")
            return
        outcome.recovery_seconds.append(recovery_seconds)
        outcome.shown.append(shown)
        self.report_line(f"{fault.name}: {shown}; recovered after {recovery_seconds:.1f} s")


def soak(options: SoakOptions, report_line: Callable[[str], object] = lambda _: None) -> dict[str, Any]:
    """Run the soak; return the report, whose `failure` names the violated condition.

    Args:
        report_line: called with a line of text for each fault and comparison.

    Raises:
        HeadwaterError: the servers don't start.
    """
    running, failure = _Soak(options, report_line), None
    world = World(
        options.seed,
        rate=options.rate,
        together=options.together,
        settle_seconds=options.settle_seconds,
        program=options.program,
    )
    with world:
        try:
            running.run(world)
        except HeadwaterError as error:
            failure = str(error)
        seconds = running.seconds
    recoveries = [each for outcome in running.outcomes.values() for each in outcome.recovery_seconds]
    peak = max(world.peaks.values(), default=None)
    names = ("seconds", "least_faults", "seed", "rate", "only", "together")
    return {
        **report(
            "soak",
            options={name: getattr(options, name) for name in names},
            measurements=[outcome.document(name) for name, outcome in sorted(running.outcomes.items())],
            goals=[
                Goal("longest recovery, s", round(max(recoveries), 1) if recoveries else None, _RECOVERY_GOAL_SECONDS),
                Goal("memory of a consumer, peak MB", None if peak is None else round(peak, 1), _MEMORY_GOAL_MB),
            ],
        ),
        "seconds": round(seconds, 1),
        "faults": running.faults,
        "least_faults": options.least_faults,
        "failure": failure,
        **(running.verified or {"acknowledged": 0, "dead_lettered": 0, "compared": 0}),
        "memory_mb": {
            "peak": None if peak is None else round(peak, 1),
            "peaks": {name: round(mb, 1) for name, mb in world.peaks.items()},
        },
    }


def _happen(fault: Fault, world: World, dice: random.Random) -> str | NotPossibleError:
    """Inject a fault; return the evidence. Without evidence, the fault is tried again: some depend on chance."""
    for tries_left in range(_TRIES)[::-1]:
        try:
            if shown := fault.happen(world, dice):
                return shown
            raise NoTraceError("There is no evidence that the fault happened.")
        except NotPossibleError as error:
            return error
        except HeadwaterError as error:
            if not (tries_left and isinstance(error, NoTraceError)):
                raise CheckFailedError(f"{fault.name}: {error}") from error
    raise AssertionError


def _own(dice: random.Random) -> random.Random:
    """Make a separate random generator for a fault, so that its choices don't depend on concurrent faults."""
    return random.Random(dice.getrandbits(64))  # noqa: S311  no secret


def _turns(options: SoakOptions, dice: random.Random) -> Iterator[tuple[bool, tuple[Fault, ...]]]:
    """Yield turns with every class of faults once, then again in another order; only once if no duration is given."""
    chosen = [fault for fault in FAULTS if not options.only or fault.name in options.only]
    while True:
        yield from together(chosen, dice) if options.together else one_by_one(chosen, dice)
        if options.seconds is None:
            return


def one_by_one(faults: Sequence[Fault], dice: random.Random) -> Iterator[tuple[bool, tuple[Fault, ...]]]:
    """Yield a turn for each fault, in random order: a pair of False (not at once) and a tuple with the fault."""
    for fault in dice.sample(faults, len(faults)):
        yield False, (fault,)


def together(faults: Sequence[Fault], dice: random.Random) -> Iterator[tuple[bool, tuple[Fault, ...]]]:
    """Yield a few turns with all faults: pairs of whether the faults of a turn happen at once, and these faults."""
    chosen = dice.sample(faults, len(faults))
    turns = [(True, group) for group in _groups([fault for fault in chosen if fault.flows], _AT_ONCE)]
    turns += [(False, group) for group in _groups([fault for fault in chosen if not fault.flows], _IN_A_ROW)]
    yield from dice.sample(turns, len(turns))


def _groups(faults: Sequence[Fault], most: int) -> Iterator[tuple[Fault, ...]]:
    """Split the faults into as few groups as possible, of similar size."""
    count = -(-len(faults) // most)
    for number in range(count):
        yield tuple(faults[number::count])
