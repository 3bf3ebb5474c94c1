"""`headwater blast`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group
from rich.text import Text

from headwater.graph_command import Ask, Shown, graph_command
from headwater.options import complete_dataset, hops, parse_hops
from headwater.show.declared import consumers_table
from headwater.show.pages import FittedView
from headwater.show.trace import blast_summary, blast_table
from headwater.trace_options import (
    HorizonOption,
    ReadTimeOption,
    RecordsArgument,
    arrived,
    parse_duration,
    parse_records,
    range_option,
    records_parameters,
)
from headwater_analysis.blast import BadBatches, BadRun, Blast, blast
from headwater_analysis.reader import Reader
from headwater_analysis.trace import Starts
from headwater_schemas.ranges import MOST_OFFSET

if TYPE_CHECKING:
    from headwater.remote.server import Server


@graph_command(steps=1_000)
def command(
    ask: Ask,
    topic: Annotated[
        str | None, typer.Argument(help="A topic with bad records.", autocompletion=complete_dataset)
    ] = None,
    records: RecordsArgument = None,
    *,
    run: Annotated[str | None, typer.Option("--run", help="A bad run: its id, or the beginning of it.")] = None,
    query: Annotated[
        str | None,
        typer.Option(
            "--query", help="A streaming query with bad micro-batches: its name, its id, or the beginning of the id."
        ),
    ] = None,
    batches: Annotated[
        str | None, typer.Option("--batches", help="Batch ids: 12; or 12..15, which is 12 to 14.")
    ] = None,
    topic_id: Annotated[str | None, typer.Option("--topic-id", help="Incarnation of the topic, by Kafka's id.")] = None,
    read_time: ReadTimeOption = False,
    depth: Annotated[str, typer.Option("--depth", "-d", help="Maximum number of hops, or `all`.")] = "all",
    horizon: HorizonOption = None,
) -> Shown:
    """List everything that bad data reached: datasets with partitions and offsets, files, versions.

    Data that a later run replaced is listed as gone.

    headwater blast flights.departed 0:100..200 1:80..90

    headwater blast flights.departed all 2025-01-31T12:00..2025-01-31T12:05

    headwater blast --query enrich --batches 12..15    # 12, 13 and 14
    """
    start = _start(topic, records, run, query, batches, topic_id, read_time=read_time)

    def question(reader: Reader) -> Blast:
        return blast(
            reader,
            start,
            depth=parse_hops(depth),
            limit=ask.limit,
            horizon=parse_duration(horizon),
            arrivals=arrived,
        )

    def at_server(server: Server) -> Blast:
        given = {"depth": hops(parse_hops(depth)), "limit": ask.limit, "horizon": parse_duration(horizon)}
        return server.get(("blast",), Blast, {**_origin(start), **given})

    found = ask(question, at_server)
    view = FittedView(blast_table(found))
    shown = Group(view, Text(), FittedView(consumers_table(found.consumers))) if found.consumers else view
    return Shown(found, shown, blast_summary(found), found.notes)


def _origin(start: BadRun | BadBatches | Starts) -> dict[str, Any]:
    match start:
        case BadRun():
            return {"run": start.run_id}
        case BadBatches():
            return {"query": start.query, "first_batch": start.first, "last_batch": start.last}
        case _:
            return records_parameters(start)


def _start(
    topic: str | None,
    records: list[str] | None,
    run: str | None,
    query: str | None,
    batches: str | None,
    topic_id: str | None,
    *,
    read_time: bool,
) -> BadRun | BadBatches | Starts:
    if sum(choice is not None for choice in (topic, run, query)) != 1:
        raise typer.BadParameter("Name one thing: TOPIC PARTITION OFFSETS, or --run, or --query with --batches.")
    if run is not None:
        return BadRun(run)
    if query is not None:
        if batches is None:
            raise typer.BadParameter("--query goes with --batches: 12, or 12..15 for 12, 13 and 14.")
        found = range_option(batches, hint="--batches")
        return BadBatches(query, found.start, MOST_OFFSET if found.end is None else found.end - 1)
    return parse_records(str(topic), records or (), topic_id, read_time=read_time)
