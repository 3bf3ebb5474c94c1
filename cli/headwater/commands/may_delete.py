"""`headwater may-delete`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from headwater.asking import asking
from headwater.completion import complete_dataset
from headwater.console import JsonOption, console, shortened
from headwater.errors import CheckFailedError
from headwater.graph_command import document
from headwater.options import TenantOption, TimeoutOption
from headwater.show.may_delete import view
from headwater.trace_options import parse_duration
from headwater_analysis.deletion import HOLDING, DeletionQuestion, Verdict, may_delete


def command(
    dataset: Annotated[str, typer.Argument(help="The dataset.", autocompletion=complete_dataset, show_default=False)],
    *,
    version: Annotated[
        str | None,
        typer.Option("--version", help="Version of the dataset, or the beginning of it.", show_default=False),
    ] = None,
    within: Annotated[
        str, typer.Option(metavar="TIME", help="A job that read it within this time needs it: 12h, 30d.")
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
    """Show whether a dataset, or a version of it, may be deleted, and what still needs it. Exit status 5: it may not.

    headwater may-delete delays --version 7
    """
    span = parse_duration(within)
    since = datetime.now(UTC) - (timedelta() if span is None else span)
    question = DeletionQuestion(dataset, since, version, HOLDING | frozenset(hold or ()), incomplete=accept_incomplete)
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        found = may_delete(reader, question)
    console.result(document(found, reader.freshness), view(found))
    name = shortened(found.dataset.spelling)
    if found.verdict is Verdict.NO:
        raise CheckFailedError(f"{name} may not be deleted.", fix="Move what needs it first, or withdraw the mark.")
    if found.verdict is Verdict.UNKNOWN:
        raise CheckFailedError(
            f"{name} has no known dependants, but lineage is incomplete.",
            fix="Capture or declare what is missing, or accept it with --accept-incomplete.",
        )
