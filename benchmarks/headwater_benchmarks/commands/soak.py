"""`headwater soak`: injects faults of every class around the materializer, and compares the graph after each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group

from headwater.console import JsonOption, console
from headwater.errors import CheckFailedError, InputError
from headwater_benchmarks.commands.bench import OutputOption
from headwater_benchmarks.report import save, table
from headwater_benchmarks.soak.faults import FAULTS
from headwater_benchmarks.soak.schedule import FAULTS_PER_MINUTE, SoakOptions, soak

if TYPE_CHECKING:
    from rich.console import RenderableType

_NAMES = [fault.name for fault in FAULTS]


def command(
    minutes: Annotated[
        float | None,
        typer.Option(min=0.1, help="Minimum duration. Default: until every class of faults has happened once."),
    ] = None,
    least_faults: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="With --minutes: minimum number of faults. The command goes on until then, for twice --minutes at "
            f"most. Default: {FAULTS_PER_MINUTE} a minute.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the events and of the faults with their times.")] = 1,
    rate: Annotated[float, typer.Option(min=1, help="Events per second.")] = 40.0,
    fault: Annotated[
        list[str] | None,
        typer.Option(help="Only this class of faults; repeatable.", autocompletion=lambda: _NAMES, show_default=False),
    ] = None,
    together: Annotated[
        bool,
        typer.Option(
            "--together", help="Short faults, several at the same time if none hides another: takes only minutes."
        ),
    ] = False,
    output: OutputOption = None,
    json_output: JsonOption = False,
) -> None:
    """Break things while events flow, and check after each fault that nothing is lost.

    The command starts its own Kafka, Neo4j and consumers, and ends them. After each fault, it checks that all
    acknowledged records are in the graph, compared node by node, or on the dead-letter topic. Exit status 5: they
    aren't.
    """
    for name in fault or ():
        if name not in _NAMES:
            raise InputError(f"There is no fault {name!r}.", fix=f"One of: {', '.join(_NAMES)}.")
    options = SoakOptions(
        seconds=None if minutes is None else minutes * 60,
        least_faults=_least(minutes, least_faults),
        seed=seed,
        rate=rate,
        only=tuple(fault or ()),
        together=together,
    )
    console.message("Starting Kafka, Neo4j and consumers.")
    document = soak(options, console.message)
    if output is not None:
        save(document, output)
    console.result(document, _view(document))
    if document["failure"]:
        raise CheckFailedError(str(document["failure"]))


def _least(minutes: float | None, wanted: int | None) -> int:
    if minutes is None:
        if wanted is not None:
            raise InputError("Without --minutes every class of faults happens once.", fix="Add --minutes.")
        return 0
    return math.floor(minutes * FAULTS_PER_MINUTE) if wanted is None else wanted


def _view(document: dict[str, Any]) -> RenderableType:
    faults = table("fault", "times", "recovered after, s: median", "longest")
    for row in document["measurements"]:
        seconds = row["recovery_seconds"]
        figures = (f"{seconds['median']:.1f}", f"{seconds['maximum']:.1f}") if seconds else (row["not_here"] or "", "")
        faults.add_row(row["name"], str(row["times"]), *figures)
    memory = document["memory_mb"]
    return Group(
        faults,
        f"\n{document['faults']} faults (at least {document['least_faults']}) in {document['seconds'] / 60:.0f} min; "
        f"{document['acknowledged']:,} records acknowledged, {document['dead_lettered']:,} of them dead letters; "
        f"{document['compared']:,} nodes and relationships as expected at the last comparison.",
        f"Memory of {len(memory['peaks'])} consumers: {memory['peak'] or 0:.0f} MB at most.",
    )
