"""Coverage of the dry runs, for the answer: requests for rows, which a dry run lacks, and code that didn't run.

A script that asks for rows runs once without rows and once with a made-up row. Code that ran in neither run must be
identical in both versions, or the verdict is UNKNOWN.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from headwater_review.jobs.version import JobProblem, JobVersion, Unrun

_MOST_PLACES = 5
_MOST_RANGES = 8
_NAME = re.compile(r"[^\W\d]\w*")


def judged_with_rows(old: JobVersion, new: JobVersion) -> tuple[JobVersion, JobVersion]:
    """Drop problems of the run without rows that both versions share and that don't occur with a row.

    `df.agg(max("id")).first()[0] + 1` fails on an empty table in both versions: this isn't a difference.
    """
    both = [version.with_rows for version in (old, new)]
    if old.problems and new.problems and all(each is not None and each.complete and not each.stopped for each in both):
        return replace(old, problems=(), fails=old.problems), replace(new, problems=(), fails=new.problems)
    return old, new


def problems_of_runs(old: JobVersion, new: JobVersion, *, differs: bool) -> Iterator[JobProblem]:
    """Reasons why comparing the parts that ran isn't enough.

    Args:
        old: current version.
        differs: whether any difference was found.
    """
    failed = [*old.problems, *new.problems]
    for version in (old, new):
        with_rows = version.with_rows
        for each in () if with_rows is None else with_rows.problems:
            failed.append(each)
            yield JobProblem(version.script, f"In the run with made-up rows: {each.text}", each.fix)
    if old.with_rows is not None and new.with_rows is not None and old.with_rows.stopped != new.with_rows.stopped:
        version = old if old.with_rows.stopped else new
        yield JobProblem(
            version.script,
            "In the run with made-up rows, the script ends itself before its last line, and the other version doesn't.",
            "Review by hand what the script does if there are rows.",
        )
    # Code after a failure didn't run, either.
    if failed or not (old.looks or new.looks):
        return
    differing = list(_differing(old, new))
    for version, lines in differing:
        yield JobProblem(
            version.script,
            f"These lines differ, but ran neither without rows nor with a made-up row: {_ranges(lines)}.",
            "Review them by hand, make the script run them with one row of ones, or give it arguments after --.",
        )
    if not differing and not differs:
        fed = _names_that_differ(old, new)
        lines = [each for each in _unrun_in_called_functions(new) if not fed.isdisjoint(_NAME.findall(each.text))]
        if lines:
            used = sorted(fed.intersection(name for each in lines for name in _NAME.findall(each.text)))
            yield JobProblem(
                new.script,
                "Nothing differs in the lines that ran. But lines that ran in neither run use names whose values may "
                f"differ ({', '.join(used[:_MOST_PLACES])}): {_ranges(lines)}.",
                "Review these lines by hand, or make the script run them with one row of ones.",
            )


def _unrun_in_called_functions(version: JobVersion) -> list[Unrun]:
    """Unrun lines of functions that were called, except error handlers."""
    return [each for each in version.unrun if each.begun and not each.handler]


def _names_that_differ(old: JobVersion, new: JobVersion) -> set[str]:
    """Names whose value may differ, because a statement that sets them differs."""
    before, after = (Counter(each.text for each in version.statements) for version in (old, new))
    changed = (before - after) + (after - before)
    differing = {name for each in (*old.statements, *new.statements) if each.text in changed for name in each.sets}
    grows = bool(differing)
    while grows:
        further = {name for each in new.statements if not differing.isdisjoint(each.uses) for name in each.sets}
        grows = not further <= differing
        differing |= further
    return differing


def notes_of_runs(old: JobVersion, new: JobVersion) -> Iterator[str]:
    """Notes on the parts that ran, for the reader."""
    runs = [each for version in (old, new) for each in (version, version.with_rows) if each is not None]
    # Code after a failure didn't run, either.
    through = not any(each.problems for each in runs)
    if through:
        for version, lines in _differing(old, new, handlers=True):
            yield f"{version.script} handles errors differently, which isn't reviewed: {_ranges(lines)}."
    asking = new if new.looks else old
    if not asking.looks:
        for version, lines in _differing(old, new) if through else ():
            yield f"Lines of {version.script} that didn't run differ, which isn't reviewed: {_ranges(lines)}."
        return
    more = f" and {len(asking.looks) - _MOST_PLACES:,} more" if len(asking.looks) > _MOST_PLACES else ""
    for each in asking.fails[:_MOST_PLACES]:
        yield f"Without rows both versions fail: {each.text}"
    asks = f"{asking.script} asks for rows ({', '.join(asking.looks[:_MOST_PLACES])}{more}), and a dry run has none"
    if asking.with_rows is None:
        yield f"{asks}."
        return
    yield f"{asks}: both versions ran once without rows, and once with made-up rows."
    unrun = _unrun_in_called_functions(asking)
    if unrun:
        yield f"Lines that ran in neither run aren't reviewed: {_ranges(unrun)}."


def _differing(old: JobVersion, new: JobVersion, *, handlers: bool = False) -> Iterator[tuple[JobVersion, list[Unrun]]]:
    """Unrun lines that only one version has: lines in exception handlers, or all other lines."""
    for version, other in ((old, new), (new, old)):
        alone = Counter(each.text for each in version.unrun) - Counter(each.text for each in other.unrun)
        found = [each for each in version.unrun if alone[each.text] and each.handler is handlers]
        if found:
            yield version, found


def _ranges(lines: Iterable[Unrun]) -> str:
    """Format lines as `lines 3 to 5 and 9 of job.py`."""
    texts: list[str] = []
    for file, some in groupby(sorted({(each.file, each.line) for each in lines}), key=lambda each: each[0]):
        numbers = [line for _, line in some]
        parts = [f"{first:,} to {last:,}" if last > first else f"{first:,}" for first, last in _runs(numbers)]
        word = "line" if len(numbers) == 1 else "lines"
        shown, left = parts[:_MOST_RANGES], len(parts) - _MOST_RANGES
        more = f" and {left:,} more" if left > 0 else ""
        texts.append(f"{word} {', '.join(shown)}{more} of {file}")
    return "; ".join(texts)


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    first = last = numbers[0]
    for each in numbers[1:]:
        if each > last + 1:
            yield first, last
            first = each
        last = each
    yield first, last
