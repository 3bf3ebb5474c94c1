"""Views of repair plans: steps in order, each with its facts, and its commands to paste."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.console import shortened
from headwater.lean_imports import without
from headwater.show.declared import consumers_table
from headwater.show.names import moment_text, short_version
from headwater.show.pages import FittedView
from headwater.show.trace import CERTAINTY_STYLES, part_text
from headwater_schemas.events import Certainty
from headwater_schemas.ranges import batches_text
from headwater_schemas.visible import visible

with without("numpy", "pandas"):
    from headwater_analysis.amounts import amount, first_of
    from headwater_analysis.incidents.planning.planned import (
        IncidentPlan,
        KafkaRange,
        Overwrite,
        QueryReplay,
        RepairStep,
    )

_MOST: Final = 10
_LONGEST: Final = 600


def plan_view(found: IncidentPlan) -> RenderableType:
    """View of a plan: steps in order, then queries that may still spread bad data, and unknown facts."""
    title = Text.assemble((shortened(found.incident), "bold"), f"  {shortened(found.title or '')}")
    parts: list[RenderableType] = [title]
    for step in found.steps:
        parts += ["", _title(step)]
        if step.consumers:
            parts.append(FittedView(consumers_table(step.consumers)))
        parts += [Text("    ").append_text(fact) for fact in _facts(step)]
    for heading, lines in (("May still spread", found.spreading), ("Not known", found.not_known)):
        if lines:
            parts += ["", Text(heading, style="bold"), *map(_line, lines)]
    return Group(*parts)


def plan_summary(found: IncidentPlan) -> str:
    """Last line of a plan: number of steps, and whether more may be left to repair."""
    unknown = f"; not known: {', '.join(map(shortened, found.unknown))}" if found.unknown else ""
    spreading = f"; {amount(len(found.spreading), 'query', 'queries')} may still spread" if found.spreading else ""
    clean = f", {amount(found.clean_again, 'step')} of the reach clean again" if found.clean_again else ""
    if found.nothing_left:
        return f"Nothing is left to repair{clean}."
    if not found.steps:
        return f"No known bad data is left to repair{clean}{unknown}{spreading}."
    return f"Plan of {amount(len(found.steps), 'step')}{clean}{unknown}{spreading}."


def _title(step: RepairStep) -> Text:
    text = Text(f"{step.number}. {step.kind.value}", style="bold").append(
        f"  {shortened(step.title)}", style="not bold"
    )
    if step.certainty is not Certainty.EXACT:
        text.append(f"  {step.certainty.value}", style=CERTAINTY_STYLES[step.certainty])
    if step.after:
        text.append(f"  after {', '.join(map(str, step.after))}", style="dim")
    return text


def _facts(step: RepairStep) -> Iterator[Text]:
    """Lines of a step. The console doesn't wrap these lines, so that commands can be pasted."""
    if step.runs:
        yield Text(_runs(step))
    if step.good_code_version is not None:
        yield Text(f"last good code: {short_version(step.good_code_version)}")
    for heading, listed in (("reads", step.inputs), ("leave out", step.skip), ("bad", step.outputs)):
        for part in listed[:_MOST]:
            yield Text(f"{heading}: ").append_text(part_text(part))
        yield from _more(len(listed))
    for each in step.overwrite:
        yield Text(_overwrite(each))
    if step.query is not None:
        yield from _replay(step.query)
    yield from map(_line, step.notes)
    for statement in step.sql:
        yield Text(f"SQL: {visible(statement)}", style="cyan")
    for command in (*step.commands, *step.file_commands):
        yield Text(f"$ {visible(command)}", style="cyan")


def _runs(step: RepairStep) -> str:
    named = [
        shortened(run.run_id) + (f" (code {short_version(run.code_version)})" if run.code_version else "")
        for run in step.runs
    ]
    return f"run{'s' * (len(step.runs) != 1)}: {first_of(named, _MOST)}"


def _overwrite(each: Overwrite) -> str:
    where = first_of([shortened(partition) for partition in each.partitions], _MOST) or "all of it"
    return f"write again: {shortened(each.dataset.spelling)}  {where}. {shortened(each.why, _LONGEST)}"


def _replay(replay: QueryReplay) -> Iterator[Text]:
    yield Text(f"checkpoint: {visible(replay.checkpoint) if replay.checkpoint else 'not known'}")
    for each in replay.batches[:_MOST]:
        yield Text(f"{batches_text(each.first_batch, each.last_batch)}:")
        for part in each.inputs:
            yield Text("  reads: ").append_text(part_text(part))
        yield from _options(each.kafka)
    yield from _more(len(replay.batches))
    if (earlier := replay.earlier) is not None:
        begin = "" if earlier.event_time is None else f", event time from {moment_text(earlier.event_time)}"
        yield Text(f"earlier input for its state{begin}: {shortened(earlier.why, _LONGEST)}")
        yield from _options(earlier.kafka)


def _options(ranges: tuple[KafkaRange, ...]) -> Iterator[Text]:
    for each in ranges:
        yield Text(f"  assign: {visible(each.assign)}")
        yield Text(f"  startingOffsets: {visible(each.starting_offsets)}")
        yield Text(f"  endingOffsets: {visible(each.ending_offsets)}")


def _more(number: int) -> Iterator[Text]:
    if number > _MOST:
        yield Text(f"… and {number - _MOST:,} more; --json lists all", style="dim")


def _line(text: str) -> Text:
    return Text(shortened(text, _LONGEST))
