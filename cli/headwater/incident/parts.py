"""Options that name what has bad data, for every command that takes parts: one part, or one for each partition."""

from __future__ import annotations

import re
from dataclasses import replace
from inspect import Parameter
from typing import Any, Final

import typer

from headwater.console import shortened
from headwater.lean_imports import without
from headwater.options import complete_dataset
from headwater.times import time_if_given
from headwater.trace_options import RANGES_HELP, complete_path, range_option
from headwater_schemas.events import IncidentClock
from headwater_schemas.ranges import MOST_OFFSET

with without("numpy", "pandas"):
    from headwater_analysis.errors import QuestionError
    from headwater_analysis.incidents.answers import GivenPart
    from headwater_analysis.trace.traced_parts import OffsetSpan

SUBJECTS: Final = ("dataset", "job", "run", "query", "consumer")
_NAME_ONE: Final = "Name one thing with bad data: --dataset, --job, --run, --query or --consumer."


def _option(name: str, help_: str, annotation: Any = str | None, default: Any = None, **more: Any) -> Parameter:
    option = typer.Option(default, f"--{name.replace('_', '-')}", help=help_, show_default=False, **more)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=option, annotation=annotation)


_SEVERAL: Final = list[str] | None
PART_OPTIONS: Final = (
    _option("dataset", "A dataset.", autocompletion=complete_dataset),
    _option("column", "Of --dataset: a column."),
    _option("partition", "Of --dataset: partitions, day=2025-01-31/hour=3. Repeatable.", _SEVERAL),
    _option("offsets", f"Of --dataset, a topic: 0:120..130. {RANGES_HELP} Repeatable.", _SEVERAL),
    _option("file", "Of --dataset: a file. Repeatable.", _SEVERAL),
    _option("version", "Of --dataset: a version."),
    _option("job", "All runs of a job."),
    _option("code_version", "Of --job: only runs of this version of its code."),
    _option("run", "A run: its id, or the beginning of it."),
    _option("query", "A streaming query: its name or id."),
    _option("batches", "Of --query: 12; or 12..15, which is 12 to 14."),
    _option("consumer", "A declared consumer."),
    _option("since", "Only data that was processed at this time or later.", metavar="TIME"),
    _option("until", "Only data that was processed before this time.", metavar="TIME"),
    _option("event_time", "--since and --until are event times of records, not processing times.", bool, default=False),
    _option("since_last_good", "Everything since the last run known to be good.", bool, default=False),
)

_SPELLED: Final = {"files": "file", "from_batch": "batches", "to_batch": "batches", "clock": "event-time"}
"""Field of a part ⇒ its option, if the option has another name."""


def given_parts(
    *,
    partition: list[str] | None = None,
    offsets: list[str] | None = None,
    file: list[str] | None = None,
    batches: str | None = None,
    since: str | None = None,
    until: str | None = None,
    event_time: bool = False,
    since_last_good: bool = False,
    **named: str | None,
) -> tuple[GivenPart, ...]:
    """Build the parts that the options name, as typed: one, or one for each `partition`.

    Args:
        named: options that are fields of a part without a conversion.

    Raises:
        typer.BadParameter: there is no subject, or several, or an option is ill-formed; with the notation.
    """
    if sum(named.get(subject) is not None for subject in SUBJECTS) != 1:
        raise typer.BadParameter(_NAME_ONE)
    begin, end = time_if_given(since), time_if_given(until)
    if event_time and begin is None and end is None:
        raise typer.BadParameter("It goes with --since or --until.", param_hint="--event-time")
    clock = IncidentClock.EVENT if event_time else IncidentClock.PROCESSING
    first, last = (None, None) if batches is None else _batches(batches)
    part = GivenPart(
        **named,
        offsets=tuple(map(_span, offsets or ())),
        files=tuple(map(complete_path, file or ())),
        from_batch=first,
        to_batch=last,
        since=begin,
        until=end,
        clock=None if begin is None and end is None else clock,
        since_last_good=since_last_good,
    )
    return tuple(replace(part, partition=each) for each in dict.fromkeys(partition)) if partition else (part,)


def _span(text: str) -> OffsetSpan:
    if text.startswith("all:"):
        raise typer.BadParameter(
            f"{shortened(text)!r}: offsets are of one partition, 0:120..130; give --offsets for each of them, or leave "
            "it out for all records.",
            param_hint="--offsets",
        )
    found = range_option(text, of_partition=True, hint="--offsets")
    if found.partition is None:
        raise typer.BadParameter(
            f"{shortened(text)!r} names no partition: write 0:{shortened(text)}.", param_hint="--offsets"
        )
    return OffsetSpan(found.partition, found.start, MOST_OFFSET if found.end is None else found.end)


def _batches(text: str) -> tuple[int, int | None]:
    """First and last micro-batch, both inclusive; None: the range has no end."""
    found = range_option(text, hint="--batches")
    return found.start, None if found.end is None else found.end - 1


def part_fault(error: QuestionError) -> str:
    """Format an error of a part with the name of the option: `--partition: not of the form key=value/…`."""
    field = error.field or ""
    found = re.match(r"(?:scope|removed)\[\d+\]\.?(\w+)", field)
    if found is None:
        return str(error)
    option = _SPELLED.get(found[1], found[1].replace("_", "-"))
    return f"--{option}: {str(error).removeprefix(f'{field}: ')}"
