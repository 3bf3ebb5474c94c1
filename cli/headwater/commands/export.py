"""`headwater export`: OpenLineage documents and data contracts, for other programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from rich.table import Table

from headwater.connection import client_config
from headwater.console import JsonOption, console, plain_table, shortened
from headwater.decoding import event_decoder
from headwater.errors import InputError
from headwater.graph_reader import asking
from headwater.kafka_errors import asking_kafka
from headwater.lean_imports import without
from headwater.line_output import line_sink, write_line
from headwater.options import TenantOption, complete_dataset, parse_hops
from headwater.settings import connected_settings
from headwater.times import TIMES, time_if_given
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import LineageEvent
from headwater_schemas.kafka.client import quiet

with without("numpy", "pandas"):
    from headwater_analysis.declaring.from_graph import DatasetContract, contracts_of
    from headwater_analysis.drawing import Reach, keys_around
    from headwater_consumers.forward.exporting import Exporter, ExportScope
    from headwater_consumers.forward.plans import PlanCache
    from headwater_consumers.kafka.topic_reader import records_to_end

app = typer.Typer(help="Export lineage and contracts for other programs.", no_args_is_help=True)
app.callback()(lambda: None)


@app.command()
def openlineage(
    dataset: Annotated[
        str | None,
        typer.Argument(
            help="Only events on this dataset and its neighbours. Default: all.", autocompletion=complete_dataset
        ),
    ] = None,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file instead of stdout.")] = None,
    depth: Annotated[
        str, typer.Option("--depth", "-d", help="Maximum number of hops from the dataset, or `all`.")
    ] = "1",
    direction: Annotated[Reach, typer.Option(case_sensitive=False, help="Direction from the dataset.")] = Reach.BOTH,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help=f"Only documents of this time or later: {TIMES}.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only documents before this time.")] = None,
    coalesced: Annotated[
        bool, typer.Option("--coalesced", help="One document for micro-batches that were published together.")
    ] = False,
    tenant: TenantOption = None,
    json_output: JsonOption = False,
) -> None:
    """Print events as OpenLineage documents, one a line: all events, or those of a time range or around a dataset.

    The events come from the topic, which is read twice; a dataset's neighbours come from the graph. `headwater emit
    openlineage` makes the same graph from the documents. With --json, documents are written only to the file of -o.
    """
    begin, end, hops = time_if_given(since), time_if_given(until), parse_hops(depth)
    if begin is not None and end is not None and end <= begin:
        raise InputError("--until isn't later than --since.", fix="The span is half-open: --since ≤ time < --until.")
    settings = connected_settings({"analysis.tenant": tenant}, kafka=True, neo4j=dataset is not None)
    around = None
    if dataset is not None:
        with asking(tenant=tenant, silently=True) as reader:
            around = keys_around(reader, dataset, direction=direction, depth=hops)
    names, client = settings.topic.names(), quiet(client_config(settings.kafka))
    plans = PlanCache(settings.forward.plans_max_bytes)
    exporter = Exporter(ExportScope(settings.analysis.tenant, around, begin, end), plans, coalesced=coalesced)
    unreadable = _Unreadable()
    with (
        asking_kafka(settings.kafka, doing=f"reading {names.events}"),
        event_decoder(settings) as decoder,
        line_sink(output, silent=json_output) as sink,
    ):

        def events(doing: str) -> Iterator[LineageEvent]:
            unreadable.count = 0
            with console.progress() as progress:
                task = progress.add_task(doing, total=None)
                for record in records_to_end(client, names.events):
                    progress.advance(task)
                    yield from _decoded(decoder, record.value, unreadable)

        exporter.look_at(events("Looking at events"))
        _write(exporter.documents(events("Writing documents")), sink)
    document = {"file": None if output is None else str(output), **asdict(exporter.totals)}
    document["unreadable"] = unreadable.count
    if unreadable.count:
        console.warning(f"{unreadable.count:,} records aren't events; `headwater dlq list` has the reasons.")
    if unsendable := exporter.totals.unsendable:
        console.warning(f"{unsendable:,} events are left out: their document isn't an OpenLineage event.")
    if output is not None or json_output:
        console.result(document, _table(document))


@app.command()
def contract(
    datasets: Annotated[list[str], typer.Argument(help="Datasets, in any spelling.", autocompletion=complete_dataset)],
    *,
    contract_id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="ID",
            help="Make one contract for all datasets, with this id. Default: one for each, with the dataset's name.",
        ),
    ] = None,
    made: Annotated[
        bool,
        typer.Option("--made", help="Make contracts of the declarations of all sets, even if a contract was declared."),
    ] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file instead of stdout.")] = None,
    tenant: TenantOption = None,
    json_output: JsonOption = False,
) -> None:
    """Print the ODCS data contracts of datasets: the declared contract, unchanged, or else one made from the graph.

    A contract made from the graph has the declarations of all sets on the dataset and its columns, and the observed
    schema. `headwater declare FILE` accepts it.
    """
    with asking(tenant=tenant) as reader:
        found = contracts_of(reader, datasets, contract_id=contract_id, made=made)
    text = "".join(one.document if one is found[-1] else f"{_ended(one.document)}---\n" for one in found)
    if output is not None:
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{output} can't be written: {error.strerror}.") from error
    elif not console.json_mode:
        sys.stdout.write(text)
    if json_output or output is not None:
        console.result({"contracts": [asdict(one) for one in found]}, f"{len(found):,} in {output}")
    for one in found:
        _warn(one)


def _ended(document: str) -> str:
    return document if document.endswith("\n") else f"{document}\n"


def _warn(one: DatasetContract) -> None:
    name = shortened(one.datasets[0]) + (f" and {len(one.datasets) - 1:,} more" if one.datasets[1:] else "")
    if one.other_sets:
        console.warning(
            f"The contract of {name} is the document of set {shortened(one.set or '')}. It leaves out the "
            f"declarations of {', '.join(map(shortened, one.other_sets))}; --made includes all."
        )
    if one.contradictions:
        console.warning(
            f"Sets contradict each other about {name}, in {one.contradictions:,} "
            f"propert{'y' if one.contradictions == 1 else 'ies'}; the contract has one value of each, and "
            "`headwater show` lists all."
        )


class _Unreadable:
    """Count of records that aren't events."""

    count = 0


def _decoded(decoder: Decoder, value: bytes | None, unreadable: _Unreadable) -> Iterator[LineageEvent]:
    try:
        event = decoder.decode(value)
    except DecodeError:
        unreadable.count += 1
        return
    yield event


def _write(documents: Iterator[dict[str, Any]], sink: BinaryIO | None) -> None:
    for document in documents:
        if sink is not None:
            write_line(sink, json.dumps(document, ensure_ascii=False, separators=(",", ":")))


def _table(document: dict[str, Any]) -> Table:
    table = plain_table()
    for name, count in document.items():
        table.add_row(name.replace("_", " "), f"{count:,}" if isinstance(count, int) else count or "–")
    return table
