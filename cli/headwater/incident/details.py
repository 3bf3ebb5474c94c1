"""Views of the jobs and columns that a fault reached, and of the first bad and last good runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headwater.console import plain_table, shortened
from headwater.lean_imports import without
from headwater.show.batches import part_text
from headwater.show.names import asset_text, dataset_text, moment_text
from headwater.show.pages import FittedView
from headwater.show.trace import CERTAINTY_STYLES
from headwater_schemas.visible import visible

with without("numpy", "pandas"):
    from headwater_analysis.amounts import amount, first_of
    from headwater_analysis.incidents.answers import BadSince, IncidentReach, WritingStep
    from headwater_analysis.incidents.fault_effects import FaultEffect
    from headwater_analysis.owners import OwnerName

MOST_ROWS: Final = 200
_MOST_STEPS: Final = 4
LONGEST: Final = 600
_STYLES: Final = {
    FaultEffect.TAINTS: "red",
    FaultEffect.MAY_TAINT: "yellow",
    FaultEffect.DEGRADES: "cyan",
    FaultEffect.WARNS: "dim",
}


def titled(text: str) -> RenderableType:
    """Heading, with a blank line before it."""
    return Group("", Text(visible(text), style="bold"))


def owners_text(owners: Sequence[OwnerName]) -> Text:
    """Names of owners, a line each."""
    return Text("\n".join(shortened(owner.name) for owner in owners))


def job_parts(reach: IncidentReach, caveat: str) -> Iterator[RenderableType]:
    """Table of the jobs that bad data passed through. The heading has their number, and states what isn't known.

    Args:
        reach: the reach.
        caveat: as in `column_parts`.
    """
    unknown = f"not known: the job of {amount(reach.jobs_unknown, 'step')}" if reach.jobs_unknown else ""
    yield titled("; ".join(filter(None, (f"Jobs that bad data passed through: {len(reach.jobs):,}", unknown, caveat))))
    if not reach.jobs:
        return
    table = plain_table("hops", "job", "certainty", "owner", numbers=("hops",))
    for each in reach.jobs[:MOST_ROWS]:
        certainty = Text(each.certainty.value, style=CERTAINTY_STYLES[each.certainty])
        table.add_row(str(each.depth), asset_text(each.job), certainty, owners_text(each.owners))
    if len(reach.jobs) > MOST_ROWS:
        table.add_row("", f"… and {len(reach.jobs) - MOST_ROWS:,} more; --json lists all")
    yield FittedView(table)


def version_parts(reach: IncidentReach) -> Iterator[RenderableType]:
    """Table of the business versions that bad data was computed with."""
    found = reach.business_versions
    if not found:
        return
    yield titled(f"Business versions of the runs on the way: {len(found):,}")
    table = plain_table("reference data", "version", "in", "runs", numbers=("runs",))
    for each in found[:MOST_ROWS]:
        use = each.reference
        table.add_row(
            asset_text(use.dataset),
            Text("unknown version" if use.position is None else part_text(use)),
            Text(first_of([dataset_text(output) for output in each.outputs], _MOST_STEPS)),
            f"{each.runs:,}",
        )
    if len(found) > MOST_ROWS:
        table.add_row(f"… and {len(found) - MOST_ROWS:,} more; --json lists all")
    yield FittedView(table)


def column_parts(reach: IncidentReach, caveat: str) -> Iterator[RenderableType]:
    """Table of the columns that the fault reached. The heading has their number, and states what isn't known.

    Args:
        reach: the reach.
        caveat: unknown parts of the reach, as text; empty: everything else is known.
    """
    if reach.restricts:
        yield Text("Personal data may be in what it reached: restrict access, and consider SEV1.", style="bold red")
    if reach.all_columns is not None:
        if reach.tainted:
            yield titled(
                f"Columns: no part of the scope names a column, so all columns may be affected ({reach.all_columns})"
            )
        return
    unknown = [f"more may be in {amount(len(reach.columns_unknown), 'dataset')}"] if reach.columns_unknown else []
    unknown += ["a limit was reached"] if reach.columns_truncated else []
    unknown += [caveat] if caveat else []
    least = "at least " if unknown else ""
    yield titled("; ".join([f"Columns that the fault reached: {least}{len(reach.columns):,}", *unknown]))
    if reach.columns:
        yield FittedView(_columns_table(reach))
    if reach.columns_unknown:
        table = plain_table("more columns may be in", "why")
        for each in reach.columns_unknown[:MOST_ROWS]:
            table.add_row(asset_text(each.dataset), Text(shortened(each.why, LONGEST)))
        if len(reach.columns_unknown) > MOST_ROWS:
            table.add_row(f"… and {len(reach.columns_unknown) - MOST_ROWS:,} more; --json lists all")
        yield FittedView(table)


def _columns_table(reach: IncidentReach) -> Table:
    out = plain_table("hops", "effect", "column", "certainty", "by", "why", numbers=("hops",))
    for each in reach.columns[:MOST_ROWS]:
        left_out = len(each.via) - _MOST_STEPS
        steps = [*(["…"] if left_out > 0 else []), *each.via[-_MOST_STEPS:]]
        out.add_row(
            str(each.depth),
            Text(each.effect.value, style=_STYLES[each.effect]),
            Text(f"{dataset_text(each.dataset)}#{shortened(each.column)}"),
            Text(each.certainty.value, style=CERTAINTY_STYLES[each.certainty]),
            Text(" → ".join(shortened(step) for step in steps)),
            Text(shortened(each.why, LONGEST)),
        )
    if len(reach.columns) > MOST_ROWS:
        more = f"… and {amount(len(reach.columns) - MOST_ROWS, 'more column')}; --json lists all"
        out.add_row("", "", Text(more, style="dim"))
    return out


def since_parts(reach: IncidentReach) -> Iterator[RenderableType]:
    """First bad and last good run or micro-batch, by dataset or job in which bad data began."""
    if not reach.since:
        return
    yield titled("First bad and last good run")
    table = plain_table("", "", "at", "code", "run or micro-batch")
    for each in reach.since[:MOST_ROWS]:
        _add_since(table, each)
    if len(reach.since) > MOST_ROWS:
        table.add_row(Text(f"… and {len(reach.since) - MOST_ROWS:,} more; --json lists all", style="dim"))
    yield FittedView(table)


def _add_since(table: Table, since: BadSince) -> None:
    certainty = f" ({since.certainty})" if since.first_bad is not None and since.certainty != "EXACT" else ""
    table.add_row(asset_text(since.of), f"first bad{certainty}", *_step_cells(since.first_bad))
    table.add_row("", "last good", *_step_cells(since.last_good))
    if since.why:
        table.add_row("", "", "", "", Text(shortened(since.why, LONGEST)))


def _step_cells(step: WritingStep | None) -> tuple[Text, Text, Text]:
    if step is None:
        return Text("not known"), Text(), Text()
    name = f"run {step.run_id}" if step.run_id is not None else "of no known run"
    if step.batch_id is not None:
        name = f"batch {step.batch_id} of {step.query_name or step.query_id}, {name}"
    job = "" if step.job is None else f" of {step.job.name}"
    code = shortened(step.code_version or "–")
    return Text(moment_text(step.at)), Text(code), Text(shortened(f"{name}{job}", LONGEST))
