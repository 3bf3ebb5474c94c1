"""Options that name one part with bad data, for every command that takes a part.

    @with_part
    def command(incident: …, *, part: GivenPart, reason: … = None) -> None: …

Typer gets the function without `part`, with the options of `_OPTIONS` added.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any, Final

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

_OPTIONS: Final[dict[str, tuple[Any, Any]]] = {
    "dataset": (
        Annotated[
            str | None,
            typer.Option("--dataset", help="A dataset.", autocompletion=complete_dataset, show_default=False),
        ],
        None,
    ),
    "column": (Annotated[str | None, typer.Option("--column", help="Of --dataset: a column.")], None),
    "partition": (
        Annotated[str | None, typer.Option("--partition", help="Of --dataset: partitions, day=2025-01-31/hour=3.")],
        None,
    ),
    "offsets": (
        Annotated[
            list[str] | None,
            typer.Option(
                "--offsets", help=f"Of --dataset, a topic: 0:120..130. {RANGES_HELP} Repeatable.", show_default=False
            ),
        ],
        None,
    ),
    "file": (
        Annotated[
            list[str] | None, typer.Option("--file", help="Of --dataset: a file. Repeatable.", show_default=False)
        ],
        None,
    ),
    "version": (Annotated[str | None, typer.Option("--version", help="Of --dataset: a version.")], None),
    "job": (Annotated[str | None, typer.Option("--job", help="All runs of a job.")], None),
    "code_version": (
        Annotated[str | None, typer.Option("--code-version", help="Of --job: only runs of this version of its code.")],
        None,
    ),
    "run": (Annotated[str | None, typer.Option("--run", help="A run: its id, or the beginning of it.")], None),
    "query": (Annotated[str | None, typer.Option("--query", help="A streaming query: its name or id.")], None),
    "batches": (
        Annotated[str | None, typer.Option("--batches", help="Of --query: 12; or 12..15, which is 12 to 14.")],
        None,
    ),
    "consumer": (Annotated[str | None, typer.Option("--consumer", help="A declared consumer.")], None),
    "since": (
        Annotated[
            str | None,
            typer.Option("--since", metavar="TIME", help="Only what was processed at this time or later."),
        ],
        None,
    ),
    "until": (
        Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only what was processed before.")],
        None,
    ),
    "event_time": (
        Annotated[bool, typer.Option("--event-time", help="--since and --until are event times of the records.")],
        False,
    ),
    "since_last_good": (
        Annotated[bool, typer.Option("--since-last-good", help="Everything since the last run known to be good.")],
        False,
    ),
}
"""Name of an option's value ⇒ its declaration and default."""

_SPELLED: Final = {"files": "file", "from_batch": "batches", "to_batch": "batches", "clock": "event-time"}
"""Field of a part ⇒ its option, where that isn't the field's name."""


def with_part(function: Callable[..., None]) -> Callable[..., None]:
    """Decorator of a command that takes one part with bad data, as `part`, from the options of a part."""

    def command(**given: Any) -> None:
        chosen = {name: given.pop(name) for name in _OPTIONS}
        function(part=given_part(**chosen), **given)

    signature = inspect.signature(function, eval_str=True)
    own = [each for each in signature.parameters.values() if each.name != "part"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=option)
        for name, (option, default) in _OPTIONS.items()
    ]
    arguments = [each for each in own if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    options = [each for each in own if each.kind is inspect.Parameter.KEYWORD_ONLY]
    parameters = [*arguments, *added, *options]
    # Attributes of a function that Typer reads.
    command.__signature__ = signature.replace(parameters=parameters, return_annotation=None)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__doc__, command.__name__ = function.__doc__, function.__name__
    return command


def given_part(
    *,
    offsets: list[str] | None = None,
    file: list[str] | None = None,
    batches: str | None = None,
    since: str | None = None,
    until: str | None = None,
    event_time: bool = False,
    since_last_good: bool = False,
    **named: str | None,
) -> GivenPart:
    """Build a part from the options as typed; `named` are those that a part has as they are.

    Raises:
        typer.BadParameter: no subject or several, or an option that can't be read; with how to write it.
    """
    if sum(named.get(subject) is not None for subject in SUBJECTS) != 1:
        raise typer.BadParameter(_NAME_ONE)
    begin, end = time_if_given(since), time_if_given(until)
    if event_time and begin is None and end is None:
        raise typer.BadParameter("It goes with --since or --until.", param_hint="--event-time")
    clock = IncidentClock.EVENT if event_time else IncidentClock.PROCESSING
    first, last = (None, None) if batches is None else _batches(batches)
    return GivenPart(
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
    """First and last micro-batch, both included; None: no last one."""
    found = range_option(text, hint="--batches")
    return found.start, None if found.end is None else found.end - 1


def part_fault(error: QuestionError) -> str:
    """Format a fault of a part by the name of its option: `--partition: not of the form key=value/…`."""
    field = error.field or ""
    found = re.match(r"(?:scope|removed)\[\d+\]\.?(\w+)", field)
    if found is None:
        return str(error)
    option = _SPELLED.get(found[1], found[1].replace("_", "-"))
    return f"--{option}: {str(error).removeprefix(f'{field}: ')}"
