"""`headwater blast`."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from headwater.asking import TenantOption, TimeoutOption, asking, document, parse_hops
from headwater.completion import complete_dataset
from headwater.console import JsonOption, console, shortened
from headwater.show.fitting import Fitted
from headwater.show.trace import blast_summary, blast_table
from headwater.trace_options import HorizonOption, parse_duration, parse_range
from headwater_consumers.analysis.blast import BadBatches, BadRun, Offsets, blast


def command(
    topic: Annotated[
        str | None,
        typer.Argument(help="A topic with bad records.", autocompletion=complete_dataset, show_default=False),
    ] = None,
    partition: Annotated[int | None, typer.Argument(min=0, help="Its partition.", show_default=False)] = None,
    records: Annotated[
        str | None,
        typer.Argument(metavar="OFFSETS", help="120; or 120..130, without the last.", show_default=False),
    ] = None,
    *,
    run: Annotated[str | None, typer.Option("--run", help="A bad run, by its id, in place of a topic.")] = None,
    query: Annotated[
        str | None, typer.Option("--query", help="A streaming query, by name or id, with bad micro-batches.")
    ] = None,
    batches: Annotated[
        str | None, typer.Option("--batches", help="Which: 12; or 12..15, the last included.", show_default=False)
    ] = None,
    topic_id: Annotated[
        str | None, typer.Option("--topic-id", help="The incarnation of the topic that is meant, by Kafka's id.")
    ] = None,
    depth: Annotated[str, typer.Option("--depth", "-d", help="Most hops.")] = "all",
    horizon: HorizonOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Most steps.")] = 1_000,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show everything that bad data came into: datasets with partitions and offsets, files, versions.

    What a later run replaced is listed as gone.

    headwater blast flights.departed 0 100..200

    headwater blast --query enrich --batches 12..15
    """
    start = _start(topic, partition, records, run, query, batches, topic_id)
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        found = blast(reader, start, depth=parse_hops(depth), limit=limit, horizon=parse_duration(horizon))
    console.result(document(found), Fitted(blast_table(found)))
    for note in found.notes:
        console.warning(note)
    console.message(blast_summary(found))


def _start(
    topic: str | None,
    partition: int | None,
    records: str | None,
    run: str | None,
    query: str | None,
    batches: str | None,
    topic_id: str | None,
) -> BadRun | BadBatches | Offsets:
    if sum(way is not None for way in (topic, run, query)) != 1:
        raise typer.BadParameter("Name one thing: TOPIC PARTITION OFFSETS, or --run, or --query with --batches.")
    if run is not None:
        return BadRun(run)
    if query is not None:
        found = re.fullmatch(r"(\d{1,18})(?:\.\.(\d{1,18}))?", batches or "")
        if found is None:
            raise typer.BadParameter(f"--batches {shortened(batches or '')!r}: write 12, or 12..15.")
        return BadBatches(query, int(found[1]), int(found[2] or found[1]))
    if topic is None or partition is None or records is None:
        raise typer.BadParameter("Bad records are named by TOPIC PARTITION OFFSETS.")
    return Offsets(topic, partition, *parse_range(records), topic_id)
