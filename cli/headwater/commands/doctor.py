"""`headwater doctor`: the production checklist."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from headwater.console import JsonOption, console, plain_table
from headwater.doctor import Examined, FindingSeverity, examine
from headwater.errors import CheckFailedError, InputError
from headwater.settings import connected_settings
from headwater.trace_options import parse_duration
from headwater_producers.spark.common.outbox_folder import default_root

_STYLES = {
    FindingSeverity.FAIL: "bold red",
    FindingSeverity.WARN: "yellow",
    FindingSeverity.UNKNOWN: "dim",
    FindingSeverity.OK: "green",
}


def command(
    *,
    outage_budget: Annotated[
        str, typer.Option(metavar="TIME", help="Longest time that consumers may be away without loss: 12h, 3d.")
    ] = "3d",
    archive: Annotated[
        str | None, typer.Option(help="Archive of the events topic, if there is one: path or URI.")
    ] = None,
    outbox: Annotated[
        Path | None,
        typer.Option(
            "--outbox",
            envvar="HEADWATER_OUTBOX_PATH",
            show_envvar=False,
            help="Folder of outboxes, `outbox_path` of the jobs. Default: the folder of this user.",
        ),
    ] = None,
    no_outbox: Annotated[
        bool, typer.Option("--no-outbox", help="Leave the outbox out: no job runs on this machine.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Go through the production checklist: topics, access, graph, clocks, outbox, dead letters, lag, backup.

    Nothing is written. Checks that can't be made from here are listed as UNKNOWN. Exit status 5: something failed.
    """
    budget = parse_duration(outage_budget)
    if budget is None or budget.total_seconds() <= 0:
        raise InputError(f"--outage-budget {outage_budget!r} is no time.", fix="Write it as 12h or 3d.")
    try:
        folder = None if no_outbox else (outbox or default_root()).expanduser().absolute()
    except RuntimeError as error:
        raise InputError(f"No folder of outboxes: {error}.", fix="Name it with --outbox.") from error
    settings = connected_settings(kafka=True, neo4j=True)
    with console.status("Checking"):
        found = examine(settings, folder=folder, budget_seconds=budget.total_seconds(), archive=archive)
    document = {
        "findings": [
            {
                "check": each.check,
                "severity": each.severity.value,
                "subject": each.subject,
                "message": each.message,
                "fix": each.fix or None,
            }
            for each in found.findings
        ],
        "totals": {severity.value: count for severity, count in found.totals.items()},
    }
    console.result(document, _table(found))
    counts = ", ".join(f"{count} {severity.value}" for severity, count in found.totals.items())
    if found.failed:
        raise CheckFailedError(f"The checklist isn't fulfilled: {counts}.", fix="Each FAIL above states what to do.")
    console.message(f"{counts}.")


def _table(found: Examined) -> Table:
    table = plain_table("", "check", "of", "finding")
    for each in found.findings:
        text = f"{each.message}\n→ {each.fix}" if each.fix and each.severity is not FindingSeverity.OK else each.message
        table.add_row(Text(each.severity.value, _STYLES[each.severity]), each.check, each.subject, text)
    return table
