"""`headwater trace`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.errors import InputError
from headwater.graph_command import Ask, Shown, graph_command
from headwater.options import complete_dataset, hops, parse_hops
from headwater.show.diagram import DiagramFormat, drawn, trace_diagram
from headwater.show.pages import FittedView
from headwater.show.trace import summary, tree
from headwater.trace_options import (
    HorizonOption,
    ReadTimeOption,
    RecordsArgument,
    arrived,
    complete_path,
    parse_duration,
    parse_records,
    records_parameters,
)
from headwater_analysis.reader import Reader
from headwater_analysis.trace import Archived, Path, Starts, Trace, TraceDirection, VersionOf, trace

if TYPE_CHECKING:
    from headwater.remote.server import Server


class TraceFormat(StrEnum):
    """Output format for people."""

    TREE = "tree"
    MERMAID = "mermaid"
    DOT = "dot"


@graph_command(steps=200)
def command(
    ask: Ask,
    topic: Annotated[str | None, typer.Argument(help="A topic.", autocompletion=complete_dataset)] = None,
    records: RecordsArgument = None,
    *,
    path: Annotated[str | None, typer.Option("--path", help="Path of a file or partition, instead of a topic.")] = None,
    version: Annotated[
        tuple[str, str] | None,
        typer.Option("--version", metavar="DATASET VERSION", help="A table's snapshot or version."),
    ] = None,
    read_time: ReadTimeOption = False,
    back: Annotated[bool, typer.Option("--back", "-b", help="Trace back to the sources, not forward.")] = False,
    depth: Annotated[str, typer.Option("--depth", "-d", help="Maximum number of hops, or `all`.")] = "1",
    topic_id: Annotated[str | None, typer.Option("--topic-id", help="Incarnation of the topic, by Kafka's id.")] = None,
    horizon: HorizonOption = None,
    archive: Annotated[
        str | None,
        typer.Option(
            help="Archive of spark_jobs/lineage/archive.py, from which summarized micro-batches are read one by one."
        ),
    ] = None,
    format_: Annotated[
        TraceFormat,
        typer.Option("--format", "-f", case_sensitive=False, help="Output for people, or the source of a diagram."),
    ] = TraceFormat.TREE,
) -> Shown:
    """Show where a record came from and where it went: which micro-batches and runs read and wrote it.

    headwater trace flights.departed 0 12345

    headwater trace flights.departed 0:120..130 1:88 all:2025-01-31T12:00..2025-01-31T12:05

    headwater trace --back --path file:/lake/delays/part-0.parquet
    """
    start = _start(topic, records, path, version, topic_id, read_time=read_time)
    common: dict[str, Any] = {
        "direction": TraceDirection.BACKWARD if back else TraceDirection.FORWARD,
        "depth": parse_hops(depth),
        "limit": ask.limit,
        "horizon": parse_duration(horizon),
    }

    def question(reader: Reader) -> Trace:
        with _archived(archive, ask.tenant) as find:
            return trace(reader, start, **common, archive=find, arrivals=arrived)

    def at_server(server: Server) -> Trace:
        if archive is not None:
            raise InputError("--archive works only with a database: a server doesn't read archives.")
        given = {**records_parameters(start), **common, "depth": hops(common["depth"])}
        return server.get(("traces",), Trace, given)

    found = ask(question, at_server)
    if format_ is TraceFormat.TREE:
        return Shown(found, FittedView(tree(found)), summary(found))
    drawing = drawn(trace_diagram(found), DiagramFormat(format_.value))
    return Shown(found, summary=summary(found), drawing=drawing)


@contextlib.contextmanager
def _archived(location: str | None, tenant: str | None) -> Iterator[Archived | None]:
    if location is None:
        yield None
        return
    from headwater.archives import archived  # Kafka and Avro, which few traces need

    with archived(location, tenant) as find:
        yield find


def _start(
    topic: str | None,
    records: list[str] | None,
    path: str | None,
    version: tuple[str, str] | None,
    topic_id: str | None,
    *,
    read_time: bool,
) -> Starts:
    given = [topic is not None, path is not None, version is not None]
    if sum(given) != 1:
        raise typer.BadParameter("Name one thing: TOPIC PARTITION OFFSETS, or --path, or --version.")
    if path is not None:
        return Path(complete_path(path))
    if version is not None:
        return VersionOf(*version)
    return parse_records(str(topic), records or (), topic_id, read_time=read_time)
