"""Checks of a demo's result. Every check is a function of the facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headwater.demo.broken import broken_records
from headwater.demo.facts import Facts, Range


@dataclass(frozen=True, slots=True)
class DemoCheck:
    """One claim.

    Attributes:
        problems: Reasons why it doesn't hold; empty if it holds.
    """

    claim: str
    problems: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if the check passed."""
        return not self.problems


def all_checks(facts: Facts) -> tuple[DemoCheck, ...]:
    """Every check, in the order in which they are shown."""
    return (
        events_are_accounted_for(facts),
        broken_records_are_dead_letters(facts),
        chains_are_whole(facts),
        micro_batches_have_intervals(facts),
        offsets_are_covered(facts),
        runs_are_complete(facts),
        report_is_traceable(facts),
    )


def events_are_accounted_for(facts: Facts) -> DemoCheck:
    """Check that acknowledged = applied + dead-lettered."""
    left = facts.acknowledged - facts.applied - facts.dead_lettered
    problems = []
    if left:
        problems.append(
            f"of {facts.acknowledged} acknowledged events {facts.applied} were applied and "
            f"{facts.dead_lettered} dead-lettered, which leaves {left}"
        )
    if not facts.applied:
        problems.append("no event was applied")
    return DemoCheck("every acknowledged event is applied or dead-lettered", tuple(problems))


def broken_records_are_dead_letters(facts: Facts) -> DemoCheck:
    """Check that the dead letters have exactly the reasons of the demo's broken records."""
    expected = sorted(record.reason for record in broken_records())
    found = sorted(letter.reason for letter in facts.dead_letters)
    problems = []
    if found != expected:
        problems.append(f"the dead letters have these reasons: {_listed(found)}; expected: {_listed(expected)}")
    return DemoCheck("the dead letters are the three broken records", tuple(problems))


def chains_are_whole(facts: Facts) -> DemoCheck:
    """Check that no query's chain of intervals has a gap or an overlap."""
    problems = []
    for query, chain in facts.chains.items():
        if not chain.intervals:
            problems.append(f"query {query} has no interval")
        found = {"gaps": chain.gaps, "overlaps": chain.overlaps, "conflicting reports": chain.conflicts}
        problems += [f"query {query} has {count} {what}" for what, count in found.items() if count]
    return DemoCheck("no chain of intervals has a gap or an overlap", tuple(problems))


def micro_batches_have_intervals(facts: Facts) -> DemoCheck:
    """Check that each query has as many intervals as its checkpoint has commits: a chain without gaps may end early."""
    problems = [
        f"query {query} committed {committed} micro-batches, but has {count} intervals"
        for query, committed in facts.committed_batches.items()
        if (count := facts.chains[query].intervals if query in facts.chains else 0) != committed
    ]
    return DemoCheck("every committed micro-batch has its interval", tuple(problems))


def offsets_are_covered(facts: Facts) -> DemoCheck:
    """Check that query 1's intervals consumed exactly `[0, end)` of every partition of flights.departed."""
    problems = []
    for partition, end in sorted(facts.departed_ends.items()):
        problems += [
            f"partition {partition}: {problem}" for problem in uncovered(facts.consumed.get(partition, ()), end)
        ]
    unknown = sorted(set(facts.consumed) - set(facts.departed_ends))
    problems += [f"partition {partition} does not exist, but was consumed" for partition in unknown]
    if not sum(facts.departed_ends.values()):
        problems.append("flights.departed is empty")
    return DemoCheck("query 1's intervals consumed exactly [0, end) of flights.departed", tuple(problems))


def uncovered(ranges: Iterable[Range], end: int) -> list[str]:
    """List the faults of half-open ranges that should cover `[0, end)`, each offset once."""
    problems = []
    reached = 0
    for start, stop in sorted(part for part in ranges if part[0] != part[1]):
        if start > reached:
            problems.append(f"offsets [{reached}, {start}) were not consumed")
        elif start < reached:
            problems.append(f"offsets [{start}, {min(stop, reached)}) were consumed twice")
        reached = max(reached, stop)
    if reached < end:
        problems.append(f"offsets [{reached}, {end}) were not consumed")
    elif reached > end:
        problems.append(f"consumed up to {reached}, but the partition ends at {end}")
    return problems


def runs_are_complete(facts: Facts) -> DemoCheck:
    """Check that every run is COMPLETE, because all jobs of the demo have succeeded."""
    problems = [f"{run} is {state}" for run, state in sorted(facts.runs.items()) if state != "COMPLETE"]
    if not facts.runs:
        problems.append("the graph has no run")
    return DemoCheck("every run is COMPLETE", tuple(problems))


def report_is_traceable(facts: Facts) -> DemoCheck:
    """Check that each column of the daily report can be traced to flights.departed (`ColumnGraph.untraceable`)."""
    problems = []
    if not facts.report_columns:
        problems.append("the graph has no column of the daily report")
    if facts.untraceable_columns:
        problems.append(f"no way back from {_listed(facts.untraceable_columns)}")
    return DemoCheck("every column of the daily report can be traced to flights.departed", tuple(problems))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "nothing"
