"""`headwater impact`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from headwater.completion import complete_dataset
from headwater.console import console
from headwater.errors import InputError
from headwater.graph_command import Ask, Shown, graph_command
from headwater.options import parse_hops
from headwater.show.diagram import DiagramFormat, drawn, impact_diagram
from headwater.show.impact import view
from headwater.show.pages import next_page
from headwater.times import time_if_given
from headwater.trace_options import RANGES_HELP, ReadTimeOption, arrived, range_option
from headwater_analysis.errors import QuestionError
from headwater_analysis.impact import (
    ChangeType,
    Extent,
    Impact,
    ImpactChange,
    ImpactPage,
    Policy,
    SchemaChange,
    analyze,
    default_policy_text,
    load_policy,
)
from headwater_analysis.reader import Reader


class ImpactFormat(StrEnum):
    """Output format for people."""

    TREE = "tree"
    MARKDOWN = "markdown"
    MERMAID = "mermaid"
    DOT = "dot"


def _print_policy(value: bool) -> None:
    if value:
        console.raw(default_policy_text())
        raise typer.Exit


@graph_command(page=100)
def command(
    ask: Ask,
    dataset: Annotated[
        str,
        typer.Argument(
            help="Asset that changes: its name if it is unique, or namespace/name, or its key.",
            autocompletion=complete_dataset,
            show_default=False,
        ),
    ],
    *,
    column: Annotated[str | None, typer.Option("--column", "-c", help="Column that changes: a field path.")] = None,
    change: Annotated[
        SchemaChange | None,
        typer.Option(case_sensitive=False, help="Change of the column.", show_default=False),
    ] = None,
    type_: Annotated[
        ChangeType | None,
        typer.Option(
            "--type",
            case_sensitive=False,
            help="Kind of change; with --change it follows from that.",
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="The new name of a renamed column, the new type of a retyped one.")
    ] = None,
    nullable: Annotated[
        bool | None,
        typer.Option("--nullable/--not-null", help="New nullability, with --change nullability.", show_default=False),
    ] = None,
    partition: Annotated[
        str | None, typer.Option(help="Only data of this partition: 3 of a topic, day=2025-01-31 of a table.")
    ] = None,
    offsets: Annotated[
        str | None,
        typer.Option(
            help=f"Of these offsets of a topic's partition alone: 120, 120..130, 120.., 0:120..130. {RANGES_HELP}"
        ),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Only data of a topic that arrived at this time or later.")] = None,
    until: Annotated[str | None, typer.Option(help="Only data of a topic that arrived before this time.")] = None,
    read_time: ReadTimeOption = False,
    policy: Annotated[Path | None, typer.Option(help="Policy file (TOML) instead of Headwater's own.")] = None,
    default_policy: Annotated[
        bool,
        typer.Option(
            "--default-policy",
            callback=_print_policy,
            is_eager=True,
            help="Print Headwater's own policy.",
        ),
    ] = False,
    depth: Annotated[str, typer.Option("--depth", "-d", help="Maximum number of hops, or `all`.")] = "all",
    why: Annotated[
        bool, typer.Option("--why", help="Show the path to each asset, why it is affected, and what to do.")
    ] = False,
    format_: Annotated[
        ImpactFormat,
        typer.Option("--format", "-f", case_sensitive=False, help="A tree, Markdown for a ticket, or a drawing."),
    ] = ImpactFormat.TREE,
) -> Shown:
    """Show what a change of a dataset or column does to everything derived from it, and how severely.

    headwater impact flights.departed --column value.dep_delay --change removed
    """
    asked = ImpactChange(
        dataset,
        column,
        type_,
        change,
        new_name=to if change is SchemaChange.RENAMED else None,
        new_type=to if change is not SchemaChange.RENAMED else None,
        nullable=nullable,
        extent=_extent(partition, offsets, since, until, read_time=read_time),
    )
    page = ImpactPage(parse_hops(depth), ask.limit, ask.cursor)
    with _options_named():
        judged_by: Policy | None = None if policy is None else load_policy(policy)

    def question(reader: Reader) -> Impact:
        with _options_named():
            return analyze(reader, asked, judged_by, page, arrived)

    answer = ask(question)
    more = next_page(answer.next_cursor)
    if format_ is ImpactFormat.TREE:
        return Shown(answer, view(answer, why=why), more)
    if format_ is ImpactFormat.MARKDOWN:
        return Shown(answer, summary=more, drawing=answer.summary)
    drawing = drawn(impact_diagram(answer), DiagramFormat(format_.value))
    return Shown(answer, summary=more, drawing=drawing)


_EXTENT = "--partition, --offsets, --since, --until"
_OPTIONS = {"schema": "--change", "new_type": "--to", "new_name": "--to", "extent": _EXTENT, "offset": "--offsets"}


@contextlib.contextmanager
def _options_named() -> Iterator[None]:
    """A question that makes no sense is reported in words of options."""
    try:
        yield
    except QuestionError as error:
        raise InputError(_in_words_of_options(error)) from error


def _in_words_of_options(error: QuestionError) -> str:
    option = _OPTIONS.get(error.field, f"--{error.field.replace('_', '-')}")
    return str(error) if error.field == "policy" else f"{option}: {error}"


def _extent(
    partition: str | None, offsets: str | None, since: str | None, until: str | None, *, read_time: bool
) -> Extent | None:
    if partition is None and offsets is None and since is None and until is None:
        return None
    span = (time_if_given(since), time_if_given(until))
    if offsets is None:
        return Extent(partition, None, None, *span, read_time=read_time)
    found = range_option(offsets, of_partition=partition is None, hint="--offsets")
    named = partition if found.partition is None else str(found.partition)
    return Extent(named, found.start, found.end, *span)
