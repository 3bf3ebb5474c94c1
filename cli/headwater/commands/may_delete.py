"""`headwater may-delete`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headwater.console import JsonOption, console, plain_table, shortened
from headwater.errors import CheckFailedError
from headwater.graph_command import document
from headwater.graph_reader import answer_of
from headwater.options import TenantOption, TimeoutOption, complete_dataset
from headwater.show.declared import consumers_table
from headwater.show.names import dataset_text, moment_text
from headwater.trace_options import parse_duration
from headwater_analysis.amounts import amount
from headwater_analysis.deletion import HOLDING, DeletionQuestion, MayDelete, Verdict, may_delete
from headwater_analysis.deletion.verdict import HeldMark
from headwater_schemas.events import MarkSpread


def command(
    dataset: Annotated[str, typer.Argument(help="The dataset.", autocompletion=complete_dataset)],
    *,
    version: Annotated[
        str | None, typer.Option("--version", help="Version of the dataset, or the beginning of it.")
    ] = None,
    within: Annotated[
        str, typer.Option(metavar="TIME", help="A job that read the dataset within this time needs it: 12h, 30d.")
    ] = "30d",
    hold: Annotated[
        list[str] | None,
        typer.Option("--hold", help="Mark that forbids deletion, besides critical and legal-hold. Repeatable."),
    ] = None,
    accept_incomplete: Annotated[
        bool, typer.Option("--accept-incomplete", help="Allow deletion although lineage is incomplete.")
    ] = False,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show whether a dataset, or a version of it, may be deleted, and what still needs it. Exit status 5: don't delete.

    headwater may-delete delays --version 7
    """
    span = parse_duration(within)
    since = datetime.now(UTC) - (timedelta() if span is None else span)
    question = DeletionQuestion(dataset, since, version, HOLDING | frozenset(hold or ()), incomplete=accept_incomplete)
    answered = answer_of(
        lambda reader: may_delete(reader, question),
        lambda server: server.get(
            ("may-delete",),
            MayDelete,
            {"dataset": dataset, "version": version, "since": since, "hold": hold, "incomplete": accept_incomplete},
        ),
        tenant=tenant,
        timeout_seconds=timeout,
    )
    found = answered.answer
    console.result(document(found, answered.graph, filtered=answered.filtered), view(found))
    name = shortened(found.dataset.spelling)
    if found.verdict is Verdict.NO:
        raise CheckFailedError(
            f"{name} may not be deleted.", fix="First move the jobs and consumers that need it, or withdraw the mark."
        )
    if found.verdict is Verdict.UNKNOWN:
        raise CheckFailedError(
            f"{name} has no known dependants, but lineage is incomplete.",
            fix="Capture or declare the missing lineage, or give --accept-incomplete.",
        )


_VERDICTS = {
    Verdict.YES: ("may be deleted", "green"),
    Verdict.NO: ("may not be deleted", "bold red"),
    Verdict.UNKNOWN: ("has no known dependants, but lineage is incomplete: don't delete it yet", "yellow"),
}
_MOST = 50


def view(found: MayDelete) -> RenderableType:
    """Build the view of the answer."""
    text, style = _VERDICTS[found.verdict]
    what = dataset_text(found.dataset)
    if found.version is not None:
        what = f"Version {shortened(found.version)} of {what}"
    parts: list[RenderableType] = [Text.assemble((f"{what} ", "bold"), (f"{text}.", style))]
    if found.version is not None:
        newer = "No later version is known." if found.newest else "A later version is known."
        parts.append(Text(newer, style="dim"))
    parts += [Text(f"Not known: {shortened(each)}") for each in found.unknown]
    parts += [Text(f"Note: {shortened(each)}", style="yellow") for each in found.notes]
    if found.marks:
        parts += [Text(), _marks(found)]
    if found.jobs:
        parts += [Text(), _jobs(found)]
    if found.queries:
        parts += [Text(), _queries(found)]
    if found.consumers:
        parts += [Text(), consumers_table(found.consumers)]
    return Group(*parts)


def _marks(found: MayDelete) -> Table:
    table = plain_table("mark", "", "where from", "reason")
    for mark in found.marks[:_MOST]:
        table.add_row(
            Text(shortened(mark.mark), style="bold"),
            Text("forbids it" if mark.holds else ""),
            Text(_origin(mark)),
            Text(shortened(mark.reason or "")),
        )
    return table


def _origin(mark: HeldMark) -> str:
    version = f" version {shortened(mark.version)}" if mark.version is not None else ""
    if mark.spread is MarkSpread.NONE:
        return f"its own{version}"
    return f"{dataset_text(mark.of)}{version}, {mark.spread.value}, {amount(mark.hops, 'hop')}"


def _jobs(found: MayDelete) -> Table:
    table = plain_table("read by", "", "seen")
    for job in found.jobs[:_MOST]:
        state = "needs it" if job.needs else "writes only tests" if job.test else "not recently"
        seen = moment_text(job.last_seen) if job.last_seen is not None else ""
        declared = "declared" if job.declared else ""
        table.add_row(
            Text(shortened(job.job.spelling), style="bold"),
            Text(state),
            Text(", ".join(each for each in (seen, declared) if each)),
        )
    return table


def _queries(found: MayDelete) -> Table:
    table = plain_table("streaming query", "checkpoint", "seen")
    for query in found.queries[:_MOST]:
        table.add_row(
            Text(shortened(query.query_name or query.query_id), style="bold"),
            Text(shortened(query.checkpoint or "not known")),
            Text("" if query.last_seen is None else moment_text(query.last_seen)),
        )
    return table
