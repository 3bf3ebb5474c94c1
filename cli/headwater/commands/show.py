"""`headwater show`: all that is known of one dataset, column, job, consumer or run."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.console import shortened
from headwater.graph_command import Ask, Shown, graph_command
from headwater.show import known as show
from headwater_consumers.analysis.errors import AmbiguousError
from headwater_consumers.analysis.known import Known, KnownKind, known
from headwater_consumers.analysis.reader import Reader


@graph_command()
def command(
    ask: Ask,
    name: Annotated[
        str,
        typer.Argument(
            metavar="DATASET|JOB|RUN|COLUMN|CONSUMER",
            help="A name where only one has it, or namespace/name; dataset#column; a key; how a run's id begins.",
        ),
    ],
    *,
    kind: Annotated[
        KnownKind | None,
        typer.Option("--kind", case_sensitive=False, help="What it is, where several are called so."),
    ] = None,
) -> Shown:
    """Show all that is known of a dataset, a column, a job, a run or a consumer.

    A dataset goes before a job of the same name.

    Of a dataset: owners, other names, storage, columns and when schemas had them, the jobs that write and read it, its
    last runs and versions, quality.

    Of a column: what it is made from and goes into in one step.

    Of a job: what it reads and writes, source, plan, queries, last runs, quality, retention.

    Of a run: how it ended, what it read and wrote.

    Of a declared consumer (dashboard, report, team …): its owners and how they are reached, what it reads, which jobs
    write that and when they last did, and what the latest checks found.
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
