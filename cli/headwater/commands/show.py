"""`headwater show`: all known facts on one dataset, column, job, consumer or run."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.console import shortened
from headwater.graph_command import Ask, Shown, graph_command
from headwater.show import known as show
from headwater_analysis.errors import AmbiguousError
from headwater_analysis.known import Known, KnownKind, known
from headwater_analysis.reader import Reader


@graph_command()
def command(
    ask: Ask,
    name: Annotated[
        str,
        typer.Argument(
            metavar="DATASET|JOB|RUN|COLUMN|CONSUMER",
            help="A name if it is unique, or namespace/name; dataset#column; a key; a run's id or the beginning of it.",
        ),
    ],
    *,
    kind: Annotated[
        KnownKind | None,
        typer.Option("--kind", case_sensitive=False, help="Kind of asset, if several have this name."),
    ] = None,
) -> Shown:
    """Show all known facts on a dataset, a column, a job, a run or a consumer.

    A dataset goes before a job of the same name.

    Dataset: owners, other names, storage, columns and when schemas had them, the jobs that write and read it, its
    last runs and versions, quality.

    Column: its sources and targets in one step.

    Job: inputs and outputs, source code, plan, queries, last runs, quality, retention.

    Run: its end, inputs and outputs.

    Declared consumer (dashboard, report, team …): owners and their contacts, the datasets that it reads, the jobs that
    write these and when they last did, and results of the latest checks.
    """
    note = ""

    def question(reader: Reader) -> Known:
        nonlocal note
        try:
            return known(reader, name, kind)
        except AmbiguousError as error:
            keys = {of: key for of, _, key in (each.partition(" ") for each in error.candidates)}
            if kind is not None or keys.keys() != {"job", "dataset"}:
                raise
            note = f"A job is called {shortened(name)!r}, too: `headwater show {keys['job']}` shows it."
            return known(reader, keys["dataset"], KnownKind.DATASET)

    found = ask(question)
    return Shown(found, show.view(found), note)
